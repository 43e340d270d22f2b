// The service pillar map and the scores of what services are mapped to.
import { z } from "zod";
import {
  CUSTOM_KEY_BYTES_MAX,
  CUSTOM_KEYS_MAX,
  PILLAR_VALUE_BYTES_MAX,
  SERVICE_MAP_BODY_BYTES_MAX,
  SERVICE_MAP_ENTRIES_MAX,
  SERVICE_MAP_PAGE_ROWS,
} from "../../core/config/declaration-limits.ts";
import { PAGE_ROWS_MAX } from "../../core/config/limits.ts";
import { declared } from "../declared.ts";
import { limitParameter, numberParameter, pageTokenParameter, textParameter } from "../parameters.ts";
import { nameField, optionalName } from "../shapes/name.ts";

/** zod would leave this name out without a word. */
const KEY_LEFT_OUT = "__proto__";

const CUSTOM_KEYS = z
  .preprocess(
    (input, context) => {
      if (typeof input === "object" && input !== null && Object.hasOwn(input, KEY_LEFT_OUT))
        context.issues.push({ code: "custom", input: input, message: `no key may be named ${KEY_LEFT_OUT}; choose another name` });
      return input;
    },
    z.record(nameField(CUSTOM_KEY_BYTES_MAX), optionalName(PILLAR_VALUE_BYTES_MAX)),
  )
  .refine((keys) => Object.keys(keys).length <= CUSTOM_KEYS_MAX, `may have ${CUSTOM_KEYS_MAX} keys at most; leave some out`)
  .meta({
    type: "object",
    propertyNames: { type: "string", minLength: 1, maxLength: CUSTOM_KEY_BYTES_MAX },
    additionalProperties: { type: "string", maxLength: PILLAR_VALUE_BYTES_MAX },
    maxProperties: CUSTOM_KEYS_MAX,
  });

const ENTRY = z.strictObject({
  service_id: nameField(),
  tenant_id: optionalName(PILLAR_VALUE_BYTES_MAX).optional(),
  product_id: optionalName(PILLAR_VALUE_BYTES_MAX).optional(),
  custom_keys: CUSTOM_KEYS.optional(),
});

const WHOLE = z.int().min(0);
const DEVIATIONS = z.strictObject({
  rate: z.number().nullable(),
  errors: z.number().nullable(),
  latency: z.number().nullable(),
  saturation: z.number().nullable(),
});

const SCORE = z.strictObject({
  pillar: z.string(),
  value: z.string(),
  score: z.number().min(0).max(1).nullable(),
  p_value: z.number().min(0).max(1).nullable(),
  magnitude: z.number().min(0),
  deviations: DEVIATIONS,
  members: WHOLE,
  evaluated: WHOLE,
  drivers: z.array(z.strictObject({ service_id: z.string(), contribution: z.number(), deviations: DEVIATIONS })),
  maturity: z.enum(["young", "settling", "mature"]),
  history_minutes: WHOLE,
  updated_at: z.string().nullable(),
});

const MAP_EXAMPLE = { service_id: "checkout", tenant_id: "acme", product_id: "shop", custom_keys: { region: "eu-west-1" } };
const DEVIATIONS_EXAMPLE = { rate: 0.4, errors: 6.1, latency: 3.8, saturation: null };
const SCORE_EXAMPLE = {
  pillar: "product",
  value: "shop",
  score: 0.97,
  p_value: 0.03,
  magnitude: 5.2,
  deviations: DEVIATIONS_EXAMPLE,
  members: 12,
  evaluated: 11,
  drivers: [{ service_id: "checkout", contribution: 0.71, deviations: DEVIATIONS_EXAMPLE }],
  maturity: "mature",
  history_minutes: 10_080,
  updated_at: "2026-01-31T12:00:00.000Z",
};

/** Which tenant, product and custom dimensions services belong to, and how these do. */
export const PILLARS_ENDPOINTS = declared([
  {
    name: "setServiceMap",
    method: "PUT",
    path: "/api/v1/pillars/service-map",
    access: "operator",
    isPatient: true,
    query: z.strictObject({}),
    body: z.strictObject({
      entries: z
        .array(ENTRY)
        .max(SERVICE_MAP_ENTRIES_MAX, `one request may have ${SERVICE_MAP_ENTRIES_MAX} entries; send the rest in further requests`),
    }),
    bodyBytesMax: SERVICE_MAP_BODY_BYTES_MAX,
    responses: { 200: z.strictObject({ status: z.literal("ok"), upserted: WHOLE, created: WHOLE, updated: WHOLE, unchanged: WHOLE }) },
    errors: ["unprocessable"],
    examples: {
      body: { entries: [{ service_id: "checkout", tenant_id: "acme", product_id: "shop", custom_keys: { region: "eu-west-1" } }] },
      response: { status: "ok", upserted: 1, created: 1, updated: 0, unchanged: 0 },
    },
    summary: "Maps services to tenant, product and custom keys; the last entry of a service wins, an empty text is not mapped",
  },
  {
    name: "serviceMap",
    method: "GET",
    path: "/api/v1/pillars/service-map",
    access: "viewer",
    query: z.strictObject({ limit: limitParameter(SERVICE_MAP_PAGE_ROWS, PAGE_ROWS_MAX), page_token: pageTokenParameter() }),
    responses: {
      200: z.strictObject({
        entries: z.array(
          z.strictObject({
            service_id: z.string(),
            tenant_id: z.string(),
            product_id: z.string(),
            custom_keys: z.record(z.string(), z.string()),
          }),
        ),
        total: WHOLE,
        page_token: z.string(),
      }),
    },
    examples: { response: { entries: [MAP_EXAMPLE], total: 1, page_token: "" } },
    summary: "The service pillar map, by service_id",
  },
  {
    name: "pillarScores",
    method: "GET",
    path: "/api/v1/pillars/scores",
    access: "viewer",
    query: z.strictObject({
      pillar: textParameter("pillar").optional(),
      value: textParameter("value").optional(),
      min_score: numberParameter("min_score", 0, 1).optional(),
      limit: limitParameter(SERVICE_MAP_PAGE_ROWS, PAGE_ROWS_MAX),
      page_token: pageTokenParameter(),
    }),
    responses: { 200: z.strictObject({ scores: z.array(SCORE), total: WHOLE, page_token: z.string() }) },
    examples: { response: { scores: [SCORE_EXAMPLE], total: 1, page_token: "" } },
    summary: "How unusual each tenant, product and custom dimension behaves against its own seven days, and the services that drive it",
  },
]);
