/**
 * One fire drill: sends the samples, then looks until what must come of them is there, stage after stage. At its end the values come to rest, whatever has failed
 * before, so that nobody keeps an open page of it.
 */
import type { KeyValueStore } from "../../adapters/storage/key-value-store.ts";
import {
  DRILL_CHECK_MS,
  DRILL_DECIDED_MS,
  DRILL_ENDED_MS_MAX,
  DRILL_REASON_CHARACTERS_MAX,
  DRILL_REPORT_MS_MAX,
  DRILL_RETRY_MS,
} from "../../core/config/drill-limits.ts";
import { DRILL_SERVICE, type OwnTelemetryAnswer } from "../../core/protocol/own-telemetry.ts";
import { CONFIRMATION_GATE } from "../../domain/alerting/paging/confirmation-gate.ts";
import type { Anomaly } from "../../domain/anomaly/anomaly.ts";
import { calmRecords, type Drill, drillEnvironment, drillRecords, stagesOf } from "../../domain/notification/drill.ts";
import type { AnomalyBooks } from "../anomalies/anomalies-context.ts";
import type { StateWith } from "../state/stored-state.ts";
import type { Routes } from "./routes.ts";
import { rowsOfAlert } from "./stored-channel.ts";

export interface DrillRunDependencies {
  readonly state: StateWith<AnomalyBooks>;
  readonly routes: Routes;
  nowMs(): number;
  monotonicMs(): number;
  sleep(ms: number): Promise<void>;
  /** Sends a body to an engine; undefined where no answer came. */
  ingest(tenant: string, body: Uint8Array): Promise<OwnTelemetryAnswer | undefined>;
  isStopping(): boolean;
}

const OK = 200;
const encoder = new TextEncoder();

/** Why a stage has failed. */
class StageFailure extends Error {}

export class DrillRun {
  readonly #dependencies: DrillRunDependencies;
  readonly #control: KeyValueStore;
  readonly #id: string;
  readonly #tenant: string;
  readonly #by: string;
  readonly #environment: string;
  readonly #startedAtMs: number;
  readonly #startMs: number;
  readonly #passedMs: number[] = [];
  #deadlineMs: number;
  #anomalyId: string | null = null;
  #alertId: string | null = null;

