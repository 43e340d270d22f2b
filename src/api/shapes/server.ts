// What the server says of itself (contract 4.1 and 4.2).
import { z } from "zod";
import { DRILL_RESULT } from "./notification.ts";
import { COUNT, COUNTS, TIMESTAMP } from "./scalars.ts";

/** Count over all tenants together. */
const WHOLE_COUNT = COUNT.nullable().describe(
  "of the whole server: null for those who may see one of several tenants; coverage reports their own",
);

/** /healthz. */
export const HEALTH = z.strictObject({
  status: z.enum(["ok", "degraded"]).describe("degraded: writes are refused, or data is damaged and no operator has acknowledged it"),
  version: z.string(),
  uptime_seconds: COUNT,
  store: z.enum(["ok", "read_only"]),
  log: z.enum(["ok", "read_only"]).describe("read_only: the last write of telemetry found no room on the disk"),
  queue: z.enum(["ok", "full"]),
  data: z
    .enum(["ok", "unchecked", "damaged"])
    .describe(
      "damaged: something that was stored cannot be read; GET /api/v1/data-faults says what. unchecked: a large store is still being looked through",
    ),
});

/** /readyz once it serves. */
export const READY = z.strictObject({ status: z.literal("ready") });
/** /readyz with 503. */
export const NOT_READY = z.strictObject({
  status: z.enum(["starting", "refusing_writes"]).describe("refusing_writes: the disk is full; queries are answered"),
  message: z.string(),
});

/** A fault of the data folder. */
export const DATA_FAULT = z.strictObject({
  id: z.string().describe("what is at fault, and where"),
  kind: z.enum(["log_damaged", "data_missing", "store_damaged", "set_aside"]),
  what: z.string().describe("what is lost as far as it is known, and where the bytes are kept"),
  since: TIMESTAMP,
  acknowledged_by: z.string().nullable(),
  acknowledged_at: TIMESTAMP.nullable(),
});

const LISTENER = z.strictObject({ state: z.enum(["closed", "listening", "unavailable"]), port: COUNT });

/** /api/v1/status. */
export const STATUS = z
  .strictObject({
    status: z.enum(["ok", "starting", "degraded"]),
    version: z.string(),
    ingest_auth: z.enum(["optional", "required"]).describe("whether senders of telemetry need a key"),
    components: z.strictObject({
      watchdog: z
        .enum(["ok", "starting", "degraded", "stalled", "behind"])
        .describe(
          "degraded: an engine does not answer; stalled: nothing was taken in time; behind: no cycle has come to its end for two intervals",
        ),
      vectorizer: z.enum(["ok", "idle", "behind", "disabled"]),
      rca: z.enum(["ok", "behind", "disabled"]),
      llm: z.enum(["ok", "disabled"]),
      store: z.enum(["ok", "read_only"]),
      notifier: z
        .enum(["ok", "degraded", "disabled"])
        .describe("disabled: no channel is configured; degraded: what was to be told could not be, or the thread that tells has ended"),
      drill: z.enum(["ok", "failed", "disabled"]).describe("of the tenant's last fire drill; disabled: there was none"),
      data: z.enum(["ok", "damaged"]).describe("damaged: there are faults of the data folder that no operator has acknowledged"),
    }),
    detection: z
      .strictObject({ count: COUNT, p50_ms: z.number().min(0).nullable(), p99_ms: z.number().min(0).nullable() })
      .describe("from the arrival of a sample to its stored anomaly, since the start; null before the first"),
    watchdog: z.strictObject({
      last_run: TIMESTAMP.describe("end of the last cycle; before the first, the last look at what the engines have found"),
      metrics_monitored: COUNT.describe("streams of the tenant in memory, each judged with every sample"),
      anomalies_last_hour: COUNT,
      mode: z.enum(["streaming"]).describe("streaming: every sample is judged as it arrives; cycles look at what takes more than a sample"),
      layers: z.array(z.string()).describe("detection layers that run: statistical on every sample, others once a cycle"),
      lag_seconds: z.number().min(0).describe("since the last look at what the engines have found"),
      cycles: COUNT.describe("since the start"),
      failed_cycles: COUNT,
      duration_ms: z.number().min(0).describe("of the last cycle"),
      passes: z.array(
        z.strictObject({
          pass: z.string(),
          last_run: TIMESTAMP,
          work_ms: z.number().min(0),
          evaluated: WHOLE_COUNT,
          learning: WHOLE_COUNT,
          skipped: COUNTS.nullable().describe("by reason; as evaluated"),
        }),
      ),
    }),
    vectorizer: z.strictObject({
      last_run: TIMESTAMP.nullable(),
      duration_ms: z.number(),
      work_ms: z.number(),
      services: WHOLE_COUNT,
      services_evaluated: WHOLE_COUNT,
      streams: WHOLE_COUNT,
      pillar_values: WHOLE_COUNT,
    }),
    notifier: z.strictObject({
      reasons: z.array(z.string()).describe("what is to be known of it, in words"),
      waiting: WHOLE_COUNT.describe("messages that are stored and have not arrived"),
      configured: z.boolean().describe("whether any channel is; where none is, nobody is told"),
      failing: z
        .array(z.strictObject({ channel: z.string(), since: TIMESTAMP, error: z.string().nullable() }))
        .describe("channels of the tenant that have taken nothing for five minutes"),
    }),
    drill: DRILL_RESULT.nullable().describe("the tenant's last fire drill"),
    sandbox: z.strictObject({
      walls: z
        .strictObject({
          interpreter: z.boolean(),
          process: z.boolean().describe("limits of memory, files and processes, and an empty environment"),
          kernel: z.boolean().describe("a filter of system calls"),
          namespaces: z.boolean().describe("by bubblewrap, where it is found"),
        })
        .nullable()
        .describe("around programs of tenants; null before the first process of the server"),
      missing: z.string().nullable().describe("why a wall does not stand"),
      languages: z.array(z.string()).nullable().describe("that transforms may be written in"),
      processes: WHOLE_COUNT.describe("the spare one too"),
      waiting: WHOLE_COUNT.describe("events that wait for a process"),
    }),
    store: z.strictObject({
      state: z.enum(["ok", "read_only"]),
      reason: z.enum(["write_failed", "disk_limit"]).nullable().describe("why writes are refused"),
      error_code: z.string().nullable().describe("of the write that failed, such as ENOSPC"),
      used_bytes: COUNT,
      log_bytes: COUNT,
      free_bytes: COUNT,
      limit_bytes: COUNT.nullable().describe("DISK_LIMIT_GIB"),
      fill: z.number().min(0).nullable().describe("of the limit, or of the data and the free disk together"),
    }),
    engines: z.array(
      z.strictObject({
        engine: COUNT,
        state: z.enum(["ok", "unavailable"]),
        series: COUNT.nullable().describe("streams of the tenant; null where the engine does not answer"),
      }),
    ),
    listeners: z.record(z.string(), LISTENER),
    shared_limits: z
      .array(z.strictObject({ tenant_id: z.string(), limit: z.string(), held: COUNT, refused_total: COUNT }))
      .nullable()
      .describe(
        "tenants that were refused places of a limit that all share, those refused most first; null for those who may see one of several tenants, whose own are in coverage",
      ),
    queues: z.strictObject({ frames_waiting: COUNT, queries_waiting: COUNT }),
    versions: z.strictObject({ vedette: z.string(), node: z.string() }),
  })
  .meta({ id: "Status" });

/** The document itself. */
export const OPENAPI_DOCUMENT = z.looseObject({ openapi: z.string(), info: z.unknown(), paths: z.unknown(), components: z.unknown() });
