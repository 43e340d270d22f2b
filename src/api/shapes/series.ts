// What is stored: series and their values, records, the call graph.
import { z } from "zod";
import { ATTRIBUTES, COUNT, NEXT_PAGE, RECORD, TIMESTAMP, TOTAL_RELATION } from "./scalars.ts";

const SERIES_NAME = { service_id: z.string(), metric_name: z.string(), environment: z.string(), attributes: ATTRIBUTES };
const KIND = z.enum(["gauge", "counter"]).describe("values of a counter are what was added per interval");

const SERIES = z
  .strictObject({
    ...SERIES_NAME,
    kind: KIND,
    samples: COUNT,
    last_value: z.number().nullable(),
    last_timestamp: TIMESTAMP.nullable(),
    maturity: z.enum(["young", "settling", "mature"]),
    ended: z.boolean().describe("its sender has said that it ended"),
    type: z.string().nullable().describe("of the metric, by its metadata"),
    unit: z.string().nullable(),
  })
  .meta({ id: "Series" });

export const SERIES_LIST = z.strictObject({ series: z.array(SERIES), total: COUNT, page_token: NEXT_PAGE });

const BOUNDS = z.strictObject({ expected: z.number(), lower: z.number(), upper: z.number() });
const POINT = z.strictObject({
  timestamp: TIMESTAMP,
  value: z.number(),
  expected: z.number().nullable(),
  lower: z.number().nullable().describe("never beyond what a metric of such a name, unit and kind can have, as long as its values are not"),
  upper: z.number().nullable(),
  statistical: BOUNDS.nullable().describe("of layer 1: masked, floored, as wide as its threshold"),
  adaptive: BOUNDS.nullable().describe("of the long baseline, by the series' own tail; null where it looks at a minute's values together"),
  judged_by: z
    .enum(["statistical", "adaptive"])
    .nullable()
    .describe("whose bounds are expected, lower and upper; null where no detector looks at such values"),
});

/** An anomaly beside the values that it is of. */
const MARK = z
  .strictObject({
    anomaly_id: z.string(),
    detector: z.string(),
    severity: z.enum(["low", "medium", "high"]),
    direction: z.enum(["high", "low"]),
    attributes: ATTRIBUTES,
    started_at: TIMESTAMP,
    observed_at: TIMESTAMP.describe("time of the sample at the peak"),
    resolved_at: TIMESTAMP.nullable(),
    observed: z.number().nullable(),
    expected: z.number().nullable(),
    lower: z.number().nullable(),
    upper: z.number().nullable(),
  })
  .meta({ id: "AnomalyMark" });

const VALUES = {
  ...SERIES_NAME,
  kind: KIND,
  resolution: z.enum(["raw", "1m", "1h"]),
  points: z.array(POINT),
  anomalies: z
    .array(MARK)
    .describe(
      "of its service, metric and environment, newest first, 100 at most: those detected in the range, and those before that are open",
    ),
  complete: z.boolean().describe("false where older points of the range may be missing"),
};

/** Values of a series, and of others. */
export const SERIES_DATA = z.strictObject({
  ...VALUES,
  matches: COUNT.describe("series that the query matched; the first in list order is answered"),
  more: z.array(z.strictObject(VALUES)).optional().describe("with series or metrics: the others"),
});

/** Values of a series as they are answered. */
export type SeriesData = z.output<typeof SERIES_DATA>;

/** A stored record; of a metric its name, value and time. */
const STORED_RECORD = z
  .looseObject({
    ...RECORD,
    environment: z.string(),
    record_id: z.string().optional(),
    received_at: TIMESTAMP.optional(),
  })
  .meta({ id: "StoredRecord" });

/** A page of records. */
export const RECORD_LIST = z.strictObject({
  records: z.array(STORED_RECORD),
  total: COUNT,
  total_relation: TOTAL_RELATION,
  page_token: NEXT_PAGE,
});

/** Calls from one service to another. */
export const CALL_EDGE = z.strictObject({
  caller: z.string(),
  callee: z.string(),
  environment: z.string(),
  minute: TIMESTAMP.optional().describe("with resolution=1m"),
  calls: COUNT,
  errors: COUNT,
  duration_ms: z.number().describe("sum over the calls"),
});

/** Who calls whom. */
export const CALL_GRAPH = z.strictObject({ edges: z.array(CALL_EDGE), since: TIMESTAMP, until: TIMESTAMP, complete: z.boolean() });
