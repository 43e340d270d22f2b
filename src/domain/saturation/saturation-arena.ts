// The states of an engine's bounded series: numbers in pages, without an object for each. A place is found by the key of its series; one that no pass has
// asked for since the one before is given back.
import type { ShareLedger } from "../../core/fairness/share-ledger.ts";
import { HISTORY_RING_VALUES } from "./saturation-history.ts";
import { clearPosition, SATURATION_HEAD_VALUES, type SaturationPosition } from "./saturation-series.ts";

/** 256 places are 0.4 MiB. */
const PAGE_PLACES = 256;
/** Behind the head of the series. */
const FED_AT = SATURATION_HEAD_VALUES;
const FIRST_AT = FED_AT + 1;
const GENERATION_AT = FED_AT + 2;
const READY_AT = FED_AT + 3;
const HEAD_VALUES = FED_AT + 4;

interface Page {
  readonly heads: Float64Array;
  readonly rings: Float32Array;
}

/** Bounded by the ledger of its places. */
export class SaturationArena {
  readonly #shares: ShareLedger;
  readonly #pages: Page[] = [];
  readonly #places = new Map<string, { readonly index: number; readonly tenant: string }>();
  readonly #free: number[] = [];
  #made = 0;

  constructor(shares: ShareLedger) {
    this.#shares = shares;
  }

  /** Places in use. */
  get size(): number {
    return this.#places.size;
  }

  /** The place of a tenant's series, a new one where it has none; undefined where there is no room. */
  allocate(key: string, tenant: string): number | undefined {
    const known = this.find(key);
    if (known !== undefined) return known;
    if (!this.#shares.take(tenant)) return undefined;
    const index = this.#free.pop() ?? this.#make();
    this.#places.set(key, { index, tenant });
    this.clear(index);
    return index;
  }

  find(key: string): number | undefined {
    return this.#places.get(key)?.index;
  }

  /** Forgets what a place holds; it then waits for what is stored. */
  clear(index: number): void {
    clearPosition(this.open(index));
    const { heads, at } = this.#head(index);
    heads.fill(0, at + FED_AT, at + HEAD_VALUES);
  }

  /** The numbers of a series, in place. */
  open(index: number): SaturationPosition {
    const page = this.#pages[Math.floor(index / PAGE_PLACES)] as Page;
    const at = index % PAGE_PLACES;
    return {
      head: page.heads.subarray(at * HEAD_VALUES, at * HEAD_VALUES + SATURATION_HEAD_VALUES),
      rings: page.rings.subarray(at * HISTORY_RING_VALUES, (at + 1) * HISTORY_RING_VALUES),
    };
  }

  /** Time of the newest value that was taken. */
  fedMs(index: number): number {
    return this.#get(index, FED_AT);
  }

  setFedMs(index: number, ms: number): void {
    this.#set(index, FED_AT, ms);
  }

  /** Time of the oldest value of its streams, as it was known when the history was begun. */
  firstMs(index: number): number {
    return this.#get(index, FIRST_AT);
  }

  setFirstMs(index: number, ms: number): void {
    this.#set(index, FIRST_AT, ms);
  }

  /** Whether what is stored has been read, or need not be. */
  isReady(index: number): boolean {
    return this.#get(index, READY_AT) === 1;
  }

  setReady(index: number): void {
    this.#set(index, READY_AT, 1);
  }

  markGeneration(index: number, generation: number): void {
    this.#set(index, GENERATION_AT, generation);
  }

  /** Gives back the places that this pass has not marked. */
  sweep(generation: number): void {
    for (const [key, { index, tenant }] of this.#places) {
      if (this.#get(index, GENERATION_AT) === generation) continue;
      this.#places.delete(key);
      this.#shares.give(tenant);
      this.#free.push(index);
    }
  }

  #make(): number {
    if (this.#made % PAGE_PLACES === 0) {
      this.#pages.push({
        heads: new Float64Array(PAGE_PLACES * HEAD_VALUES),
        rings: new Float32Array(PAGE_PLACES * HISTORY_RING_VALUES),
      });
    }
    return this.#made++;
  }

  #head(index: number): { readonly heads: Float64Array; readonly at: number } {
    const { heads } = this.#pages[Math.floor(index / PAGE_PLACES)] as Page;
    return { heads, at: (index % PAGE_PLACES) * HEAD_VALUES };
  }

  #get(index: number, field: number): number {
    const { heads, at } = this.#head(index);
    return heads[at + field] as number;
  }

  #set(index: number, field: number, value: number): void {
    const { heads, at } = this.#head(index);
    heads[at + field] = value;
  }
}
