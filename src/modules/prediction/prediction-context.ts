// What the handlers of forecasts, causes and slow trends use.
import type { RunbookSubject } from "../../domain/runbooks/runbook.ts";
import type { Using } from "../queries/query-context.ts";
import type { SaturationBooks } from "../saturation/saturation-context.ts";
import type { SeriesContext } from "../series/series-context.ts";
import type { ForecastBook } from "./forecast-book.ts";

export interface ForecastBooks {
  readonly forecasts: ForecastBook;
}

/** The runbook that suits a finding. */
export interface RunbookSuggestions {
  readonly runbooks: {
    /** Its name; empty where none matches. */
    suggested(tenant: string, subject: RunbookSubject): string;
  };
}

export type PredictionContext = SeriesContext &
  Using<"compute" | "edit" | "randomBytes", ForecastBooks, Pick<SaturationBooks, "fires"> & RunbookSuggestions>;
