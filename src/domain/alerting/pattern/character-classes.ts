// Which class a character is in, in one or two look-ups: pages of 64 characters, of which most are of one class and are shared.

const PAGE_BITS = 6;
const PAGE = 1 << PAGE_BITS;
const PAGED = 0x10000;
/** Characters that are looked up at once. */
export const LATIN1 = 256;

/** Classes are numbered from 0; each begins at one of `starts` (ascending, the first is 0) and is given by `classes` at the same place. */
export class CharacterClasses {
  /** Where the page of a character begins. */
  readonly #pages = new Uint16Array(PAGED >> PAGE_BITS);
  readonly #paged: Uint16Array;
  /** By character. */
  readonly latin1: Uint16Array;
  readonly #starts: Int32Array;
  readonly #classes: Uint16Array;

  constructor(starts: Int32Array, classes: Uint16Array) {
    this.#starts = starts;
    this.#classes = classes;
    const paged: number[] = [];
    /** By the class of a page that has one alone, by the text of another's. */
    const known = new Map<number | string, number>();
    for (let page = 0, next = 0; page < this.#pages.length; page++) {
      const first = page << PAGE_BITS;
      while (next < starts.length && (starts[next] as number) <= first) next++;
      const isEven = next === starts.length || (starts[next] as number) >= first + PAGE;
      const content = isEven ? undefined : this.#content(first, next);
      const name = content?.join() ?? (classes[next - 1] as number);
      const index = known.get(name) ?? paged.length;
      if (index === paged.length) paged.push(...(content ?? new Array<number>(PAGE).fill(classes[next - 1] as number)));
      known.set(name, index);
      this.#pages[page] = index;
    }
    this.#paged = Uint16Array.from(paged);
    this.latin1 = Uint16Array.from({ length: LATIN1 }, (_, character) => this.#onPage(character));
  }

  get bytes(): number {
    const { byteLength } = this.#pages;
    return byteLength + this.#paged.byteLength + this.latin1.byteLength + this.#starts.byteLength + this.#classes.byteLength;
  }

  of(character: number): number {
    if (character < LATIN1) return this.latin1[character] as number;
    return character < PAGED ? this.#onPage(character) : this.#search(character);
  }

  /** Returns the classes of a page's characters; the class behind the first one's begins at `next`. */
  #content(first: number, next: number): number[] {
    let behind = next;
    return Array.from({ length: PAGE }, (_, i) => {
      while (behind < this.#starts.length && (this.#starts[behind] as number) <= first + i) behind++;
      return this.#classes[behind - 1] as number;
    });
  }

  #onPage(character: number): number {
    return this.#paged[(this.#pages[character >> PAGE_BITS] as number) + (character & (PAGE - 1))] as number;
  }

  /** Characters beyond 16 bits are seldom: by halving. */
  #search(character: number): number {
    let low = 0;
    let high = this.#starts.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((this.#starts[middle] as number) <= character) low = middle;
      else high = middle;
    }
    return this.#classes[low] as number;
  }
}
