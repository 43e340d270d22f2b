// What a backtest uses.

import type { Anomaly } from "../../domain/anomaly/anomaly.ts";
import type { AlertBooks } from "../alerts/alerts-context.ts";
import type { ModelBooks } from "../models/models-context.ts";
import type { Routes } from "../notification/routes.ts";
import type { RoutingBooks } from "../notification/routing-book.ts";
import type { Using } from "../queries/query-context.ts";
import type { SaturationBooks } from "../saturation/saturation-context.ts";
import type { SeriesContext } from "../series/series-context.ts";
import type { PatternHolders } from "../silences/pattern-capacity.ts";
import type { TrainingRowsBook } from "../watchdog/training/training-rows-book.ts";
import type { WatchdogBooks } from "../watchdog/watchdog-context.ts";

/** Context by which the layers of one moment are judged. */
export type MomentsContext = SeriesContext & Using<"train", unknown, Pick<SaturationBooks, "saturation"> & WatchdogBooks>;
export type BacktestContext = MomentsContext &
  Using<
    "nowMs",
    AlertBooks & AnomalySource & { readonly trainingRows: TrainingRowsBook },
    PatternHolders & RoutingBooks & Pick<ModelBooks, "models">
  > & {
    readonly channels: { readonly routes: Pick<Routes, "subject"> };
  };

/** Anomalies by their id, for what people have said of them. */
interface AnomalySource {
  readonly anomalies: { find(tenant: string, id: string): Anomaly | undefined };
}
