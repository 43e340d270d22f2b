// The part of an evidence walk behind its services: what operations took by themselves, of the traces that this engine joins. About 2 us an operation.
import type { EvidenceQuery } from "../../../core/protocol/evidence.ts";
import { operationMinutes, packOperation } from "../../../domain/rca/operation-packing.ts";
import type { OperationSums, OperationTimes } from "../../../domain/trace/operation-times.ts";

/** Findings of a slice. */
export interface FoundOperations {
  readonly operations: string[];
  readonly operationNumbers: number[];
}

export class OperationSlices {
  readonly #times: Pick<OperationTimes, "of">;
  #rest: Iterator<OperationSums> | undefined;

  constructor(times: Pick<OperationTimes, "of">) {
    this.#times = times;
  }

  begin(query: EvidenceQuery): void {
    const { tenant, environment, wants } = query;
    this.#rest = wants === "departures" ? this.#times.of(tenant, environment, operationMinutes(query)) : undefined;
  }

  get isDone(): boolean {
    return this.#rest === undefined;
  }

  /** Takes so many operations; those of services that were not asked for are passed over. */
  take(count: number, { services }: EvidenceQuery, found: FoundOperations): void {
    for (let left = count; left > 0; left--) {
      const step = this.#rest?.next();
      if (step === undefined || step.done === true) {
        this.#rest = undefined;
        return;
      }
      const { name, hash, sums } = step.value;
      if (services !== null && !services.includes(name.serviceId)) continue;
      found.operations.push(name.serviceId);
      packOperation({ hash, sums }, found.operationNumbers);
    }
  }
}
