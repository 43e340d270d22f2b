// Sums that keep what rounding loses (Kahan's, as Neumaier improved it), and means that do not overflow: util/kahansum and funcAvgOverTime of Prometheus.

/** A compensated sum. */
export class KahanSum {
  sum = 0;
  compensation = 0;

  constructor(first = 0) {
    this.sum = first;
  }

  add(value: number): void {
    const total = this.sum + value;
    if (total === Infinity || total === -Infinity) this.compensation = 0;
    else if (Math.abs(this.sum) >= Math.abs(value)) this.compensation += this.sum - total + value;
    else this.compensation += value - total + this.sum;
    this.sum = total;
  }

  /** Multiplies what has been added so far. */
  scale(factor: number): void {
    this.sum *= factor;
    this.compensation *= factor;
  }

  /** The sum with what rounding would have lost. */
  get total(): number {
    return this.sum + this.compensation;
  }
}

/** A mean: sum by count as long as the sum is finite, from then on a mean that is moved by each value. */
export class Mean {
  readonly #state: KahanSum;
  #count = 1;
  #isIncremental = false;

  constructor(first: number) {
    this.#state = new KahanSum(first);
  }

  add(value: number): void {
    this.#count++;
    const state = this.#state;
    if (!this.#isIncremental) {
      const { sum, compensation } = state;
      state.add(value);
      if (Math.abs(state.sum) !== Infinity) return;
      state.sum = sum / (this.#count - 1);
      state.compensation = compensation / (this.#count - 1);
      this.#isIncremental = true;
    }
    state.scale((this.#count - 1) / this.#count);
    state.add(value / this.#count);
  }

  /** The mean of what has been added. */
  get mean(): number {
    const { sum, compensation, total } = this.#state;
    return this.#isIncremental ? total : sum / this.#count + compensation / this.#count;
  }
}
