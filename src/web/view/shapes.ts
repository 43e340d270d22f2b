// Objects of the API by the shapes that it declares, and what pages read of those it declares elsewhere.
import type { z } from "zod";
import type { ALERT, ALERT_DETAIL, DECISION } from "../../api/shapes/alert.ts";
import type { RCA_REPORTS, SIMILAR_REPORTS } from "../../api/shapes/analysis.ts";
import type { ANOMALY, ANOMALY_DETAIL, VERDICT } from "../../api/shapes/anomaly.ts";
import type { CHANNEL_LIST, CHANNEL_TEST_ANSWER } from "../../api/shapes/channel.ts";
import type { DRIFT, JOBS, MODELS, PROMOTION } from "../../api/shapes/models.ts";
import type { DRILL_ANSWER } from "../../api/shapes/notification.ts";
import type { CAUSAL, DEGRADATION, FORECAST, PREDICTIONS } from "../../api/shapes/prediction.ts";
import type { PAGE_REPORT } from "../../api/shapes/routing.ts";
import type { EXECUTION_VIEW, RUNBOOK_VIEW } from "../../api/shapes/runbook.ts";
import type { SERIES_DATA, SERIES_LIST } from "../../api/shapes/series.ts";
import type { STATUS } from "../../api/shapes/server.ts";
import type { GRAPH, SERVICE_LIST } from "../../api/shapes/service.ts";
import type { WEBHOOK_ATTEMPT, WEBHOOK_SAVED, WEBHOOK_VIEW } from "../../api/shapes/webhook.ts";

export type Alert = z.output<typeof ALERT>;
export type AlertDetail = z.output<typeof ALERT_DETAIL>;
export type Decision = z.output<typeof DECISION>;
export type Anomaly = Omit<z.output<typeof ANOMALY>, "verdict"> & { readonly verdict?: Verdict };
export type AnomalyDetail = z.output<typeof ANOMALY_DETAIL>;
export type Verdict = z.output<typeof VERDICT>;
export type SeriesData = z.output<typeof SERIES_DATA>;
export type AnomalyMark = SeriesData["anomalies"][number];
export type Series = z.output<typeof SERIES_LIST>["series"][number];
export type Service = z.output<typeof SERVICE_LIST>["services"][number];
export type Graph = z.output<typeof GRAPH>;
export type Report = z.output<typeof RCA_REPORTS>["reports"][number];
export type SimilarReports = z.output<typeof SIMILAR_REPORTS>;
export type Status = z.output<typeof STATUS>;

export type Webhook = z.output<typeof WEBHOOK_VIEW>;
export type WebhookSaved = z.output<typeof WEBHOOK_SAVED>;
export type WebhookAttempt = z.output<typeof WEBHOOK_ATTEMPT>;
export type PageReportAnswer = z.output<typeof PAGE_REPORT>;
export type Causal = z.output<typeof CAUSAL>;
export type Degradation = z.output<typeof DEGRADATION>;
export type ForecastAnswer = z.output<typeof FORECAST>;
export type Predictions = z.output<typeof PREDICTIONS>;
export type Training = z.output<typeof JOBS>["jobs"][number];
export type Model = z.output<typeof MODELS>["models"][number];
export type Promotion = z.output<typeof PROMOTION>;
export type Drift = z.output<typeof DRIFT>;
export type Runbook = z.output<typeof RUNBOOK_VIEW>;
export type Execution = z.output<typeof EXECUTION_VIEW>;
export type ChannelList = z.output<typeof CHANNEL_LIST>;
export type ChannelTest = z.output<typeof CHANNEL_TEST_ANSWER>;
export type Drill = z.output<typeof DRILL_ANSWER>;

export type Severity = Alert["severity"];

/** A list with its page's end. */
export interface Page {
  readonly total: number;
  readonly page_token: string;
}