  constructor(of: Pick<Drill, "id" | "tenant" | "by">, dependencies: DrillRunDependencies) {
    this.#dependencies = dependencies;
    this.#control = dependencies.state.control;
    [this.#id, this.#tenant, this.#by] = [of.id, of.tenant, of.by];
    this.#environment = drillEnvironment(of.id);
    this.#startedAtMs = dependencies.nowMs();
    this.#startMs = dependencies.monotonicMs();
    this.#deadlineMs = this.#startMs + DRILL_REPORT_MS_MAX;
  }

  /** Rejects only on a defect of this program. */
  async run(): Promise<Drill> {
    let reason: string | null = null;
    try {
      await this.#send(drillRecords(this.#environment, this.#startedAtMs));
      this.#passed();
      this.#anomalyId = await this.#until(() => this.#detected(), "no anomaly was found");
      this.#passed();
      this.#alertId = await this.#until(() => this.#routed(), "nobody is informed of its anomaly");
      this.#passed();
      await this.#until(() => this.#received(), "a receiver has not taken its page");
      this.#passed();
      await this.#calm();
      await this.#until(() => this.#resolved(), "a receiver that was told has not heard of its end");
      this.#passed();
    } catch (error) {
      if (!(error instanceof StageFailure)) throw error;
      reason = error.message.slice(0, DRILL_REASON_CHARACTERS_MAX);
    }
    const [endedMs, endedAtMs] = [this.#elapsedMs, this.#dependencies.nowMs()];
    if (reason !== null && this.#passedMs.length > 0) await this.#calm().catch(() => undefined);
    return {
      ...{ id: this.#id, tenant: this.#tenant, by: this.#by, environment: this.#environment },
      ...{ startedAtMs: this.#startedAtMs, endedAtMs, reason },
      ...{ anomalyId: this.#anomalyId, alertId: this.#alertId },
      stages: stagesOf(this.#passedMs, endedMs),
    };
  }

  get #elapsedMs(): number {
    return Math.round(this.#dependencies.monotonicMs() - this.#startMs);
  }

  /** Since the last stage that has passed. */
  get #sinceLastMs(): number {
    return this.#elapsedMs - (this.#passedMs.at(-1) ?? 0);
  }

  #passed(): void {
    this.#passedMs.push(this.#elapsedMs);
  }

  /** Until an engine has stored and judged the records. */
  async #send(records: ReturnType<typeof drillRecords>): Promise<void> {
    const body = encoder.encode(JSON.stringify(records));
    for (let last = "no engine gave an answer"; ; ) {
      const answer = await this.#dependencies.ingest(this.#tenant, body);
      if (answer?.status === OK) return checkTaken(answer.body);
      if (answer !== undefined) last = `the engines answered ${answer.status}${answer.body === null ? "" : `: ${answer.body}`}`;
      this.#inspect(last);
      await this.#dependencies.sleep(DRILL_RETRY_MS);
    }
  }

  async #calm(): Promise<void> {
    this.#deadlineMs = this.#dependencies.monotonicMs() + DRILL_ENDED_MS_MAX;
    await this.#send(calmRecords(this.#environment, this.#dependencies.nowMs()));
  }

  /** Result of `ask`, once it gives one. */
  async #until<T>(ask: () => T | undefined, otherwise: string): Promise<T> {
    for (;;) {
      const found = ask();
      if (found !== undefined) return found;
      this.#inspect(otherwise);
      await this.#dependencies.sleep(DRILL_CHECK_MS);
    }
  }

  /** Throws where there is no time left. */
  #inspect(otherwise: string): void {
    if (this.#dependencies.isStopping()) throw new StageFailure("the server was stopped");
    if (this.#dependencies.monotonicMs() >= this.#deadlineMs) throw new StageFailure(`${otherwise} in time`);
  }

  #detected(): string | undefined {
    // The bound spares a look at all that a tenant has; a clock may be put back meanwhile.
    const sinceMs = this.#startedAtMs - DRILL_REPORT_MS_MAX;
    const filter = { serviceId: DRILL_SERVICE, environment: this.#environment, sinceMs };
    return this.#dependencies.state.anomalies.index(this.#tenant).page(filter, undefined, 1)[0]?.id;
  }

  /** Its alert, once there is a message of it on its way. */
  #routed(): string | undefined {
    const { routes, state } = this.#dependencies;
    const anomaly = state.anomalies.find(this.#tenant, this.#anomalyId as string) as Anomaly;
    const paging = anomaly.paging;
    if (paging?.outcome !== "paged" || paging.alertId === null) {
      const isLate = this.#dependencies.monotonicMs() >= this.#deadlineMs;
      const isSuppressed = paging !== null && paging.suppressedBy !== CONFIRMATION_GATE && this.#sinceLastMs >= DRILL_DECIDED_MS;
      if (!isLate && !isSuppressed) return undefined;
      throw new StageFailure(
        `its anomaly was not paged: ${paging?.outcome ?? "not decided"} by the gate ${paging?.suppressedBy ?? "none"}`,
      );
    }
    if (!routes.isAnyConfigured) throw new StageFailure("nobody is notified: no channel is configured");
    if (rowsOfAlert(this.#control, this.#tenant, paging.alertId).length === 0) {
      throw new StageFailure(`no rule that matches ${DRILL_SERVICE} has a channel`);
    }
    return paging.alertId;
  }

  #received(): true | undefined {
    const rows = rowsOfAlert(this.#control, this.#tenant, this.#alertId as string).map(({ row }) => row);
    const failed = rows.find(({ delivery }) => delivery.state === "exhausted");
    if (failed !== undefined) throw new StageFailure(`${failed.channel}: ${failed.delivery.error ?? "could not be delivered"}`);
    const waiting = rows.find(({ delivery }) => delivery.notified !== "yes");
    if (waiting === undefined) return true;
    const { channel, delivery } = waiting;
    if (this.#dependencies.monotonicMs() >= this.#deadlineMs && delivery.error !== null)
      throw new StageFailure(`${channel}: ${delivery.error}`);
    return undefined;
  }

  #resolved(): true | undefined {
    const rows = rowsOfAlert(this.#control, this.#tenant, this.#alertId as string);
    return rows.every(({ row: { delivery } }) => delivery.notified !== "yes" || delivery.endNotified) ? true : undefined;
  }
}

/** Throws where an engine has refused one of the records. */
function checkTaken(body: string | null): void {
  const { failed, failures } = JSON.parse(body ?? "{}") as {
    readonly failed?: number;
    readonly failures?: ReadonlyArray<{ message: string }>;
  };
  if (failed !== undefined && failed > 0) throw new StageFailure(failures?.[0]?.message ?? "records were refused");
}
