// Fire drills: those that somebody asks for, and those of DRILL_INTERVAL_HOURS for the tenant `default`. The last of each tenant is stored; a failure degrades the
// status until one passes.

import { type KeyValueStore, StoreError, type StoreOperation } from "../../adapters/storage/key-value-store.ts";
import { type Outcome, refused } from "../../api/refusal.ts";
import { DRILL_FIRST_MS } from "../../core/config/drill-limits.ts";
import { background, task } from "../../core/faults/guard.ts";
import { DEFAULT_TENANT } from "../../domain/access/access-policy.ts";
import { KeyBuilder } from "../../domain/codec/key.ts";
import { DRILL_STAGES, type Drill, type DrillStage, drillEnvironment, failedStage } from "../../domain/notification/drill.ts";
import type { ChangeOrigin } from "../access/audit-log.ts";
import type { ChangePlan, Changes } from "../access/changes.ts";
import type { AnomalyBooks } from "../anomalies/anomalies-context.ts";
import type { OwnBodies } from "../engines/own-bodies.ts";
import type { CoordinatorCounters } from "../state/coordinator-counters.ts";
import { JobBook, type JobKind, RunningJobs } from "../state/jobs.ts";
import { list, nullable, number, object, oneOf, StoredForm, text } from "../state/stored-json.ts";
import type { StateWith } from "../state/stored-state.ts";
import { newId } from "../state/tables.ts";
import { DrillRun, type DrillRunDependencies } from "./drill-run.ts";

const DRILL = new StoredForm<Drill>("drills", {
  id: text,
  tenant: text,
  by: text,
  startedAtMs: number,
  endedAtMs: number,
  stages: list(
    object<DrillStage>({ stage: oneOf(DRILL_STAGES), state: oneOf(["passed", "failed", "not_reached"]), afterMs: nullable(number) }),
  ),
  reason: nullable(text),
  environment: text,
  anomalyId: nullable(text),
  alertId: nullable(text),
});

/** The last drill of each tenant, under the tenant's name. */
const DRILLS: JobKind<Drill> = {
  table: "drills",
  form: DRILL,
  key: ({ tenant }) => new KeyBuilder().text(tenant).finish(),
  createdMs: ({ startedAtMs }) => startedAtMs,
  endedMs: ({ endedAtMs }) => endedAtMs,
  endedMax: 1,
};

export interface DrillsOptions {
  /** DRILL_INTERVAL_HOURS in ms; none runs by itself where it is 0 or not given. */
  readonly intervalMs: number | undefined;
}

export interface DrillsDependencies extends Omit<DrillRunDependencies, "ingest"> {
  readonly state: StateWith<AnomalyBooks>;
  readonly counters: CoordinatorCounters;
  readonly changes: Changes;
  readonly own: Pick<OwnBodies, "send">;
  randomBytes(count: number): Uint8Array;
}

/** Drill state in the status. */
export interface DrillFacts {
  readonly state: "disabled" | "ok" | "failed";
  readonly last: Drill | undefined;
}

export class Drills {
  readonly #intervalMs: number;
  readonly #dependencies: DrillsDependencies;
  readonly #control: KeyValueStore;
  readonly #drills = new JobBook(DRILLS);
  readonly #running = new RunningJobs<true>();
  readonly #world: DrillRunDependencies;
  #dueMs = Number.POSITIVE_INFINITY;

  constructor({ intervalMs }: DrillsOptions, dependencies: DrillsDependencies) {
    this.#intervalMs = intervalMs === undefined || intervalMs === 0 ? Number.POSITIVE_INFINITY : intervalMs;
    this.#dependencies = dependencies;
    this.#control = dependencies.state.control;
    this.#world = { ...dependencies, ingest: (tenant, body) => dependencies.own.send({ tenant, holds: "records", body }) };
  }

  /** Reads the last drill of each tenant. */
  start(): void {
    this.#drills.load(this.#control);
    if (!Number.isFinite(this.#intervalMs)) return;
    const { nowMs, monotonicMs } = this.#dependencies;
    const sinceMs = nowMs() - (this.#last(DEFAULT_TENANT)?.startedAtMs ?? 0);
    this.#dueMs = monotonicMs() + Math.max(DRILL_FIRST_MS, this.#intervalMs - Math.max(0, sinceMs));
  }

  facts(tenant: string): DrillFacts {
    const last = this.#last(tenant);
    if (last === undefined) return { state: "disabled", last };
    return { state: failedStage(last) === undefined ? "ok" : "failed", last };
  }

  /** Starts the drill that is due; returns the monotonic time of the next. */
  step(): number {
    if (this.#dependencies.monotonicMs() < this.#dueMs) return this.#dueMs;
    this.#dueMs += this.#intervalMs;
    const principal = { tenant: DEFAULT_TENANT, subject: "drill-interval", role: "system" } as const;
    const started = this.run({ principal, requestId: "", address: null }).catch((error: unknown) => {
      if (!(error instanceof StoreError)) throw error; // the status reports the store
    });
    background(task("a drill"), started);
    return this.#dueMs;
  }

  /** Resolves with the drill once it has ended; `channels` are told of it instead of those of the rules. Rejects with StoreError where the store does not take it. */
  async run(request: ChangeOrigin, channels?: readonly string[]): Promise<Outcome<Drill>> {
    const { changes, randomBytes, routes } = this.#dependencies;
    const { tenant, subject: by } = request.principal;
    if (this.#running.of(tenant)) return refused("conflict", "a drill of this tenant is under way; wait for its end");
    return this.#running.begin(tenant, true, async () => {
      const id = newId({ randomBytes });
      await changes.make(request, noted("drill.start", id, [], null));
      const release = routes.chooseFor({ tenant, environment: drillEnvironment(id) }, channels);
      const drill = await new DrillRun({ id, tenant, by }, this.#world).run().finally(release);
      const after = { failed_stage: failedStage(drill) ?? null, reason: drill.reason };
      return changes.make(request, () => ({
        ...noted("drill.end", id, [this.#drills.stored(drill)], after)(),
        apply: () => this.#ended(drill),
        outcome: { ok: true, value: drill },
      }));
    });
  }

  #last(tenant: string): Drill | undefined {
    return this.#drills.of(tenant)[0];
  }

  #ended(drill: Drill): void {
    this.#drills.put(drill);
    this.#dependencies.counters.add(failedStage(drill) === undefined ? "drillsPassed" : "drillsFailed", 1);
  }
}

function noted(action: string, object: string, operations: readonly StoreOperation[], after: unknown) {
  return (() => ({
    ok: true,
    note: { action, object, before: null, after },
    operations,
    outcome: { ok: true, value: null },
  })) satisfies ChangePlan<null>;
}
