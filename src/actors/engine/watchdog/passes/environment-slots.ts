// The environment of each slot's stream, remembered since reading it means reading the identity. A slot that has another stream now is known by the first word
// of its identity hash.
import { SR_HASH } from "../../../../core/layout/stream-record.ts";
import type { StreamRecords } from "../../../../domain/kernel/stream-records.ts";

/** Environments of one engine; further ones count as one. */
const ENVIRONMENTS_MAX = 65_535;

export class EnvironmentSlots {
  readonly #records: StreamRecords;
  readonly #read: (slot: number) => string;
  readonly #codes = new Map<string, number>();
  readonly #names: string[] = [];
  #tags = new Uint32Array(1024);
  /** One more than the place in #names; 0 = not read. */
  #places = new Uint16Array(1024);

  /** `read` reads the environment out of the slot's identity. */
  constructor(records: StreamRecords, read: (slot: number) => string) {
    this.#records = records;
    this.#read = read;
  }

  /** Code of the slot's environment; `looked` is true where its identity had to be read. */
  codeOf(slot: number): { readonly code: number; readonly looked: boolean } {
    if (slot >= this.#tags.length) this.#grow(slot);
    const tag = this.#records.view.getUint32(this.#records.address(slot) + SR_HASH, true);
    const looked = this.#tags[slot] !== tag || this.#places[slot] === 0;
    if (looked) {
      this.#tags[slot] = tag;
      this.#places[slot] = this.#place(this.#read(slot)) + 1;
    }
    return { code: (this.#places[slot] as number) - 1, looked };
  }

  nameOf(code: number): string {
    return this.#names[code] as string;
  }

  #place(name: string): number {
    const known = this.#codes.get(name);
    if (known !== undefined) return known;
    if (this.#names.length >= ENVIRONMENTS_MAX - 1) return this.#names.length - 1;
    this.#codes.set(name, this.#names.length);
    return this.#names.push(name) - 1;
  }

  #grow(slot: number): void {
    const size = 2 ** Math.ceil(Math.log2(slot + 1));
    const [tags, places] = [new Uint32Array(size), new Uint16Array(size)];
    tags.set(this.#tags);
    places.set(this.#places);
    [this.#tags, this.#places] = [tags, places];
  }
}
