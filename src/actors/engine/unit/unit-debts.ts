// News of episodes that a unit of work owes, by the answers that wait for them: who was answered and asks finds what the body has brought.

/** News that one body owes. */
export class Debt {
  /** Of the units before that hold of the body. */
  readonly #before: Debt | undefined;
  left = 0;

  constructor(before: Debt | undefined) {
    this.#before = before?.isPaid === false ? before : undefined;
  }

  get isPaid(): boolean {
    return this.left === 0 && this.#before?.isPaid !== false;
  }
}

/** Those of one unit, whose rows lie in the order of its answers. */
export class UnitDebts {
  /** By answer, whose it is. */
  readonly admissions: number[] = [];
  /** By answer, where the rows of its body end, in bytes. */
  readonly #ends: number[] = [];
  /** By answer; behind the last is what goes on. Made for what is owed: mostly there is nothing. */
  #debts: Map<number, Debt> | undefined;
  /** News that the unit has brought. */
  events = 0;
  readonly #beforeLast: Debt | undefined;

  /** `before` is what a body owes that goes on in this unit. */
  constructor(before: Debt | undefined) {
    this.#beforeLast = before;
  }

  /** Notes the next answer; returns its index. */
  add(admission: number, rowsEnd: number, before: Debt | undefined): number {
    const index = this.#ends.length;
    this.admissions.push(admission);
    this.#ends.push(rowsEnd);
    if (before?.isPaid === false) this.#make(index, before);
    return index;
  }

  /** What the answer at an index waits for; behind the last index that of the body that goes on. */
  of(index = this.#ends.length): Debt | undefined {
    return this.#debts?.get(index);
  }

  /** Owes one more for the row at so many bytes from the first. */
  owe(row: number): Debt {
    const found = this.#ends.findIndex((end) => row < end);
    const index = found < 0 ? this.#ends.length : found;
    const debt = this.of(index) ?? this.#make(index, found < 0 ? this.#beforeLast : undefined);
    debt.left++;
    return debt;
  }

  #make(index: number, before: Debt | undefined): Debt {
    const debt = new Debt(before);
    this.#debts ??= new Map();
    this.#debts.set(index, debt);
    return debt;
  }

  get isPaid(): boolean {
    if (this.#debts !== undefined) for (const debt of this.#debts.values()) if (!debt.isPaid) return false;
    return true;
  }
}
