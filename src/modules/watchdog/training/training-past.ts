// What a training knows besides samples, and what it leaves for the next one: the vectors that were chosen, the model in production, and when the service's
// metrics, together or one of them, were an anomaly. Read and written in pieces, so that nobody waits for megabytes.
import { EXCLUDED_ANOMALIES_PER_TRAINING_MAX, TRAINING_ROWS_PARTS_PER_COMMIT } from "../../../core/config/model-limits.ts";
import type { PacedWork } from "../../../core/fairness/paced-work.ts";
import { endOfAnomaly } from "../../../domain/anomaly/anomaly.ts";
import type { TrainingPast } from "../../../domain/detection/multivariate/service-training.ts";
import { METRIC_OF_SERVICE } from "../../../domain/detection/multivariate/service-verdict.ts";
import { alertStretches, type Stretch } from "../../../domain/detection/multivariate/strange-stretches.ts";
import { DETECTORS_OF_PAIRS } from "../../../domain/detection/pair/pair-verdict.ts";
import type { AnomaliesOf, AnomalyBook } from "../../anomalies/anomaly-book.ts";
import type { StateWith } from "../../state/stored-state.ts";
import type { RetainedRows, RowsOwner, TrainingRowsBook } from "./training-rows-book.ts";

export type TrainingPastState = StateWith<{ readonly anomalies: Pick<AnomalyBook, "during">; readonly trainingRows: TrainingRowsBook }>;

/** One service in one environment, with its hash and that of its metrics' names. */
export interface TrainedService extends RowsOwner {
  readonly serviceId: string;
  readonly environment: string;
  readonly columns: string;
}

/** Reads what is known of a service whose samples from `fromMs` on are gathered. */
export async function trainingPast(
  of: TrainedService,
  { fromMs, toMs, model }: { readonly fromMs: number; readonly toMs: number; readonly model: Uint8Array<ArrayBuffer> | undefined },
  { state, paced }: { readonly state: TrainingPastState; readonly paced: PacedWork },
): Promise<TrainingPast> {
  const { tenant, serviceId, environment } = of;
  const stretches = (which: Pick<AnomaliesOf, "metricName" | "detector" | "isInAlert">): Stretch[] => {
    const asked = { tenant, serviceId, environment, ...which };
    const found = paced.do(() => state.anomalies.during(asked, fromMs, toMs, EXCLUDED_ANOMALIES_PER_TRAINING_MAX));
    return found
      .filter(({ feedback }) => feedback?.opinion !== "false_positive")
      .map((anomaly) => [anomaly.startedAtMs, endOfAnomaly(anomaly) ?? toMs]);
  };
  const together = stretches({ metricName: METRIC_OF_SERVICE });
  const single = DETECTORS_OF_PAIRS.flatMap((detector) => stretches({ detector, isInAlert: true }));
  const excluded = [...together, ...alertStretches(single, { fromMs, toMs })];
  return { rows: await rowsOf(of, { state, paced }), model, excluded };
}

async function rowsOf(
  of: TrainedService,
  { state, paced }: { readonly state: TrainingPastState; readonly paced: PacedWork },
): Promise<Uint8Array | undefined> {
  const retained = state.trainingRows.find(of.tenant, of.service);
  if (retained?.columns !== of.columns) return undefined;
  const parts = state.trainingRows.read(state.series, retained);
  for (;;) {
    const part = paced.do(() => parts.next());
    if (part.done === true) return part.value;
    await paced.pause();
  }
}

/** Keeps a training's vectors for the next one; false where the tenant has no room for them. Rejects with StoreError. */
export async function keepRows(
  owner: RowsOwner,
  rows: Pick<RetainedRows, "columns" | "storedMs" | "rows"> & { readonly bytes: Uint8Array },
  {
    state: { series, trainingRows },
    edit,
    paced,
  }: {
    readonly state: TrainingPastState;
    edit<T>(work: () => Promise<T>): Promise<T>;
    readonly paced: PacedWork;
  },
): Promise<boolean> {
  const draft = trainingRows.draft(owner, rows);
  if (draft === undefined) return false;
  for (let at = 0; at < draft.parts.length; at += TRAINING_ROWS_PARTS_PER_COMMIT) {
    await edit(() => series.commit(draft.parts.slice(at, at + TRAINING_ROWS_PARTS_PER_COMMIT)));
    await paced.pause();
  }
  await edit(async () => {
    await series.commit(draft.head);
    draft.apply();
  });
  return true;
}
