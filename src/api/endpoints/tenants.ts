import { z } from "zod";
import { NAME_BYTES_MAX } from "../../core/config/limits.ts";
import { RECORD_TYPES } from "../../core/layout/counters.ts";
import { PLANS } from "../../domain/access/plans.ts";
import { flawText, nameFlaw } from "../../domain/series/name-rule.ts";
import { declared } from "../declared.ts";
import { monthParameter } from "../parameters.ts";
import { COUNT, EXAMPLE_TIME, TIMESTAMP } from "../shapes/scalars.ts";
import { PAGE } from "./query-shapes.ts";

/** Letters, digits and . _ - , the first one a letter or digit. */
const TENANT_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;
/** Requirements of an id, for messages. */
const TENANT_ID_RULE = "must have 1 to 63 letters, digits, dots, underscores or hyphens, and begin with a letter or digit";

/** Longest address that mail is delivered to (RFC 5321, 4.5.3.1.3). */
const EMAIL_CHARACTERS_MAX = 254;

const NAME = z
  .string()
  .trim()
  .min(1, "must not be empty")
  .max(NAME_BYTES_MAX)
  .refine((text) => nameFlaw(text) === undefined, flawText("control_character"));
const PLAN = z.enum(PLANS, `must be one of ${PLANS.join(", ")}`);
const CONTACT = z.email("must be an address such as ops@example.com").max(EMAIL_CHARACTERS_MAX);

const TENANT = { tenant_id: z.string(), name: z.string(), plan: PLAN, created_at: TIMESTAMP };
const STORED_TENANT = z.strictObject({ ...TENANT, contact_email: z.string().nullable() });

const TENANT_EXAMPLE = { tenant_id: "acme", name: "Acme Corp", plan: "starter", created_at: EXAMPLE_TIME };
const USAGE_EXAMPLE = {
  period: { month: "2026-01", start: "2026-01-01T00:00:00.000Z", end: "2026-02-01T00:00:00.000Z" },
  total_events: 1_250_000,
  tenants: [
    {
      tenant_id: "acme",
      name: "Acme Corp",
      plan: "starter",
      events: 1_250_000,
      by_type: { metric: 1_200_000, log: 50_000, trace: 0, event: 0, profile: 0, slo: 0 },
    },
  ],
  total: 1,
  complete: true,
  page_token: "",
};

/** Who shares the server, and what each has sent. */
export const TENANTS_ENDPOINTS = declared([
  {
    name: "createTenant",
    method: "POST",
    path: "/api/v1/tenants",
    access: "super_admin",
    body: z.strictObject({
      tenant_id: z.string().regex(TENANT_ID, TENANT_ID_RULE),
      name: NAME,
      plan: PLAN.default("free"),
      contact_email: CONTACT.optional(),
    }),
    responses: { 201: STORED_TENANT },
    errors: ["conflict", "unprocessable"],
    examples: {
      body: { tenant_id: "acme", name: "Acme Corp", plan: "starter", contact_email: "ops@example.com" },
      response: { ...TENANT_EXAMPLE, contact_email: "ops@example.com" },
    },
    summary: "Adds a tenant",
  },
  {
    name: "tenants",
    method: "GET",
    path: "/api/v1/tenants",
    access: "super_admin",
    query: z.strictObject(PAGE),
    responses: {
      200: z.strictObject({
        tenants: z.array(z.strictObject({ ...TENANT, events_this_month: COUNT })),
        total: COUNT,
        page_token: z.string(),
      }),
    },
    examples: { response: { tenants: [{ ...TENANT_EXAMPLE, events_this_month: 1_250_000 }], total: 1, page_token: "" } },
    summary: "Tenants with their events of this month",
  },
  {
    name: "changeTenant",
    method: "PATCH",
    path: "/api/v1/tenants/{id}",
    access: "super_admin",
    body: z.strictObject({ name: NAME.optional(), plan: PLAN.optional(), contact_email: CONTACT.nullable().optional() }),
    responses: { 200: STORED_TENANT },
    parameters: { id: "tenant_id of the tenant" },
    examples: { body: { plan: "pro" }, response: { ...TENANT_EXAMPLE, plan: "pro", contact_email: null } },
    summary: "Changes a tenant's name, plan or contact, at once",
  },
  {
    name: "billingUsage",
    method: "GET",
    path: "/api/v1/billing/usage",
    access: "super_admin",
    query: z.strictObject({ month: monthParameter("month").optional(), ...PAGE }),
    responses: {
      200: z.strictObject({
        period: z.strictObject({ month: z.string(), start: TIMESTAMP, end: TIMESTAMP }),
        total_events: COUNT,
        tenants: z.array(
          z.strictObject({
            tenant_id: z.string(),
            name: z.string(),
            plan: PLAN,
            events: COUNT,
            by_type: z.record(z.enum(RECORD_TYPES), COUNT),
          }),
        ),
        total: COUNT,
        complete: z.boolean(),
        page_token: z.string(),
      }),
    },
    examples: { response: USAGE_EXAMPLE },
    summary: "Accepted events by tenant in a calendar month",
  },
]);
