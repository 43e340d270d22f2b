// The vectors that a service's next model is trained on, and when it is due: early and often while there is little history, then by growth.
import type { TimedRows } from "./service-model.ts";

/** Rows before the first model of a service without stored history. */
const FIRST_ROWS = 256;
/** A new model is due when history has grown by this factor ... */
const GROWTH = 2;

/** The newest vectors of a service, at most `rowsMax`; kept in one array that grows by doubling. */
export class TrainingHistory {
  readonly #width: number;
  readonly #rowsMax: number;
  #values: Float64Array;
  #times: Float64Array;
  #rows = 0;
  #seen = 0;
  #dueAt = FIRST_ROWS;

  constructor(options: { readonly width: number; readonly rowsMax: number }) {
    this.#width = options.width;
    this.#rowsMax = options.rowsMax;
    this.#values = new Float64Array(FIRST_ROWS * options.width);
    this.#times = new Float64Array(FIRST_ROWS);
  }

  /** Rows held. */
  get length(): number {
    return this.#rows;
  }

  /** Whether a model is due. */
  get isDue(): boolean {
    return this.#seen >= this.#dueAt;
  }

  /** Takes a vector of that time; the oldest half is given up when there are rowsMax. */
  add(timeMs: number, vector: Float64Array): void {
    if (this.#rows === this.#rowsMax) this.#giveUpHalf();
    const start = this.#rows * this.#width;
    if (start === this.#values.length) this.#grow();
    this.#values.set(vector, start);
    this.#times[this.#rows] = timeMs;
    this.#rows++;
    this.#seen++;
  }

  /** The vectors held, oldest first: a view, valid until the next add(). The next model is due when history has doubled. */
  take(): TimedRows {
    this.#dueAt = Math.max(FIRST_ROWS, GROWTH * this.#seen);
    return { times: this.#times.subarray(0, this.#rows), values: this.#values.subarray(0, this.#rows * this.#width), width: this.#width };
  }

  #grow(): void {
    const grown = new Float64Array(Math.min(2 * this.#values.length, this.#rowsMax * this.#width));
    grown.set(this.#values);
    this.#values = grown;
    const times = new Float64Array(grown.length / this.#width);
    times.set(this.#times);
    this.#times = times;
  }

  #giveUpHalf(): void {
    const kept = Math.ceil(this.#rowsMax / 2);
    this.#values.copyWithin(0, (this.#rows - kept) * this.#width, this.#rows * this.#width);
    this.#times.copyWithin(0, this.#rows - kept, this.#rows);
    this.#rows = kept;
  }
}
