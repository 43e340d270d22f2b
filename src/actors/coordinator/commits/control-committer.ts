// Makes verdicts, dead letters and labels durable, and reports it: latencies, events, counters.
// A transaction on `control` makes operations of a run of them. It may be thrown away and made again from the same frames.
import type { StoreOperation } from "../../../adapters/storage/key-value-store.ts";
import {
  type DeadLetterEnvelope,
  type DeadLettersEnded,
  type EngineFrame,
  FRAME_CLOSING,
  FRAME_DEAD_LETTER,
  FRAME_SERVICE_LABELS,
  FRAME_SET_ASIDE,
  FRAME_VERDICT,
  type ServiceLabelsEnvelope,
} from "../../../core/protocol/coordinator-frame.ts";
import type { CoordinatorMessage, StreamEvents } from "../../../core/protocol/query.ts";
import type { PagingSources } from "../../../domain/alerting/paging/paging-sources.ts";
import type { Anomaly } from "../../../domain/anomaly/anomaly.ts";
import { decodeEpisode } from "../../../domain/anomaly/episode-codec.ts";
import { AlertDraft, countAlerts } from "../../../modules/alerts/alert-draft.ts";
import { VerdictDraft, type VerdictLimits } from "../../../modules/anomalies/verdict-draft.ts";
import { DeadLetterDraft } from "../../../modules/dead-letters/dead-letter-draft.ts";
import { LabelDraft } from "../../../modules/labels/label-draft.ts";
import type { CoordinatorCounters } from "../../../modules/state/coordinator-counters.ts";
import { decodePayload } from "../../../modules/state/stored-json.ts";
import type { CommittedState } from "../nouns/committed-state.ts";
import { makeOfFrames } from "./frame-sifting.ts";

export interface ControlCommitterDependencies {
  readonly state: CommittedState;
  readonly counters: CoordinatorCounters;
  /** State by which pages are decided. */
  readonly paging: PagingSources;
  nowMs(): number;
  monotonicMs(): number;
  emit(message: CoordinatorMessage): void;
  /** Whether anybody reads the event stream; where it is not given, somebody does. */
  hasSubscribers?(): boolean;
  /** Anomalies that trigger root-cause analysis have been stored. */
  analysisDue(anomalies: readonly Anomaly[]): void;
  /** From the arrival of the bytes to the stored anomaly. */
  latencyObserved(seconds: number): void;
}

/** The one writer of what people wait for. */
export class ControlCommitter {
  readonly #limits: VerdictLimits;
  readonly #dependencies: ControlCommitterDependencies;

  constructor(limits: VerdictLimits, dependencies: ControlCommitterDependencies) {
    this.#limits = limits;
    this.#dependencies = dependencies;
  }

