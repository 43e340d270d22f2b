/**
 * Runs of runbooks that are not over: each is moved on as far as it goes, and what only the server changes is stored with the step. Requests leave by the outbox
 * (step-deliveries.ts). All of it happens between transactions.
 */
import type { KeyValueStore } from "../../adapters/storage/key-value-store.ts";
import {
  RUNBOOK_CHECK_MS_MAX,
  RUNBOOK_DRY_RUNS_PER_HOUR_MAX,
  RUNBOOK_HOUR_MS,
  RUNBOOK_RESULT_CHARACTERS_MAX,
  RUNBOOK_RUNS_OPEN_PER_TENANT_MAX,
  RUNBOOK_RUNS_PER_HOUR_MAX,
  RUNBOOK_RUNS_PER_STEP,
} from "../../core/config/runbook-limits.ts";
import { background, task } from "../../core/faults/guard.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import { advanced, begun, currentStep, done, type Execution, failed, isOpen, recovered } from "../../domain/runbooks/execution.ts";
import { anomalyProblem } from "../../domain/runbooks/rendered-step.ts";
import type { Runbook } from "../../domain/runbooks/runbook.ts";
import { type FaultPause, FaultPauses } from "../../domain/webhooks/fault-pauses.ts";
import type { RcaReport } from "../analysis/report-row.ts";
import type { AnomalyFollower } from "../anomalies/anomaly-follower.ts";
import type { Outbox } from "../deliveries/outbox.ts";
import { type StoreAccess, StoreWork } from "../deliveries/store-work.ts";
import type { ChannelDeliveries } from "../notification/channel-deliveries.ts";
import type { CoordinatorCounters } from "../state/coordinator-counters.ts";
import { JobBook, type JobKind } from "../state/jobs.ts";
import { scan, scanTenants } from "../state/scan.ts";
import { AutoRuns } from "./auto-runs.ts";
import { executionOperations, readExecution } from "./execution-store.ts";
import { LocalSteps } from "./local-steps.ts";
import { EXECUTION, executionBound, executionKey, executionsEnd, parseExecutionKey } from "./runbook-row.ts";
import type { RunbookState } from "./runbook-state.ts";
import { guarded, StepDeliveries } from "./step-deliveries.ts";

export interface RunbookRunnerDependencies extends StoreAccess {
  readonly state: RunbookState;
  readonly counters: CoordinatorCounters;
  readonly outbox: Outbox;
  readonly channels: Pick<ChannelDeliveries, "draft" | "routes">;
  nowMs(): number;
  /** Has the notifier started where it does not run. */
  wantNotifier(): void;
}

/** Changes of one step of the runner. */
interface Moves {
  readonly changed: Map<string, Execution>;
  readonly local: LocalSteps;
  hasMore: boolean;
}

const RUNBOOKS = task("the runs of runbooks");

/** Runs that are not over; those that are stay in the store alone. */
const RUNS: JobKind<Execution> = {
  table: "runbook_executions",
  form: EXECUTION,
  key: ({ tenant, id }) => executionKey(tenant, id),
  createdMs: ({ createdAtMs }) => createdAtMs,
  endedMs: ({ endedAtMs }) => endedAtMs,
  endedMax: 0,
};

const COUNTED = {
  succeeded: "runbookRunsSucceeded",
  failed: "runbookRunsFailed",
  rejected: "runbookRunsRejected",
  expired: "runbookRunsExpired",
  cancelled: "runbookRunsCancelled",
  interrupted: "runbookRunsInterrupted",
} as const;

export class RunbookRunner implements AnomalyFollower {
  readonly #dependencies: RunbookRunnerDependencies;
  readonly #control: KeyValueStore;
  readonly #work: StoreWork;
  readonly #steps: StepDeliveries;
  readonly #jobs: JobBook<Execution>;
  /** When runs of a runbook began in the last hour, wet and dry. */
  readonly #begun = new Map<string, number[]>();
  readonly #pauses = new FaultPauses();
  #revised: RcaReport[] = [];
  #isRecovering = true;
  #sleepsUntilMs = Number.POSITIVE_INFINITY;

  constructor(dependencies: RunbookRunnerDependencies) {
    this.#dependencies = dependencies;
    this.#control = dependencies.state.control;
    this.#jobs = new JobBook(RUNS, dependencies.state.shares.ledger("runbook_runs"));
    this.#work = new StoreWork("the runs of runbooks", () => this.#step(), dependencies);
    this.#steps = new StepDeliveries(dependencies.outbox, { ...dependencies, changed: (execution) => this.adopt(execution) });
  }

