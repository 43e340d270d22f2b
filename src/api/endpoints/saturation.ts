import { z } from "zod";
import { NAME_BYTES_MAX, SATURATION_NAMES_BYTES_MAX, UNIT_CHARACTERS_MAX } from "../../core/config/limits.ts";
import { isLabelText } from "../../domain/labels/service-label.ts";
import type { Endpoint } from "../endpoint.ts";
import { textParameter } from "../parameters.ts";
import { COUNT, EXAMPLE_TIME, NEXT_PAGE, TIMESTAMP } from "../shapes/scalars.ts";
import { NO_QUERY, PAGE } from "./query-shapes.ts";

const nameField = () =>
  z
    .string()
    .refine(isLabelText, `must have 1 to ${NAME_BYTES_MAX} bytes and no control characters`)
    .meta({ minLength: 1, maxLength: NAME_BYTES_MAX });
const unitField = () =>
  z
    .string()
    .refine(
      (unit) => unit === "" || (isLabelText(unit) && unit.length <= UNIT_CHARACTERS_MAX),
      `may have ${UNIT_CHARACTERS_MAX} characters`,
    )
    .meta({ maxLength: UNIT_CHARACTERS_MAX });
const LIMIT = z.strictObject({
  service_id: z.string().nullable(),
  metric: z.string(),
  limit_value: z.number().positive(),
  unit: z.string(),
  updated_at: TIMESTAMP,
});
const BODY = z
  .strictObject({
    service_id: nameField().optional(),
    metric: nameField(),
    limit_value: z
      .number()
      .refine((value) => Number.isFinite(value) && value > 0, "must be a finite number above 0")
      .meta({ exclusiveMinimum: 0 }),
    unit: unitField().default(""),
  })
  .refine(
    ({ service_id = "", metric }) => Buffer.byteLength(service_id) + Buffer.byteLength(metric) <= SATURATION_NAMES_BYTES_MAX,
    `service_id and metric may have ${SATURATION_NAMES_BYTES_MAX} bytes together`,
  );

const LIMIT_EXAMPLE = {
  service_id: "checkout",
  metric: "heap_used_bytes",
  limit_value: 2_147_483_648,
  unit: "bytes",
  updated_at: EXAMPLE_TIME,
};

/** What a metric can rise to before the service is full. */
export const SATURATION_ENDPOINTS = [
  {
    name: "declareLimit",
    method: "PUT",
    path: "/api/v1/saturation/limits",
    access: "operator",
    handledBy: "coordinator",
    query: NO_QUERY,
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
    handledBy: "coordinator",
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
    handledBy: "coordinator",
    query: z.strictObject({ service: textParameter("service").optional(), metric: textParameter("metric") }),
    responses: { 204: null },
    errors: ["not_found"],
    summary: "Removes a declaration: of a service, or without service the tenant-wide one",
  },
] as const satisfies readonly Endpoint[];
