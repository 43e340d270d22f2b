// How objects are stored whose types are those of core and domain.
import type { Attributes, DeadLetterEnvelope, LogMark, StreamName } from "../../core/protocol/coordinator-frame.ts";
import type { Episode } from "../../domain/anomaly/anomaly.ts";
import {
  anything,
  type FieldCheck,
  flag,
  list,
  type MemberChecks,
  nullable,
  number,
  optional,
  pair,
  record,
  StoredForm,
  text,
} from "./stored-json.ts";

/** Members of a stream's name. */
export const STREAM_NAME_CHECKS: MemberChecks<StreamName> = {
  tenant: text,
  environment: text,
  serviceId: text,
  metricName: text,
  attributes: record(anything) as FieldCheck<Attributes>,
};

export const LOG_MARK = new StoredForm<LogMark>("lane_marks", { epoch: number, lane: number, segment: number, offset: number });

export const EPISODE = new StoredForm<Episode>("episodes", { tenant: text, anomalyId: text, detectedAtMs: number, open: flag });

export const DEAD_LETTER = new StoredForm<DeadLetterEnvelope>("dead_letters", {
  tenant: text,
  id: text,
  reason: text,
  field: nullable(text),
  message: text,
  topic: text,
  receivedMs: number,
  payload: anything,
  count: optional(number),
  places: optional(list(pair(number, number))),
  anonymous: optional(flag),
  correctedMs: optional(number),
});
