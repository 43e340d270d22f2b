// What a backtest has to know besides samples: what people said, deployments, declared limits, SLO records, calls.

import { BACKTEST_RECORDS_MAX } from "../../core/config/backtest-limits.ts";
import { hash128 } from "../../core/hashing/hash128.ts";
import type { RecordEnvelope } from "../../core/protocol/coordinator-frame.ts";
import type { Deployment } from "../../core/protocol/engine-control.ts";
import { serviceHash } from "../../core/protocol/service-rows.ts";
import { DAY_MS } from "../../core/time/durations.ts";
import type { Call } from "../../domain/alerting/cascade.ts";
import type { BacktestFacts, BacktestLayer } from "../../domain/backtest/history.ts";
import { KeyReader } from "../../domain/codec/key.ts";
import { writeTrainingInput } from "../../domain/detection/multivariate/training-input.ts";
import { isRatio, type SloRecord } from "../../domain/detection/service/slo-record.ts";
import { serviceKey } from "../../domain/series/stream-identity.ts";
import { readCalls } from "../calls/stored-calls.ts";
import { decodeRecordRow, rowMatches, serviceBytes } from "../records/record-row.ts";
import { tenantTimeBound } from "../state/tables.ts";
import { SLO_RECORD, SLO_WINDOW_MS } from "../watchdog/slo/slo-book.ts";
import type { BacktestContext, MomentsContext } from "./backtest-context.ts";
import type { SampleSelection } from "./backtest-samples.ts";

const ROWS_PER_READ = 1_000;
const WHOLE_SERVICE = "it looks at all metrics of a service; leave metric_name out";

export async function backtestFacts(
  context: BacktestContext,
  selection: SampleSelection,
  firstSeenMs: ReadonlyMap<string, number>,
): Promise<Omit<BacktestFacts, "counting" | "labels">> {
  const { state, train, options } = context;
  const { saturation, models } = state.configured;
  const { limits } = saturation;
  const deployments = await deploymentsOf(context, selection);
  const isWhole = selection.metricName === null;
  return {
    firstSeenMs: (_tenant, serviceId) => firstSeenMs.get(serviceId),
    opinions: (tenant, serviceId) => state.alerts.feedback.on(tenant, serviceId),
    deployments: (_tenant, serviceId) => deployments.get(serviceId) ?? [],
    knownDaysOf: (tenant) => state.configured.watchdog.calendars.knownDaysOf(tenant),
    unitOf: (tenant, metricName) => state.metadata.ofSeries(tenant, metricName)?.unit ?? null,
    limitFor: (tenant, serviceId, metricName) => {
      const limit = limits.limitFor(tenant, serviceId, metricName);
      return limit === undefined ? null : { value: limit.limitValue, unit: limit.unit };
    },
    sloRecords: isWhole ? await sloRecordsOf(context, selection) : [],
    calls: callReader(context),
    promoted: (service) => {
      const row = models.production(service);
      const content = row && models.content(row);
      return row && content && { names: row.names, model: content.model, rows: row.rows, trainedMs: row.trainedMs };
    },
    retainedRows: (service, names) => retainedRows(state, service, names),
    train: train === undefined ? null : (job) => train(writeTrainingInput(job)),
    leftOut: leftOut(selection, options.saturationEnabled !== false),
  };
}

/** Read at once: 3 MB at most, in 2 ms. */
function retainedRows(
  { series, trainingRows }: BacktestContext["state"],
  { tenant, serviceId, environment }: Parameters<BacktestFacts["retainedRows"]>[0],
  names: readonly string[],
): Uint8Array | undefined {
  const retained = trainingRows.find(tenant, serviceHash(serviceKey(tenant, serviceId), environment));
  if (retained?.columns !== hash128(JSON.stringify(names))) return undefined;
  const parts = trainingRows.read(series, retained);
  for (;;) {
    const part = parts.next();
    if (part.done === true) return part.value;
  }
}

function leftOut({ serviceId, metricName }: SampleSelection, saturationEnabled: boolean): Partial<Record<BacktestLayer, string>> {
  return {
    ...(metricName !== null && { isolation_forest: WHOLE_SERVICE, stale: WHOLE_SERVICE, slo_burn: WHOLE_SERVICE }),
    ...(!saturationEnabled && { saturation: "SATURATION_DETECTOR_ENABLED is false" }),
    ...((metricName !== null || serviceId !== null) && {
      cascade: "it looks at services that call each other; leave service_id and metric_name out",
    }),
  };
}

