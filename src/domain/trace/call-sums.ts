// Sums of calls between numbered services, by minute: what a shard adds up call by call, without a text. About 30 ns a call.
import type { CallSum } from "./call-edges.ts";

/** Services are numbered below this. */
const CALL_SERVICES_MAX = 2 ** 20;
/** Minutes of the last five days have keys of their own. */
const MINUTES = 2 ** 13;

/** Sums of one partition of traces. */
export class CallSums {
  readonly #edgesMax: number;
  readonly #names: readonly string[];
  readonly #sums = new Map<number, CallSum>();

  /** `names` gives the text of a service's number. */
  constructor(edgesMax: number, names: readonly string[]) {
    this.#edgesMax = edgesMax;
    this.#names = names;
  }

  /** Adds a call; false when there are too many edges. */
  add(caller: number, callee: number, minute: number, isError: boolean, microseconds: number): boolean {
    const key = ((minute % MINUTES) * CALL_SERVICES_MAX + caller) * CALL_SERVICES_MAX + callee;
    let sum = this.#sums.get(key);
    if (sum === undefined) {
      if (this.#sums.size >= this.#edgesMax) return false;
      sum = { caller: this.#names[caller]!, callee: this.#names[callee]!, minute, calls: 0, errors: 0, microseconds: 0 };
      this.#sums.set(key, sum);
    }
    sum.calls++;
    if (isError) sum.errors++;
    sum.microseconds += microseconds;
    return true;
  }

  values(): Iterable<CallSum> {
    return this.#sums.values();
  }
}
