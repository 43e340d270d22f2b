// Rows of one partition that wait, in order, with changes of kind between them. 20 bytes a row; the buffer doubles.
import { ROW_OFFSET, ROW_REF, ROW_VALUE } from "../../../core/layout/row-frame.ts";

const FIRST_ITEMS = 64;
/** Ref (of a change of kind: slot or number), offset, value (flags) in two words, which frame it came with. */
const ITEM_LENGTH = 5;
const KIND_OFFSET = 0xffffffff;

/** A queue; the fields of its first item are those of the object. */
export class ParkedRows {
  #slots = new Uint32Array(FIRST_ITEMS * ITEM_LENGTH);
  #frames: Array<{ readonly baseMs: number; readonly arrivalMs: number }> = [];
  /** Items that have ever come in and gone out, and how many of the latter are no longer in the buffer. */
  pushed = 0;
  taken = 0;
  #dropped = 0;

  get isEmpty(): boolean {
    return this.taken === this.pushed;
  }

  /** The value is two words, because a number would lose the bits of a stale marker. */
  push(ref: number, offset: number, valueLow: number, valueHigh: number, baseMs: number, arrivalMs: number): void {
    const last = this.#frames.at(-1);
    if (last === undefined || last.baseMs !== baseMs || last.arrivalMs !== arrivalMs) this.#frames.push({ baseMs, arrivalMs });
    this.#push(ref, offset, valueLow, valueHigh);
  }

  pushKind(target: number, flags: number): void {
    if (this.#frames.length === 0) this.#frames.push({ baseMs: 0, arrivalMs: 0 });
    this.#push(target, KIND_OFFSET, flags, 0);
  }

  #push(first: number, offset: number, low: number, high: number): void {
    if ((this.pushed - this.#dropped) * ITEM_LENGTH === this.#slots.length) this.#evict();
    const at = (this.pushed - this.#dropped) * ITEM_LENGTH;
    const slots = this.#slots;
    slots[at] = first;
    slots[at + 1] = offset;
    slots[at + 2] = low;
    slots[at + 3] = high;
    slots[at + 4] = this.#frames.length - 1;
    this.pushed++;
  }

  /** Leaves out what has been taken, or doubles the buffer when that is less than half. */
  #evict(): void {
    const from = (this.taken - this.#dropped) * ITEM_LENGTH;
    const retained = this.#slots.subarray(from);
    const slots = from >= this.#slots.length / 2 ? this.#slots : new Uint32Array(2 * this.#slots.length);
    const firstFrame = this.isEmpty ? this.#frames.length - 1 : this.#word(ITEM_LENGTH - 1);
    slots.set(retained);
    for (let at = ITEM_LENGTH - 1; at < retained.length; at += ITEM_LENGTH) slots[at] = (slots[at] as number) - firstFrame;
    this.#frames.splice(0, firstFrame);
    this.#slots = slots;
    this.#dropped = this.taken;
  }

  #word(index: number): number {
    return this.#slots[(this.taken - this.#dropped) * ITEM_LENGTH + index] as number;
  }

  get isKind(): boolean {
    return this.#word(1) === KIND_OFFSET;
  }

  /** The row's ref, or whose kind it is. */
  get target(): number {
    return this.#word(0);
  }

  /** Flags of a change of kind. */
  get flags(): number {
    return this.#word(2);
  }

  get baseMs(): number {
    return this.#frames[this.#word(4)]?.baseMs ?? 0;
  }

  get arrivalMs(): number {
    return this.#frames[this.#word(4)]?.arrivalMs ?? 0;
  }

  /** Writes the row as it stands in frames. */
  copyTo(slots: Uint32Array, at: number): void {
    slots[at + (ROW_REF >>> 2)] = this.#word(0);
    slots[at + (ROW_OFFSET >>> 2)] = this.#word(1);
    slots[at + (ROW_VALUE >>> 2)] = this.#word(2);
    slots[at + (ROW_VALUE >>> 2) + 1] = this.#word(3);
  }

  /** Lets the memory of an empty queue go. */
  release(): void {
    this.#slots = new Uint32Array(FIRST_ITEMS * ITEM_LENGTH);
    this.#frames = [];
    this.#dropped = this.taken;
  }

  skip(): void {
    this.taken++;
  }
}