  /** Reads what is not over. */
  start(): void {
    for (const { key } of scan(this.#control, "runbook_open")) {
      const { tenant, id } = parseExecutionKey(key);
      const execution = readExecution(this.#control, tenant, id);
      if (execution !== undefined) this.#jobs.put(execution);
    }
    const sinceMs = this.#dependencies.nowMs() - RUNBOOK_HOUR_MS;
    for (const tenant of scanTenants(this.#control, "runbook_executions")) {
      for (const { value } of scan(this.#control, "runbook_executions", executionBound(tenant, sinceMs), executionsEnd(tenant))) {
        this.#noteBegin(EXECUTION.decode(value));
      }
    }
    if (this.#jobs.open.size > 0) this.#work.want();
  }

  follows(tenant: string): boolean {
    return this.#dependencies.state.configured.runbooks.has(tenant);
  }

  draft(): AutoRuns {
    const { state, nowMs, counters } = this.#dependencies;
    return new AutoRuns({
      state,
      nowMs,
      problem: (runbook, more) => this.problem(runbook, false, more),
      committed: (draft) => {
        for (const run of draft.runs) this.begin(run);
        counters.add("runbookRunsRefused", draft.refused);
      },
    });
  }

  /** A revision of a report is stored: runbooks that ask for its category may match by now. */
  reportRevised(report: RcaReport): void {
    if (!report.analysis.enough || !this.follows(report.tenant)) return;
    this.#revised.push(report);
    this.#work.want();
  }

  /** Why a runbook may not run now, beyond `more` that are about to; null where it may. */
  problem(runbook: Runbook, dryRun: boolean, more = 0): string | null {
    const { tenant, id } = runbook;
    const dry = dryRun || runbook.dryRun;
    const pause = this.pause(runbook);
    if (!dry && pause !== null) {
      return `it pauses until ${formatRfc3339(pause.untilMs)}: its last ${pause.failures} runs have failed (${pause.error}); save it to end that`;
    }
    const most = dry ? RUNBOOK_DRY_RUNS_PER_HOUR_MAX : RUNBOOK_RUNS_PER_HOUR_MAX;
    if (this.#recent(beginKey(tenant, id, dry)).length + more >= most) {
      return `a runbook has at most ${most} ${dry ? "dry runs" : "runs"} in an hour; try again later`;
    }
    const { shares } = this.#jobs;
    const own = shares.used(tenant) + more;
    if (!dry && (own >= RUNBOOK_RUNS_OPEN_PER_TENANT_MAX || shares.available(tenant) <= more)) {
      return `${own} runs are not over, and there is room for no more: approve, reject or cancel some first`;
    }
    return null;
  }

  /** Why a runbook does not run now; null where it does. */
  pause({ tenant, id }: Pick<Runbook, "tenant" | "id">): FaultPause | null {
    return this.#pauses.pause(pauseKey(tenant, id), this.#dependencies.nowMs());
  }

  /** A runbook was saved, or is gone: what it has failed by before is forgotten. */
  saved({ tenant, id }: Pick<Runbook, "tenant" | "id">): void {
    this.#pauses.forget(pauseKey(tenant, id));
    this.#count();
  }

  /** A run that is not over; undefined where it is, or is none. */
  open(tenant: string, id: string): Execution | undefined {
    return this.#jobs.find(tenant, id);
  }

  /** Takes over a run that is stored and has changed. */
  adopt(execution: Execution): void {
    const hasEnded = this.#jobs.put(execution);
    if (isOpen(execution)) this.#work.want();
    if (hasEnded) {
      this.#steps.forget(execution);
      this.#judge(execution);
      this.#dependencies.counters.add(COUNTED[execution.state as keyof typeof COUNTED], 1);
    }
    this.#count();
  }

  #judge({ tenant, runbook, state, reason }: Execution): void {
    if (state === "failed") this.#pauses.failed(pauseKey(tenant, runbook.id), reason ?? "", this.#dependencies.nowMs());
    if (state === "succeeded") this.#pauses.forget(pauseKey(tenant, runbook.id));
  }

  /** Takes over a run that is stored and new. */
  begin(execution: Execution): void {
    this.#noteBegin(execution);
    this.adopt(execution);
  }

  /** No step begins any more. */
  stop(): void {
    this.#work.stop();
  }

  #noteBegin({ tenant, runbook, dryRun, createdAtMs }: Execution): void {
    const key = beginKey(tenant, runbook.id, dryRun);
    this.#begun.set(key, [...this.#recent(key), createdAtMs]);
    if (this.#begun.size <= RUNBOOK_BEGINS_RETAINED) return;
    for (const name of [...this.#begun.keys()]) if (this.#recent(name).length === 0) this.#begun.delete(name);
  }

  #recent(key: string): number[] {
    const sinceMs = this.#dependencies.nowMs() - RUNBOOK_HOUR_MS;
    return (this.#begun.get(key) ?? []).filter((atMs) => atMs > sinceMs);
  }

  /** One commit of what moves on; true where there is more. */
  async #step(): Promise<boolean> {
    const { state, nowMs, channels } = this.#dependencies;
    const revised = this.#revised;
    this.#revised = [];
    const local = new LocalSteps({
      state,
      nowMs: nowMs(),
      notices: () => channels.draft(),
      isAnyChannelConfigured: channels.routes.isAnyConfigured,
    });
    const moves: Moves = { changed: new Map(), local, hasMore: false };
    const begun = this.#causesKnown(revised);
    let sleepMs = Number.POSITIVE_INFINITY;
    for (const execution of this.#jobs.open.values()) {
      const atMs = guarded(
        () => this.#move(execution, moves),
        (why) => this.#giveUp(execution, why, moves),
      );
      sleepMs = Math.min(sleepMs, atMs);
    }
    const operations = [...[...moves.changed.values()].flatMap(executionOperations), ...begun.operations([]), ...local.operations()];
    try {
      if (operations.length > 0) await this.#control.commit(operations);
    } catch (error) {
      this.#revised.unshift(...revised);
      throw error;
    }
    this.#isRecovering = moves.hasMore && this.#isRecovering;
    begun.apply();
    local.apply();
    for (const execution of moves.changed.values()) this.adopt(execution);
    this.#sleepUntil(sleepMs);
    return moves.hasMore;
  }

  #causesKnown(reports: readonly RcaReport[]): AutoRuns {
    const draft = this.draft();
    const { anomalies } = this.#dependencies.state;
    for (const { tenant, anomalies: ids } of reports) {
      for (const id of ids) {
        const anomaly = anomalies.find(tenant, id);
        if (anomaly !== undefined) draft.begin(anomaly);
      }
    }
    return draft;
  }

  /** Moves a run on as far as it goes; when it is to be looked at again. */
  #move(known: Execution, moves: Moves): number {
    const nowMs = this.#dependencies.nowMs();
    if (this.#steps.isUnderWay(known)) return Number.POSITIVE_INFINITY;
    if (moves.changed.size >= RUNBOOK_RUNS_PER_STEP) {
      moves.hasMore = true;
      return nowMs;
    }
    let { execution, next } = advanced(this.#isRecovering ? recovered(known, nowMs) : known, nowMs);
    while (next.kind === "do" && next.step.type !== "wait") {
      const { index, step } = next;
      const problem = anomalyProblem(step, execution);
      if (step.type === "http" && problem === null) {
        this.#steps.want(execution);
        break;
      }
      const { ok, result } =
        problem === null && step.type !== "http" ? moves.local.do(execution, index, step) : { ok: false, result: problem ?? "" };
      const text = result.slice(0, RUNBOOK_RESULT_CHARACTERS_MAX);
      ({ execution, next } = advanced((ok ? done : failed)(begun(execution, index, nowMs), index, text, nowMs), nowMs));
    }
    if (execution !== known) moves.changed.set(known.id, execution);
    return next.kind === "waits" && isOpen(execution) ? (next.untilMs ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY;
  }

  /** A run that cannot be moved on ends, and no other with it. */
  #giveUp(execution: Execution, why: string, { changed }: Moves): number {
    changed.set(execution.id, failed(execution, Math.max(0, currentStep(execution)), why, this.#dependencies.nowMs()));
    return Number.POSITIVE_INFINITY;
  }

  /** Looks again when the first of those that wait has waited long enough. */
  #sleepUntil(untilMs: number): void {
    const { nowMs, sleep } = this.#dependencies;
    if (this.#jobs.open.size === 0 || untilMs >= this.#sleepsUntilMs) return;
    const atMs = Math.min(untilMs, nowMs() + RUNBOOK_CHECK_MS_MAX);
    this.#sleepsUntilMs = atMs;
    const woken = sleep(Math.max(0, atMs - nowMs()) + 1).then(() => {
      if (this.#sleepsUntilMs === atMs) this.#sleepsUntilMs = Number.POSITIVE_INFINITY;
      if (!this.#work.isStopped) this.#work.want();
    });
    background(RUNBOOKS, woken);
  }

  #count(): void {
    const { counters, nowMs } = this.#dependencies;
    counters.set("runbookRunsOpen", this.#jobs.open.size);
    counters.set("runbooksPaused", this.#pauses.count(nowMs()));
  }
}

/** Names of runbooks whose begins are remembered before those without any are forgotten. */
const RUNBOOK_BEGINS_RETAINED = 10_000;

function pauseKey(tenant: string, runbookId: string): string {
  return JSON.stringify([tenant, runbookId]);
}

function beginKey(tenant: string, runbookId: string, dry: boolean): string {
  return JSON.stringify([tenant, runbookId, dry]);
}