  /** Commits frames of CONTROL_FRAMES; a loss of power may take them, and the log gives them again. Rejects with StoreError when the store does not take them, and may then be called again with the same; with UnstorableFramesError where it is to be called without some. */
  async commit(frames: readonly EngineFrame[]): Promise<void> {
    const { state, counters, monotonicMs } = this.#dependencies;
    const startMs = monotonicMs();
    const { transaction, operations } = makeOfFrames(frames, (some) => this.#make(some));
    await state.control.commit(operations, { flushLater: true });
    this.#apply(transaction);
    counters.add("frames", frames.length);
    counters.commit((monotonicMs() - startMs) / 1000);
  }

  #make(frames: readonly EngineFrame[]) {
    const { state, paging, nowMs } = this.#dependencies;
    const transaction = new ControlTransaction(state, this.#limits, nowMs(), paging);
    for (const frame of frames) transaction.add(frame);
    return { transaction, operations: transaction.operations() };
  }

  /** Effects of a change on alerts and on anomalies. */
  draftAlerts(): AlertDraft {
    const { state, paging, nowMs } = this.#dependencies;
    return new AlertDraft(state.alerts, paging, nowMs(), this.#limits.alertsMax);
  }

  draftVerdicts(alerts: AlertDraft): VerdictDraft {
    return new VerdictDraft(this.#dependencies.state.anomalies, this.#limits, this.#dependencies.nowMs(), alerts);
  }

  /** Takes over what a change has stored, and reports it. */
  takeAlerts(draft: AlertDraft): void {
    const { state, counters } = this.#dependencies;
    countAlerts(counters, state, draft.apply());
    this.#dependencies.analysisDue(draft.triggered);
    this.publish(draft.events());
  }

  takeVerdicts(draft: VerdictDraft): void {
    const { state, counters } = this.#dependencies;
    counters.add("anomaliesDropped", draft.apply());
    counters.add("anomaliesStored", draft.openedArrivalsMs.length);
    counters.set("anomaliesOpen", state.anomalies.openCount);
    this.publish(draft.events());
  }

  /** `arrivalsMs`: as in StreamEvents. */
  publish(events: StreamEvents["events"], arrivalsMs: readonly number[] = []): void {
    if (events.length > 0) this.#dependencies.emit({ type: "events", events, ...(arrivalsMs.length > 0 && { arrivalsMs }) });
  }

  #apply({ verdicts, alerts, deadLetters, labels }: ControlTransaction): void {
    const { state, counters, monotonicMs, latencyObserved } = this.#dependencies;
    counters.add("anomaliesDropped", verdicts.apply());
    countAlerts(counters, state, alerts.apply());
    deadLetters?.apply();
    labels?.apply();
    counters.add("labelsRefused", labels?.refused ?? 0);
    const storedMs = monotonicMs();
    const arrivalsMs = verdicts.openedArrivalsMs.filter((arrivalMs) => arrivalMs > 0);
    for (const arrivalMs of arrivalsMs) latencyObserved((storedMs - arrivalMs) / 1000);
    counters.add("anomaliesStored", verdicts.openedArrivalsMs.length);
    counters.set("anomaliesOpen", state.anomalies.openCount);
    counters.set("deadLetters", state.deadLetters.total);
    counters.set("deadLetterBytes", state.deadLetters.bytes);
    counters.add("deadLettersReplayed", deadLetters?.replayed ?? 0);
    this.#dependencies.analysisDue(alerts.triggered);
    if (this.#dependencies.hasSubscribers?.() !== false) this.publish([...verdicts.events(), ...alerts.events()], arrivalsMs);
  }
}

/** Drafts of one transaction over the committed state; those of what comes seldom are made when it comes. */
class ControlTransaction {
  readonly alerts: AlertDraft;
  readonly verdicts: VerdictDraft;
  deadLetters: DeadLetterDraft | undefined;
  labels: LabelDraft | undefined;
  readonly #state: CommittedState;
  readonly #wallNowMs: number;

  constructor(state: CommittedState, limits: VerdictLimits, wallNowMs: number, paging: PagingSources) {
    this.alerts = new AlertDraft(state.alerts, paging, wallNowMs, limits.alertsMax);
    this.verdicts = new VerdictDraft(state.anomalies, limits, wallNowMs, this.alerts);
    this.#state = state;
    this.#wallNowMs = wallNowMs;
  }

  /** Takes a frame of CONTROL_FRAMES, or one that stands for such a frame. */
  add({ kind, payload }: EngineFrame): void {
    if (kind === FRAME_VERDICT || kind === FRAME_CLOSING) this.verdicts.add(decodeEpisode(payload));
    else if (kind === FRAME_DEAD_LETTER) this.#takeDeadLetter(decodePayload<DeadLetterEnvelope | DeadLettersEnded>(payload));
    else if (kind === FRAME_SERVICE_LABELS) this.#takeLabels(decodePayload<ServiceLabelsEnvelope>(payload));
    else if (kind !== FRAME_SET_ASIDE) throw new RangeError(`a frame of kind ${kind} is not stored in control`);
  }

  operations(): StoreOperation[] {
    const verdicts = this.verdicts.operations(); // may end alerts
    return verdicts.concat(this.alerts.operations(), this.deadLetters?.operations() ?? [], this.labels?.operations() ?? []);
  }

  #takeDeadLetter(letter: DeadLetterEnvelope | DeadLettersEnded): void {
    this.deadLetters ??= new DeadLetterDraft(this.#state);
    this.deadLetters.take(letter);
  }

  #takeLabels(labels: ServiceLabelsEnvelope): void {
    this.labels ??= new LabelDraft(this.#state.configured.labels);
    this.labels.takeTelemetry(labels, this.#wallNowMs);
  }
}
