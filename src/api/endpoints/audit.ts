import { z } from "zod";
import { ROLES } from "../../core/protocol/access.ts";
import { declared } from "../declared.ts";
import { textParameter } from "../parameters.ts";
import { COUNT, EXAMPLE_TIME, NEXT_PAGE, TIMESTAMP, TOTAL_RELATION } from "../shapes/scalars.ts";
import { PAGE, TIME_RANGE } from "./query-shapes.ts";

const ENTRY = z.strictObject({
  audit_id: z.string(),
  at: TIMESTAMP,
  actor: z.string(),
  role: z.enum(ROLES),
  action: z.string(),
  object: z.string(),
  before: z.unknown(),
  after: z.unknown(),
  request_id: z.string(),
  source_address: z.string().nullable(),
});

const ENTRY_EXAMPLE = {
  audit_id: "3b1f0c5a9d2e47f6a8b0c1d2e3f40516",
  at: EXAMPLE_TIME,
  actor: "ada@example.com",
  role: "operator",
  action: "label.set",
  object: "checkout team",
  before: null,
  after: { source: "manual", value: "payments" },
  request_id: "0000001-f00000000002a",
  source_address: "192.0.2.7",
};

/** Who changed what. */
export const AUDIT_ENDPOINTS = declared([
  {
    name: "audit",
    method: "GET",
    path: "/api/v1/audit",
    access: "admin",
    query: z.strictObject({
      actor: textParameter("actor").optional(),
      action: textParameter("action").optional(),
      object: textParameter("object", 4096).optional(),
      ...TIME_RANGE,
      ...PAGE,
    }),
    responses: { 200: z.strictObject({ entries: z.array(ENTRY), total: COUNT, total_relation: TOTAL_RELATION, page_token: NEXT_PAGE }) },
    examples: { response: { entries: [ENTRY_EXAMPLE], total: 1, total_relation: "eq", page_token: "" } },
    summary: "Changes of the configuration, newest first: who, when, what, and how it was before and after",
  },
]);
