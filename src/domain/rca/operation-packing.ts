// Self times of operations between threads, and as evidence: names of services as texts, numbers in one array, one slice of engines after another. An engine knows
// the times of the traces that it joins, and the names of the operations of its own services; hashes bring both together.
//
//   hash, then {count, microseconds, logs, squares} of each window before the onset and of the one since
import { MINUTE_MS } from "../../core/time/durations.ts";
import { operationHash } from "../trace/operation-hash.ts";
import type { OperationMinutes, OperationSums } from "../trace/operation-times.ts";
import { OTHER_OPERATION } from "../trace/service-aggregate.ts";
import { addSums, TIME_SUM_NUMBERS, timeCount, timeMoments } from "../trace/time-sums.ts";
import type { OperationEvidence, OperationWindow } from "./evidence.ts";

/** Windows of a minute before the onset that operations are compared with. */
const OPERATION_WINDOWS = 10;
const NUMBERS = 1 + TIME_SUM_NUMBERS * (OPERATION_WINDOWS + 1);

/** The minutes of an incident whose times are compared. */
export function operationMinutes({ onsetMs, untilMs }: { readonly onsetMs: number; readonly untilMs: number }): OperationMinutes {
  return { onset: Math.floor(onsetMs / MINUTE_MS), until: Math.floor(untilMs / MINUTE_MS), past: OPERATION_WINDOWS };
}

/** Operations of one service by name. */
export interface NamedOperations {
  readonly serviceId: string;
  readonly names: readonly string[];
}

/** Adds an operation to what is packed; its sums are of OPERATION_WINDOWS windows and one more. */
export function packOperation({ hash, sums }: Pick<OperationSums, "hash" | "sums">, numbers: number[]): void {
  numbers.push(hash);
  for (let i = 0; i < sums.length; i++) numbers.push(sums[i]!);
}

/** Operations of one environment, from what all engines have told. */
export class OperationTotals {
  readonly #sums = new Map<string, Map<number, Float64Array>>();
  readonly #names = new Map<string, Map<number, string>>();

  /** Adds a slice; throws where services and numbers do not fit. */
  add(services: readonly string[], numbers: Float64Array, named: readonly NamedOperations[]): void {
    if (numbers.length !== services.length * NUMBERS) throw new Error("packed operations do not fit their services");
    services.forEach((serviceId, i) => {
      const at = i * NUMBERS;
      addTo(entryOf(this.#sums, serviceId), numbers[at]!, numbers.subarray(at + 1, at + NUMBERS));
    });
    for (const { serviceId, names } of named) {
      const byHash = entryOf(this.#names, serviceId);
      for (const name of names) byHash.set(operationHash(name), name);
    }
  }

  /** Services that something is known of. */
  get services(): ReadonlySet<string> {
    return new Set(this.#sums.keys());
  }

  /** As evidence, by service and name; operations without a name are one. */
  evidence(): OperationEvidence[] {
    return [...this.#sums].flatMap(([serviceId, operations]) => {
      const byName = new Map<string, Float64Array>();
      for (const [hash, sums] of operations) {
        addTo(byName, this.#names.get(serviceId)?.get(hash) ?? OTHER_OPERATION, sums);
      }
      return [...byName].sort(([a], [b]) => (a < b ? -1 : 1)).map(([operation, sums]) => operationEvidence(serviceId, operation, sums));
    });
  }
}

/** An operation's sums, of windows before and of the one since the onset, as evidence. */
export function operationEvidence(serviceId: string, operation: string, sums: Float64Array): OperationEvidence {
  const windows = sums.length / TIME_SUM_NUMBERS;
  const past = Array.from({ length: windows - 1 }, (_, i) => windowOf(sums, i));
  return { serviceId, operation, isEntry: false, past, now: windowOf(sums, windows - 1) };
}

function windowOf(sums: Float64Array, window: number): OperationWindow {
  const at = window * TIME_SUM_NUMBERS;
  return { spans: timeCount(sums, at), errors: 0, self: timeMoments(sums, at) };
}

function addTo<K>(totals: Map<K, Float64Array>, key: K, sums: Float64Array): void {
  const known = totals.get(key);
  if (known === undefined) totals.set(key, sums.slice());
  else addSums(known, sums);
}

function entryOf<K, V>(maps: Map<string, Map<K, V>>, key: string): Map<K, V> {
  let of = maps.get(key);
  if (of === undefined) {
    of = new Map();
    maps.set(key, of);
  }
  return of;
}
