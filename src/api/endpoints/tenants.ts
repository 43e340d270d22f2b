import { z } from "zod";
import { NAME_BYTES_MAX } from "../../core/config/limits.ts";
import { RECORD_TYPES } from "../../core/layout/counters.ts";
import { PLANS } from "../../domain/access/plans.ts";
import { TENANT_ID, TENANT_ID_RULE } from "../../domain/access/tenant-id.ts";
import type { Endpoint } from "../endpoint.ts";
import { monthParameter } from "../parameters.ts";
import { NO_QUERY, PAGE } from "./query-shapes.ts";

/** Longest address that mail is delivered to (RFC 5321, 4.5.3.1.3). */
const EMAIL_CHARACTERS_MAX = 254;

const NAME = z.string().trim().min(1, "must not be empty").max(NAME_BYTES_MAX);
const PLAN = z.enum(PLANS, `must be one of ${PLANS.join(", ")}`);
const CONTACT = z.email("must be an address such as ops@example.com").max(EMAIL_CHARACTERS_MAX);

const TENANT = { tenant_id: z.string(), name: z.string(), plan: PLAN, created_at: z.iso.datetime() };
const COUNT = z.number().int().min(0);

/** Who shares the server, and what each has sent. */
export const TENANTS_ENDPOINTS = [
  {
    name: "createTenant",
    method: "POST",
    path: "/api/v1/tenants",
    access: "super_admin",
    handledBy: "coordinator",
    query: NO_QUERY,
    body: z.strictObject({
      tenant_id: z.string().regex(TENANT_ID, TENANT_ID_RULE),
      name: NAME,
      plan: PLAN.default("free"),
      contact_email: CONTACT.optional(),
    }),
    responses: { 201: z.object(TENANT) },
    examples: {
      body: { tenant_id: "acme", name: "Acme Corp", plan: "starter", contact_email: "ops@example.com" },
      response: { tenant_id: "acme", name: "Acme Corp", plan: "starter", created_at: "2026-01-31T12:00:00.000Z" },
    },
    summary: "Adds a tenant",
  },
  {
    name: "tenants",
    method: "GET",
    path: "/api/v1/tenants",
    access: "super_admin",
    handledBy: "coordinator",
    query: z.strictObject(PAGE),
    responses: {
      200: z.object({ tenants: z.array(z.object({ ...TENANT, events_this_month: COUNT })), total: COUNT, page_token: z.string() }),
    },
    summary: "Tenants with their events of this month",
  },
  {
    name: "changeTenant",
    method: "PATCH",
    path: "/api/v1/tenants/{id}",
    access: "super_admin",
    handledBy: "coordinator",
    query: NO_QUERY,
    body: z.strictObject({ name: NAME.optional(), plan: PLAN.optional(), contact_email: CONTACT.nullable().optional() }),
    responses: { 200: z.object(TENANT) },
    examples: { body: { plan: "pro" } },
    summary: "Changes a tenant's name, plan or contact, at once",
  },
  {
    name: "billingUsage",
    method: "GET",
    path: "/api/v1/billing/usage",
    access: "super_admin",
    handledBy: "coordinator",
    query: z.strictObject({ month: monthParameter("month").optional(), ...PAGE }),
    responses: {
      200: z.object({
        period: z.object({ month: z.string(), start: z.iso.datetime(), end: z.iso.datetime() }),
        total_events: COUNT,
        tenants: z.array(
          z.object({ tenant_id: z.string(), name: z.string(), plan: PLAN, events: COUNT, by_type: z.record(z.enum(RECORD_TYPES), COUNT) }),
        ),
        total: COUNT,
        complete: z.boolean(),
        page_token: z.string(),
      }),
    },
    summary: "Accepted events by tenant in a calendar month",
  },
] as const satisfies readonly Endpoint[];
