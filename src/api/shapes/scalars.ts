// Values that many answers hold.
import { z } from "zod";
import { RECORD_TYPES } from "../../core/layout/counters.ts";
import { parseRfc3339 } from "../../core/time/rfc3339.ts";

/** A moment. */
export const TIMESTAMP = z
  .string()
  .refine((text) => parseRfc3339(text) !== undefined, "must be RFC 3339")
  .meta({ format: "date-time" });

/** Number of items, at least 0. */
export const COUNT = z.int().min(0);

/** Token of a list's next page: empty on the last page. */
export const NEXT_PAGE = z.string().describe("page_token of the next page; empty on the last");

/** Whether `total` is the number itself or where counting ended. */
export const TOTAL_RELATION = z.enum(["eq", "gte"]).describe("gte: there are at least so many; counting ended there");

/** Attributes as they came. */
export const ATTRIBUTES = z.record(z.string(), z.unknown());

/** Members of a record, as it is sent and stored; of a metric its name and value. */
export const RECORD = {
  service_id: z.string(),
  type: z.enum(RECORD_TYPES),
  metric_name: z.string().optional(),
  value: z.number().optional(),
  body: z.string().optional(),
  trace_id: z.string().optional(),
  timestamp: TIMESTAMP,
  attributes: ATTRIBUTES,
};

/** Names and how many of each. */
export const COUNTS = z.record(z.string(), COUNT);

export const EXAMPLE_TIME = "2026-01-31T12:00:00.000Z";

const BY_SEVERITY = { low: COUNT, medium: COUNT, high: COUNT };
/** Counts of matches, by severity and by time. */
export const SEVERITY_COUNTS = z
  .strictObject({ ...BY_SEVERITY, buckets: z.array(z.strictObject({ start: TIMESTAMP, ...BY_SEVERITY })) })
  .describe("only with buckets");
