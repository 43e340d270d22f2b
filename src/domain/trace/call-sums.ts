// Sums of calls between numbered services, by minute: what a shard adds up call by call, without a text. About 30 ns a call.
import { type CallSum, NO_CALLS } from "./call-edges.ts";

/** Services are numbered below this. */
const CALL_SERVICES_MAX = 2 ** 20;
/** Minutes of the last five days have keys of their own. */
const MINUTES = 2 ** 13;
/** Below so many services a key of one minute's sums is a small integer: no object, and hashed in place. */
const SMALL_SERVICES_MAX = 2 ** 15;

/** Sums of one partition of traces. */
export class CallSums {
  readonly #takes: (caller: number) => boolean;
  readonly #names: readonly string[];
  readonly #sums: CallSum[] = [];
  readonly #byKey = new Map<number, CallSum>();
  /** Sums of one minute, the last that was looked for, of small numbers. */
  readonly #small = new Map<number, CallSum>();
  #minute = -1;

  /** `takes` says whether there is room for an edge of that caller, and counts it; `names` gives the text of a service's number. */
  constructor(takes: (caller: number) => boolean, names: readonly string[]) {
    this.#takes = takes;
    this.#names = names;
  }

  /** Adds a call, with its gap where that is known (negative where it is not); false when there are too many edges. */
  add(caller: number, callee: number, minute: number, isError: boolean, microseconds: number, gapMicroseconds: number): boolean {
    const sum = this.#sum(caller, callee, minute);
    if (sum === undefined) return false;
    sum.calls++;
    if (isError) sum.errors++;
    sum.microseconds += microseconds;
    if (gapMicroseconds >= 0) {
      sum.gapCalls++;
      sum.gapMicroseconds += gapMicroseconds;
    }
    return true;
  }

  #sum(caller: number, callee: number, minute: number): CallSum | undefined {
    if (caller >= SMALL_SERVICES_MAX || callee >= SMALL_SERVICES_MAX) return this.#sumByKey(caller, callee, minute);
    if (minute !== this.#minute) {
      this.#minute = minute;
      this.#small.clear();
    }
    const key = caller * SMALL_SERVICES_MAX + callee;
    const known = this.#small.get(key);
    if (known !== undefined) return known;
    const sum = this.#sumByKey(caller, callee, minute);
    if (sum !== undefined) this.#small.set(key, sum);
    return sum;
  }

  /** The sum, made at first; undefined where there are too many. */
  #sumByKey(caller: number, callee: number, minute: number): CallSum | undefined {
    const key = ((minute % MINUTES) * CALL_SERVICES_MAX + caller) * CALL_SERVICES_MAX + callee;
    const known = this.#byKey.get(key);
    if (known !== undefined) return known;
    if (!this.#takes(caller)) return undefined;
    const sum = { caller: this.#names[caller]!, callee: this.#names[callee]!, minute, ...NO_CALLS };
    this.#byKey.set(key, sum);
    this.#sums.push(sum);
    return sum;
  }

  values(): Iterable<CallSum> {
    return this.#sums;
  }
}
