// Runs that begin by themselves: stored in the transaction that stores the anomaly which they are for, once for an anomaly. It may be thrown away.
import type { StoreOperation } from "../../adapters/storage/key-value-store.ts";
import { hash128 } from "../../core/hashing/hash128.ts";
import { DRILL_SERVICE } from "../../core/protocol/own-telemetry.ts";
import { type Anomaly, declarerOf } from "../../domain/anomaly/anomaly.ts";
import { type Execution, newExecution } from "../../domain/runbooks/execution.ts";
import type { Runbook } from "../../domain/runbooks/runbook.ts";
import type { AnomalyFollowing, AnomalyStep } from "../anomalies/anomaly-follower.ts";
import { factsOf, subjectOfAnomaly } from "./execution-facts.ts";
import { executionOperations, readExecution } from "./execution-store.ts";
import { executionId } from "./runbook-row.ts";
import type { RunbookState } from "./runbook-state.ts";

export interface AutoRunsSources {
  readonly state: RunbookState;
  nowMs(): number;
  /** Why a runbook may not run now, beyond so many that are about to; null where it may. */
  problem(runbook: Runbook, more: number): string | null;
  committed(draft: AutoRuns): void;
}

export class AutoRuns implements AnomalyFollowing {
  readonly #sources: AutoRunsSources;
  readonly #runs = new Map<string, Execution>();
  refused = 0;

  constructor(sources: AutoRunsSources) {
    this.#sources = sources;
  }

  get runs(): Iterable<Execution> {
    return this.#runs.values();
  }

  operations(steps: readonly AnomalyStep[]): StoreOperation[] {
    for (const step of steps) if (isChange(step)) this.begin(step.after);
    return [...this.#runs.values()].flatMap(executionOperations);
  }

  apply(): void {
    this.#sources.committed(this);
  }

  /** Begins the runs that an anomaly is to have and has not had. */
  begin(anomaly: Anomaly): void {
    const { state, nowMs, problem } = this.#sources;
    const { tenant, id: anomalyId, serviceId } = anomaly;
    if (serviceId === DRILL_SERVICE || anomaly.resolvedAtMs !== null || anomaly.paging?.outcome === "suppressed") return;
    const own = state.configured.runbooks.of(tenant).filter(({ auto }) => auto);
    if (own.length === 0) return;
    const subject = subjectOfAnomaly(state, anomaly);
    for (const runbook of state.configured.runbooks.matching(tenant, subject)) {
      if (!runbook.auto) continue;
      const id = executionId(anomaly.detectedAtMs, hash128(JSON.stringify(["auto", tenant, runbook.id, anomalyId])));
      if (this.#runs.has(id) || readExecution(state.control, tenant, id) !== undefined) continue;
      const begun = [...this.#runs.values()].filter((run) => run.tenant === tenant && run.runbook.id === runbook.id).length;
      if (problem(runbook, begun) !== null) {
        this.refused++;
        continue;
      }
      const facts = factsOf(state, { tenant, runbook, executionId: id, startedBy: null, anomaly });
      const declarer = declarerOf(anomaly);
      const starter = declarer === null ? null : state.configured.keys.personOf(tenant, declarer);
      const run = newExecution({ id, tenant, runbook, anomalyId, facts, startedBy: null, starter, dryRun: false, nowMs: nowMs() });
      this.#runs.set(id, run);
    }
  }
}

/** It is declared, opens again, or is more than it was. */
function isChange({ before, after }: AnomalyStep): boolean {
  if (before === undefined) return true;
  return (before.resolvedAtMs !== null && after.resolvedAtMs === null) || before.z !== after.z;
}
