// Mapped services by number, and the pillar values that each counts for. All in typed arrays: at 100,000 services objects and texts were four fifths of the
// coordinator's heap, and it is their number that a full collection takes its time for (ADR 37, 54).
import { FNV_PRIME } from "../trace/operation-hash.ts";

const CAPACITY_FIRST = 1_024;
const KEY_UNITS_FIRST = 32 * CAPACITY_FIRST;
/** Slots of the hash table for each member that fits: probes stay short. */
const SLOTS_PER_MEMBER = 2;
const NONE = -1;
/** 32-bit FNV-1a, over code units (Fowler, Noll, Vo). */
const FNV_BASIS = 0x811c9dc5;

/** Members are numbered from 0 in the order in which they are entered; none goes. */
export class MemberTable {
  #size = 0;
  /** Keys one after another, as UTF-16 code units: what is no valid Unicode stays what it is. Member i has [keyEnds[i - 1], keyEnds[i]). */
  #units = new Uint16Array(KEY_UNITS_FIRST);
  #keyEnds = new Uint32Array(CAPACITY_FIRST);
  #hashes = new Uint32Array(CAPACITY_FIRST);
  /** Open addressing; a member's number plus one, 0 where there is none. */
  #slots = new Uint32Array(SLOTS_PER_MEMBER * CAPACITY_FIRST);
  /** Values of a member: a list of cells, which holds numbers of values; cells that are free are a list as well. */
  #firstCells = new Int32Array(CAPACITY_FIRST).fill(NONE);
  #cellValues = new Int32Array(CAPACITY_FIRST);
  #cellNext = new Int32Array(CAPACITY_FIRST);
  #cellCount = 0;
  #freeCell = NONE;

  get size(): number {
    return this.#size;
  }

  /** The member of a key; undefined where there is none. */
  find(key: string): number | undefined {
    const member = (this.#slots[this.#slotOf(key, hashOf(key))] as number) - 1;
    return member < 0 ? undefined : member;
  }

  /** The member of a key, a new one without values where there is none. */
  enter(key: string): number {
    const known = this.find(key);
    if (known !== undefined) return known;
    const member = this.#size;
    if (member === this.#keyEnds.length) this.#grow();
    const from = this.#keyStart(member);
    if (from + key.length > this.#units.length) this.#units = enlarged(this.#units, from + key.length);
    for (let i = 0; i < key.length; i++) this.#units[from + i] = key.charCodeAt(i);
    this.#keyEnds[member] = from + key.length;
    const hash = hashOf(key);
    this.#hashes[member] = hash;
    this.#slots[this.#slotOf(key, hash)] = member + 1;
    this.#size++;
    return member;
  }

  key(member: number): string {
    return String.fromCharCode(...this.#units.subarray(this.#keyStart(member), this.#keyEnds[member]));
  }

  /** Counts a member for a value, by its number; once. */
  addValue(member: number, value: number): void {
    const cell = this.#takeCell();
    this.#cellValues[cell] = value;
    this.#cellNext[cell] = this.#firstCells[member] as number;
    this.#firstCells[member] = cell;
  }

  /** Calls `visit` with each value that a member counts for. */
  eachValue(member: number, visit: (value: number) => void): void {
    for (let cell = this.#firstCells[member] as number; cell !== NONE; cell = this.#cellNext[cell] as number)
      visit(this.#cellValues[cell] as number);
  }

  /** A member counts for nothing any more. */
  clearValues(member: number): void {
    for (let cell = this.#firstCells[member] as number; cell !== NONE; ) {
      const next = this.#cellNext[cell] as number;
      this.#cellNext[cell] = this.#freeCell;
      this.#freeCell = cell;
      cell = next;
    }
    this.#firstCells[member] = NONE;
  }

  #takeCell(): number {
    const cell = this.#freeCell;
    if (cell !== NONE) {
      this.#freeCell = this.#cellNext[cell] as number;
      return cell;
    }
    if (this.#cellCount === this.#cellValues.length) {
      this.#cellValues = enlarged(this.#cellValues, this.#cellCount + 1);
      this.#cellNext = enlarged(this.#cellNext, this.#cellCount + 1);
    }
    return this.#cellCount++;
  }

  #keyStart(member: number): number {
    return member === 0 ? 0 : (this.#keyEnds[member - 1] as number);
  }

  /** The slot of a key, or the free one in which it belongs. */
  #slotOf(key: string, hash: number): number {
    const mask = this.#slots.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const member = (this.#slots[slot] as number) - 1;
      if (member < 0 || (this.#hashes[member] === hash && this.#isKey(member, key))) return slot;
    }
  }

  #isKey(member: number, key: string): boolean {
    const from = this.#keyStart(member);
    if ((this.#keyEnds[member] as number) - from !== key.length) return false;
    for (let i = 0; i < key.length; i++) if (this.#units[from + i] !== key.charCodeAt(i)) return false;
    return true;
  }

  #grow(): void {
    const least = this.#size + 1;
    this.#keyEnds = enlarged(this.#keyEnds, least);
    this.#hashes = enlarged(this.#hashes, least);
    this.#firstCells = enlarged(this.#firstCells, least).fill(NONE, this.#size);
    this.#slots = new Uint32Array(2 * this.#slots.length);
    const mask = this.#slots.length - 1;
    for (let member = 0; member < this.#size; member++) {
      let slot = (this.#hashes[member] as number) & mask;
      while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
      this.#slots[slot] = member + 1;
    }
  }
}

function hashOf(key: string): number {
  let hash = FNV_BASIS;
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), FNV_PRIME);
  return hash >>> 0;
}

/** A copy with twice the room, or more where that is less than `least`. */
function enlarged<T extends Uint16Array | Uint32Array | Int32Array>(array: T, least: number): T {
  const Copy = array.constructor as new (length: number) => T;
  const copy = new Copy(Math.max(2 * array.length, least));
  copy.set(array);
  return copy;
}
