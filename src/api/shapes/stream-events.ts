// What an event of /api/v1/stream holds in `data`, by its name.
import { z } from "zod";
import type { StreamEventName } from "../../core/protocol/query.ts";
import { ALERT } from "./alert.ts";
import { ANOMALY } from "./anomaly.ts";
import { COUNT } from "./scalars.ts";
import { STATUS } from "./server.ts";

/** Work that goes on in the background, when it begins, moves on and ends. */
export const JOB_EVENT = z
  .strictObject({
    job_id: z.string(),
    kind: z.enum(["dlq_replay", "training"]),
    state: z.enum(["running", "done", "failed"]),
    done: COUNT.describe("of `total`, so far"),
    total: COUNT.nullable().describe("null where it is not known"),
  })
  .meta({ id: "JobEvent" });

export type JobEvent = z.output<typeof JOB_EVENT>;

const { watchdog, vectorizer, rca, store, data } = STATUS.shape.components.shape;

/** The state of the server's parts that all tenants share, whenever it changes. */
export const STATUS_EVENT = z
  .strictObject({ status: STATUS.shape.status, components: z.strictObject({ watchdog, vectorizer, rca, store, data }) })
  .meta({ id: "StatusEvent" });

export type StatusEvent = z.output<typeof STATUS_EVENT>;

export const STREAM_EVENTS: Readonly<Record<StreamEventName, z.ZodType>> = {
  anomaly: ANOMALY,
  alert: ALERT,
  job: JOB_EVENT,
  status: STATUS_EVENT,
};
