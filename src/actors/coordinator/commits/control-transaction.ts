// One transaction on `control`: a run of verdicts, dead letters and labels becomes operations. It may be thrown away and made again from the same frames.
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
import type { PagingSources } from "../../../domain/alerting/paging/paging-sources.ts";
import { decodeEpisode } from "../../../domain/anomaly/episode-codec.ts";
import { AlertDraft } from "../../../modules/alerts/alert-draft.ts";
import { VerdictDraft, type VerdictLimits } from "../../../modules/anomalies/verdict-draft.ts";
import { DeadLetterDraft } from "../../../modules/dead-letters/dead-letter-draft.ts";
import { LabelDraft } from "../../../modules/labels/label-draft.ts";
import { decodePayload } from "../../../modules/state/stored-json.ts";
import type { CommittedState } from "../nouns/committed-state.ts";

/** Drafts of one transaction over the committed state; those of what comes seldom are made when it comes. */
export class ControlTransaction {
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
