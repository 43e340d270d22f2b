// What an event of /api/v1/stream holds in `data`, by its name.
import type { z } from "zod";
import type { StreamEvents } from "../../core/protocol/query.ts";
import { ALERT } from "./alert.ts";
import { ANOMALY } from "./anomaly.ts";

export const STREAM_EVENTS: Readonly<Record<StreamEvents["events"][number]["event"], z.ZodType>> = { anomaly: ANOMALY, alert: ALERT };
