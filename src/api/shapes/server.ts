// What the server says of itself (contract 4.1 and 4.2).
import { z } from "zod";
import { COUNT, TIMESTAMP } from "./scalars.ts";

/** /healthz. */
export const HEALTH = z.strictObject({
  status: z.string(),
  version: z.string(),
  uptime_seconds: COUNT,
  store: z.string(),
  queue: z.string(),
});

/** /readyz once it serves. */
export const READY = z.strictObject({ status: z.literal("ready") });
/** /readyz before, with 503. */
export const STARTING = z.strictObject({ status: z.literal("starting"), message: z.string() });

const LISTENER = z.strictObject({ state: z.enum(["closed", "listening", "unavailable"]), port: COUNT });

/** /api/v1/status. */
export const STATUS = z
  .strictObject({
    status: z.enum(["ok", "starting", "degraded"]),
    version: z.string(),
    components: z.strictObject({
      watchdog: z.string(),
      vectorizer: z.string(),
      rca: z.string(),
      llm: z.string(),
      store: z.string(),
    }),
    watchdog: z.strictObject({ last_run: TIMESTAMP, metrics_monitored: COUNT, anomalies_last_hour: COUNT }),
    engines: z.array(
      z.strictObject({
        engine: COUNT,
        state: z.enum(["ok", "unavailable"]),
        series: COUNT.nullable().describe("streams of the tenant; null where the engine does not answer"),
      }),
    ),
    listeners: z.record(z.string(), LISTENER),
    queues: z.strictObject({ frames_waiting: COUNT, queries_waiting: COUNT }),
  })
  .meta({ id: "Status" });

/** The document itself. */
export const OPENAPI_DOCUMENT = z.looseObject({ openapi: z.string(), info: z.unknown(), paths: z.unknown(), components: z.unknown() });
