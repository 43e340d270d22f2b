// Makes frames durable, and tells of it: latencies, events, counters, the floor of the logs.
import type { EngineFrame, MetricMetadataEnvelope } from "../../core/protocol/coordinator-frame.ts";
import type { Deployment } from "../../core/protocol/engine-control.ts";
import type { CoordinatorMessage, StreamEvents } from "../../core/protocol/query.ts";
import type { PagingSources } from "../../domain/alerting/paging/paging-sources.ts";
import { countAlerts } from "./alerts/alert-counts.ts";
import { AlertDraft } from "./alerts/alert-draft.ts";
import { type CommittedState, laneMarkKey } from "./committed-state.ts";
import type { CoordinatorCounters } from "./coordinator-counters.ts";
import { floorHasRisen, type LogFloor } from "./log-floor.ts";
import { TABLE_START } from "./tables/tables.ts";
import { Transaction } from "./transaction.ts";
import { VerdictDraft, type VerdictLimits } from "./verdict-draft.ts";

/** What the committer needs of the world. */
export interface CommitterDependencies {
  readonly state: CommittedState;
  readonly counters: CoordinatorCounters;
  /** What decisions on pages are made by. */
  readonly paging: PagingSources;
  nowMs(): number;
  monotonicMs(): number;
  emit(message: CoordinatorMessage): void;
  /** Whether anybody reads the event stream; where it is not given, somebody does. */
  isHeard?(): boolean;
  /** From the arrival of the bytes to the stored anomaly. */
  observeLatencySeconds(seconds: number): void;
  deleteLogSegments(floor: LogFloor): void | Promise<void>;
  /** Checkpoints have been stored, and with them the streams that have left memory. */
  checkpointsStored(): void;
  /** Metadata of metrics have been stored. */
  metadataStored(metadata: readonly MetricMetadataEnvelope[]): void;
  /** Event records that tell of deployments have been stored. */
  deploymentsStored(deployments: readonly Deployment[]): void;
}

const MARKS_PER_STEP = 1_000;

/** The one writer of verdicts, records, blocks and checkpoints. */
export class Committer {
  readonly #limits: VerdictLimits;
  readonly #dependencies: CommitterDependencies;
  #floor: LogFloor | undefined;
  /** Whether the floor may have risen since it was looked at. */
  #floorIsStale = true;

  constructor(limits: VerdictLimits, dependencies: CommitterDependencies) {
    this.#limits = limits;
    this.#dependencies = dependencies;
  }

