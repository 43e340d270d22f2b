import { z } from "zod";
import { SATURATION_NAMES_BYTES_MAX, UNIT_CHARACTERS_MAX } from "../../core/config/declaration-limits.ts";
import { declared } from "../declared.ts";
import { choiceParameter, environmentParameter, textParameter, timeField } from "../parameters.ts";
import { nameField, optionalName } from "../shapes/name.ts";
import { ATTRIBUTES, COUNT, EXAMPLE_TIME, NEXT_PAGE, TIMESTAMP } from "../shapes/scalars.ts";
import { PAGE } from "./query-shapes.ts";

const unitField = () =>
  optionalName().max(UNIT_CHARACTERS_MAX, `may have ${UNIT_CHARACTERS_MAX} characters`).meta({ maxLength: UNIT_CHARACTERS_MAX });
const LIMIT = z.strictObject({
  service_id: z.string().nullable(),
  metric: z.string(),
  limit_value: z.number().positive(),
  unit: z.string(),
  updated_at: TIMESTAMP,
});
const BODY = z
  .strictObject({
    service_id: nameField().nullish(),
    metric: nameField(),
    limit_value: z
      .number()
      .refine((value) => Number.isFinite(value) && value > 0, "must be a finite number above 0")
      .meta({ exclusiveMinimum: 0 }),
    unit: unitField().default(""),
    updated_at: timeField().optional().describe("as listed, so that a listed limit can be put back; the write sets its own time"),
  })
  .refine(
    ({ service_id, metric }) => Buffer.byteLength(service_id ?? "") + Buffer.byteLength(metric) <= SATURATION_NAMES_BYTES_MAX,
    `service_id and metric may have ${SATURATION_NAMES_BYTES_MAX} bytes together`,
  );

const LIMIT_EXAMPLE = {
  service_id: "checkout",
  metric: "heap_used_bytes",
  limit_value: 2_147_483_648,
  unit: "bytes",
  updated_at: EXAMPLE_TIME,
};

const FIRE = z.strictObject({
  fire_id: z.string(),
  state: z.enum(["firing", "resolved"]),
  service_id: z.string(),
  environment: z.string(),
  metric_name: z.string(),
  attributes: ATTRIBUTES,
  instance: z.string().nullable().describe("null for the pair as a whole"),
  tier: z.enum(["low", "medium", "high"]),
  rule: z.enum(["time_to_exhaustion", "headroom_breach", "resident_high"]),
  kind: z.enum(["utilization", "remaining"]),
  value: z.number(),
  limit: z.number().describe("what it runs into: the capacity of a utilization, 0 of what remains"),
  unit: z.string(),
  headroom: z.number().describe("what is left before the limit, in the same unit"),
  projected_at: TIMESTAMP.nullable().describe("when the limit is reached; null where only the level tells"),
  started_at: TIMESTAMP,
  updated_at: TIMESTAMP,
  resolved_at: TIMESTAMP.nullable(),
  explanation: z.string(),
});
const FIRE_EXAMPLE = {
  fire_id: "3b1f0c5a9d2e47f6a8b0c1d2e3f40516",
  state: "firing",
  service_id: "checkout",
  environment: "production",
  metric_name: "disk.used_percent",
  attributes: { "host.name": "node-3" },
  instance: "node-3",
  tier: "medium",
  rule: "time_to_exhaustion",
  kind: "utilization",
  value: 87.2,
  limit: 100,
  unit: "%",
  headroom: 12.8,
  projected_at: "2026-01-31T16:06:00.000Z",
  started_at: EXAMPLE_TIME,
  updated_at: EXAMPLE_TIME,
  resolved_at: null,
  explanation:
    "disk.used_percent on node-3 is 87.2% of 100%; rising 3.1%/h (2.7 to 3.6), projected full at 2026-01-31 16:06:00 UTC (in 4.1 h, range 3.6 h to 4.7 h)",
} as const;

/** Endpoints of saturation: limits of metrics, and what runs full. */
export const SATURATION_ENDPOINTS = declared([
  {
    name: "declareLimit",
    method: "PUT",
    path: "/api/v1/saturation/limits",
    access: "operator",
    body: BODY,
    responses: { 200: LIMIT, 201: LIMIT },
    errors: ["unprocessable"],
    examples: {
      body: { service_id: "checkout", metric: "heap_used_bytes", limit_value: 2147483648, unit: "bytes" },
      response: LIMIT_EXAMPLE,
    },
    summary: "Declares the limit of a metric: of one service, or without service_id of all that emit it",
  },
  {
    name: "limits",
    method: "GET",
    path: "/api/v1/saturation/limits",
    access: "viewer",
    query: z.strictObject({ service: textParameter("service").optional(), metric: textParameter("metric").optional(), ...PAGE }),
    responses: { 200: z.strictObject({ limits: z.array(LIMIT), total: COUNT, page_token: NEXT_PAGE }) },
    examples: { response: { limits: [LIMIT_EXAMPLE], total: 1, page_token: "" } },
    summary: "Declared limits by metric, the tenant-wide one ahead of those of services",
  },
  {
    name: "deleteLimit",
    method: "DELETE",
    path: "/api/v1/saturation/limits",
    access: "operator",
    query: z.strictObject({ service: textParameter("service").optional(), metric: textParameter("metric") }),
    responses: { 204: null },
    errors: ["not_found"],
    summary: "Removes a declaration: of a service, or without service the tenant-wide one",
  },
  {
    name: "saturationFires",
    method: "GET",
    path: "/api/v1/saturation/fires",
    access: "viewer",
    query: z.strictObject({
      service_id: textParameter("service_id").optional(),
      environment: environmentParameter().optional(),
      state: choiceParameter("state", ["firing", "resolved"]).optional(),
      ...PAGE,
    }),
    responses: { 200: z.strictObject({ fires: z.array(FIRE), total: COUNT, page_token: NEXT_PAGE }) },
    examples: { response: { fires: [FIRE_EXAMPLE], total: 1, page_token: "" } },
    summary: "What runs full, or did lately: value, limit and projected time; those that are open first",
  },
]);