/** Event records that report deployments, by service, ascending; of the newest BACKTEST_RECORDS_MAX records of the range. */
export async function deploymentsOf(
  { state, yieldToLoop }: MomentsContext,
  { tenant, serviceId, sinceMs, untilMs }: Pick<SampleSelection, "tenant" | "serviceId" | "sinceMs" | "untilMs">,
): Promise<Map<string, number[]>> {
  const service = serviceId === null ? undefined : serviceBytes(serviceId);
  const from = tenantTimeBound(tenant, Math.max(0, sinceMs - 2 * DAY_MS));
  const found = new Map<string, number[]>();
  let to = tenantTimeBound(tenant, Math.max(0, untilMs));
  for (let inspected = 0; inspected < BACKTEST_RECORDS_MAX; ) {
    const rows = state.series.range("records", { from, to, reverse: true, limit: ROWS_PER_READ });
    for (const { key, value } of rows) {
      to = new Uint8Array(key);
      if (!rowMatches(value, "event", service)) continue;
      const { record } = decodeRecordRow(value);
      const reader = new KeyReader(key);
      reader.text();
      const deployment = deploymentOf({ tenant, timeMs: reader.time(), record });
      if (deployment === undefined) continue;
      const times = found.get(deployment.serviceId);
      if (times === undefined) found.set(deployment.serviceId, [deployment.atMs]);
      else times.unshift(deployment.atMs);
    }
    inspected += rows.length;
    if (rows.length < ROWS_PER_READ) break;
    await yieldToLoop();
  }
  return found;
}

/** Records from three days before the beginning on, as windows reach so far back; at most BACKTEST_RECORDS_MAX, the oldest first. */
async function sloRecordsOf(
  { state, yieldToLoop }: MomentsContext,
  { tenant, serviceId, environment, sinceMs, untilMs }: SampleSelection,
): Promise<SloRecord[]> {
  const to = tenantTimeBound(tenant, Math.max(0, untilMs));
  const found: SloRecord[] = [];
  let from = tenantTimeBound(tenant, Math.max(0, sinceMs - SLO_WINDOW_MS));
  for (let inspected = 0; inspected < BACKTEST_RECORDS_MAX; ) {
    const rows = state.series.range("slo_records", { from, to, limit: ROWS_PER_READ });
    for (const { value } of rows) {
      const record = SLO_RECORD.decode(value);
      const isSelected =
        (serviceId === null || record.serviceId === serviceId) && (environment === null || record.environment === environment);
      if (isSelected && isRatio(record.ratio)) found.push(record);
    }
    inspected += rows.length;
    const last = rows.at(-1)?.key;
    if (last === undefined || rows.length < ROWS_PER_READ) break;
    from = Uint8Array.of(...last, 0);
    await yieldToLoop();
  }
  return found;
}

/** Calls of the range asked for last are kept: both runs ask for the same minutes, and a cascade for those of the cycle before. */
function callReader(context: BacktestContext): BacktestFacts["calls"] {
  let retained: { readonly key: string; readonly calls: readonly Call[] } = { key: "", calls: [] };
  return async (tenant, environment, from, to) => {
    const key = JSON.stringify([tenant, environment, from, to]);
    if (retained.key === key) return retained.calls;
    const calls = new Map<string, Call>();
    await readCalls(context, tenant, { from, to }, ({ caller, callee, minute }) => {
      if (callee.tenant !== tenant || callee.environment !== environment || minute < from || minute >= to) return;
      if (calls.size >= BACKTEST_RECORDS_MAX) return;
      calls.set(JSON.stringify([caller.serviceId, callee.serviceId]), { caller: caller.serviceId, callee: callee.serviceId });
    });
    retained = { key, calls: [...calls.values()] };
    return retained.calls;
  };
}

// Event records that report a deployment (attribute event_type = deployment).

/** The deployment that a record reports; undefined for any other record. */
function deploymentOf({ tenant, timeMs, record }: Pick<RecordEnvelope, "tenant" | "timeMs" | "record">): Deployment | undefined {
  const { type, service_id: serviceId, attributes } = record;
  if (type !== "event" || typeof serviceId !== "string" || typeof attributes !== "object" || attributes === null) return undefined;
  return (attributes as Record<string, unknown>).event_type === "deployment" ? { tenant, serviceId, atMs: timeMs } : undefined;
}