  /** Commits frames; rejects with StoreError when the store does not take them, and may then be called again with the same. */
  async commit(frames: readonly EngineFrame[]): Promise<void> {
    const { state, counters, nowMs, monotonicMs } = this.#dependencies;
    const startMs = monotonicMs();
    const transaction = new Transaction(state, this.#limits, nowMs(), this.#dependencies.paging);
    for (const frame of frames) transaction.add(frame);
    await state.control.commit(transaction.controlOperations());
    this.#applyControl(transaction);
    await state.series.commit(transaction.seriesOperations());
    this.#applySeries(transaction);
    counters.add("frames", frames.length);
    counters.commit((monotonicMs() - startMs) / 1000);
  }

  /** What a change does to alerts, to anomalies. */
  draftAlerts(): AlertDraft {
    const { state, paging, nowMs } = this.#dependencies;
    return new AlertDraft(state.alerts, paging, nowMs(), this.#limits.alertsMax);
  }

  draftVerdicts(alerts: AlertDraft): VerdictDraft {
    return new VerdictDraft(this.#dependencies.state.anomalies, this.#limits, this.#dependencies.nowMs(), alerts);
  }

  /** Takes over what a change has stored, and tells of it. */
  takeAlerts(draft: AlertDraft): void {
    const { state, counters } = this.#dependencies;
    countAlerts(counters, state, draft.apply());
    this.tell(draft.events());
  }

  takeVerdicts(draft: VerdictDraft): void {
    const { state, counters } = this.#dependencies;
    counters.add("anomaliesDropped", draft.apply());
    counters.add("anomaliesStored", draft.openedArrivalsMs.length);
    counters.set("anomaliesOpen", state.anomalies.openCount);
    this.tell(draft.events());
  }

  tell(events: StreamEvents["events"]): void {
    if (events.length > 0) this.#dependencies.emit({ type: "events", events });
  }

  /** Stores rows of the ledger that no frames have taken along: all where there is nothing else to do, else those that have waited for some time. */
  async storeLedger(isIdle: boolean): Promise<void> {
    const { state, counters, nowMs } = this.#dependencies;
    const { ledger } = state.alerts;
    if (!ledger.isWaiting || !(isIdle || ledger.isDue(nowMs()))) return;
    await ledger.store();
    counters.set("ledgerRows", ledger.size);
  }

  /** Lets log segments go that are covered now. Both stores are flushed first: after a loss of power the log would be missed. */
  async raiseFloor(): Promise<void> {
    const { state, deleteLogSegments } = this.#dependencies;
    const floor = this.#floorIsStale ? state.coverage.floor() : undefined;
    if (floor === undefined || !floorHasRisen(this.#floor, floor)) {
      this.#floorIsStale = false;
      return;
    }
    await state.control.commit([], { sync: true });
    await state.series.commit([], { sync: true });
    await deleteLogSegments(floor);
    await state.series.deleteRange("lane_marks", TABLE_START, laneMarkKey(floor.epoch, 0), MARKS_PER_STEP);
    state.coverage.forgetMarksBefore(floor.epoch);
    this.#floor = floor;
    this.#floorIsStale = false;
  }

  #applyControl({ verdicts, alerts, deadLetters, labels }: Transaction): void {
    const { state, counters, monotonicMs, observeLatencySeconds } = this.#dependencies;
    counters.add("anomaliesDropped", verdicts.apply());
    countAlerts(counters, state, alerts.apply());
    deadLetters.apply();
    labels.apply();
    counters.add("labelsRefused", labels.refused);
    const storedMs = monotonicMs();
    for (const arrivalMs of verdicts.openedArrivalsMs) if (arrivalMs > 0) observeLatencySeconds((storedMs - arrivalMs) / 1000);
    counters.add("anomaliesStored", verdicts.openedArrivalsMs.length);
    counters.set("anomaliesOpen", state.anomalies.openCount);
    counters.set("deadLetters", state.deadLetters.total);
    counters.set("deadLetterBytes", state.deadLetters.bytes);
    counters.add("lettersReplayed", deadLetters.replayed);
    if (this.#dependencies.isHeard?.() !== false) this.tell([...verdicts.events(), ...alerts.events()]);
  }

  #applySeries(transaction: Transaction): void {
    const { state, counters } = this.#dependencies;
    state.alerts.ledger.stored();
    counters.set("ledgerRows", state.alerts.ledger.size);
    for (const header of transaction.checkpoints) state.putCheckpoint(header);
    for (const mark of transaction.marks) state.coverage.putMark(mark);
    for (const [record, id] of transaction.sloRecords) state.slo.take(record, id);
    for (const metadata of transaction.metadata) state.metadata.put(metadata);
    if (transaction.deployments.length > 0) this.#dependencies.deploymentsStored(transaction.deployments);
    if (transaction.metadata.length > 0) this.#dependencies.metadataStored(transaction.metadata);
    counters.set("metadataStored", state.metadata.size);
    if (transaction.checkpoints.length > 0) this.#dependencies.checkpointsStored();
    this.#floorIsStale ||= transaction.checkpoints.length + transaction.marks.length > 0;
    counters.add("recordsStored", transaction.records);
    counters.add("recordsDropped", transaction.recordsDropped);
    counters.add("blocksStored", transaction.blocks);
    counters.add("blockBytes", transaction.blockBytes);
    counters.add("checkpointsStored", transaction.checkpoints.length);
  }
}
