import { z } from "zod";
import { ROLES } from "../../core/protocol/access.ts";
import type { Endpoint } from "../endpoint.ts";
import { textParameter } from "../parameters.ts";
import { PAGE, TIME_RANGE } from "./query-shapes.ts";

const ENTRY = z.strictObject({
  audit_id: z.string(),
  at: z.iso.datetime(),
  actor: z.string(),
  role: z.enum(ROLES),
  action: z.string(),
  object: z.string(),
  before: z.unknown(),
  after: z.unknown(),
  request_id: z.string(),
  source_address: z.string().nullable(),
});

/** Who changed what. */
export const AUDIT_ENDPOINTS = [
  {
    name: "audit",
    method: "GET",
    path: "/api/v1/audit",
    access: "admin",
    handledBy: "coordinator",
    query: z.strictObject({
      actor: textParameter("actor").optional(),
      action: textParameter("action").optional(),
      object: textParameter("object", 4096).optional(),
      ...TIME_RANGE,
      ...PAGE,
    }),
    responses: { 200: z.strictObject({ entries: z.array(ENTRY), page_token: z.string() }) },
    summary: "Changes of the configuration, newest first: who, when, what, and how it was before and after",
  },
] as const satisfies readonly Endpoint[];
