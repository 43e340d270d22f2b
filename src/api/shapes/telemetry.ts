// What comes in, and what is said of it (contract 2.1 and 4.1).
import { z } from "zod";
import { BATCH_RECORDS_MAX, LOG_BODY_BYTES_MAX, NAME_BYTES_MAX } from "../../core/config/limits.ts";
import { RECORD_TYPES } from "../../core/layout/counters.ts";
import { ATTRIBUTES, COUNT, EXAMPLE_TIME, TIMESTAMP } from "./scalars.ts";

const NAME = z.string().min(1).max(NAME_BYTES_MAX);

/** A telemetry record as senders write it. The kernel and domain/series/telemetry-record.ts judge it; a test compares them with this. */
export const TELEMETRY_RECORD = z
  .looseObject({
    service_id: NAME,
    type: z.enum(RECORD_TYPES).default("metric"),
    metric_name: NAME.optional().describe("needed by metric, trace, slo and profile"),
    value: z.number().optional().describe("needed by metric, trace, slo and profile; finite"),
    body: z.string().max(LOG_BODY_BYTES_MAX).optional().describe("needed by log and event"),
    trace_id: z.string().optional(),
    timestamp: TIMESTAMP.describe("at most 24 h in the past and 10 minutes in the future"),
    attributes: ATTRIBUTES.optional().describe("at most 64; metric_type counter makes a cumulative counter of the value"),
  })
  .meta({ id: "TelemetryRecord" });

/** Many records. */
export const TELEMETRY_BATCH = z.array(TELEMETRY_RECORD).max(BATCH_RECORDS_MAX);

/** The answer to one record. */
export const QUEUED = z.strictObject({ status: z.literal("ok"), queued: COUNT });

const FAILURE = z.strictObject({
  index: COUNT.describe("place in the array, from 0"),
  error: z.string(),
  message: z.string(),
  field: z.string().optional(),
});

/** The answer to a batch. */
export const BATCH_QUEUED = z.strictObject({
  status: z.enum(["ok", "partial"]),
  queued: COUNT,
  failed: COUNT,
  failures: z.array(FAILURE),
});

/** The answer to an import. */
export const IMPORTED = z.strictObject({
  status: z.enum(["ok", "partial"]),
  imported: COUNT,
  series: COUNT,
  failed: COUNT,
  failures: z.array(z.strictObject({ at: z.string(), error: z.string(), message: z.string() })),
});

/** Export*ServiceResponse in JSON: which member counts depends on the signal. */
export const OTLP_EXPORTED = z.strictObject({
  partialSuccess: z
    .strictObject({
      rejectedDataPoints: z.string().optional(),
      rejectedSpans: z.string().optional(),
      rejectedLogRecords: z.string().optional(),
      errorMessage: z.string(),
    })
    .optional(),
});

/** google.rpc.Status in JSON. */
export const RPC_STATUS = z.strictObject({ code: z.int(), message: z.string() }).meta({ id: "RpcStatus" });

export const TELEMETRY_TYPES = z.strictObject({ types: z.array(z.enum(RECORD_TYPES)), default: z.enum(RECORD_TYPES) });

/** For the documentation. */
export const RECORD_EXAMPLE = {
  service_id: "checkout",
  metric_name: "request.duration_ms",
  value: 182.5,
  timestamp: EXAMPLE_TIME,
  attributes: { route: "/pay", environment: "production" },
};
