// What the handlers of forecasts, causes and slow trends use.
import type { StreamName } from "../../core/protocol/coordinator-frame.ts";
import type { RunbookSubject } from "../../domain/runbooks/runbook.ts";
import type { ReportedFinding } from "../../domain/saturation/saturation-fire.ts";
import type { Using } from "../queries/query-context.ts";
import type { SeriesContext } from "../series/series-context.ts";
import type { ForecastBook } from "./forecast-book.ts";

export interface ForecastBooks {
  readonly forecasts: ForecastBook;
}

/** Findings of saturation of a tenant, those that have ended too. */
interface SaturationFindings {
  readonly fires: { listOf(tenant: string): ReadonlyArray<StreamName & ReportedFinding & { readonly endedAtMs: number | null }> };
}

/** The runbook that suits a finding. */
export interface RunbookSuggestions {
  readonly runbooks: {
    /** Its name; empty where none matches. */
    suggested(tenant: string, subject: RunbookSubject): string;
  };
}

export type PredictionContext = SeriesContext &
  Using<"compute" | "edit" | "randomBytes", ForecastBooks, SaturationFindings & RunbookSuggestions>;
