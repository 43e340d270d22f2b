// Which scope of OpenTelemetry was the first to send a metric of a service: words of the whole process, so that engines to which two scopes come at once agree.
// A place has 16 bytes: {key i64, hash of the scope i32, whether the log or the store has it i32}. It is found by its key from its own place on, and stays for good.
import {
  PROCESS_SCOPE_PLACES,
  PROCESS_SCOPES,
  PROCESS_SCOPES_WITHIN_SHARES,
  PROCESS_TENANT_SCOPES,
  SCOPE_PLACES,
} from "../../core/layout/memory-map.ts";
import { ProcessPlaces } from "./process-places.ts";

const ENTRY_SLOTS = 4;
/** Index of a place's word. */
const SCOPE = 2;
const STORED = 3;
/** For a metric that is not remembered. */
export const NO_SCOPE_INDEX = -1;

/** The metrics of the process. */
export class FirstScopes {
  readonly places: ProcessPlaces;
  readonly #slots: Int32Array;
  readonly #keys: BigInt64Array;

  constructor(buffer: SharedArrayBuffer) {
    const [taken, within, tenants] = [PROCESS_SCOPES, PROCESS_SCOPES_WITHIN_SHARES, PROCESS_TENANT_SCOPES];
    this.places = new ProcessPlaces(new Int32Array(buffer), { taken, within, tenants });
    this.#slots = new Int32Array(buffer, PROCESS_SCOPE_PLACES);
    this.#keys = new BigInt64Array(buffer, PROCESS_SCOPE_PLACES);
  }

  /** The place of a metric by its key, which is not 0; NO_SCOPE_PLACE where it has none. */
  find(key: bigint): number {
    const at = this.#probe(key);
    return at !== NO_SCOPE_INDEX && Atomics.load(this.#keys, at >> 1) === key ? at : NO_SCOPE_INDEX;
  }

  /** Gives a metric a place; false for one that has got it from elsewhere meanwhile, or where there is none left. */
  add(key: bigint): boolean {
    for (let at = this.#probe(key); at !== NO_SCOPE_INDEX; at = this.#probe(key)) {
      const before = Atomics.compareExchange(this.#keys, at >> 1, 0n, key);
      if (before === 0n) return true;
      if (before === key) return false;
    }
    return false;
  }

  /** Hash of the first scope of the metric at a place: the one that is given, not 0, where none was before. */
  claim(index: number, scope: number): number {
    return Atomics.compareExchange(this.#slots, index + SCOPE, 0, scope) || scope;
  }

  isStored(index: number): boolean {
    return Atomics.load(this.#slots, index + STORED) !== 0;
  }

  markStored(index: number): void {
    Atomics.store(this.#slots, index + STORED, 1);
  }

  /** The place that has the key, or the free one that it would get. */
  #probe(key: bigint): number {
    const first = Number(BigInt.asUintN(32, key >> 16n)) % SCOPE_PLACES;
    for (let probe = 0; probe < SCOPE_PLACES; probe++) {
      const at = ((first + probe) % SCOPE_PLACES) * ENTRY_SLOTS;
      const stored = Atomics.load(this.#keys, at >> 1);
      if (stored === key || stored === 0n) return at;
    }
    return NO_SCOPE_INDEX;
  }
}
