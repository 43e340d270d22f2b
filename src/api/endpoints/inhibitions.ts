import { z } from "zod";
import { RULES_BODY_BYTES_MAX } from "../../core/config/body-limits.ts";
import { INHIBITION_EQUAL_MAX, LABEL_MATCHERS_MAX, SILENCE_COMMENT_CHARACTERS_MAX } from "../../core/config/limits.ts";
import { declared } from "../declared.ts";
import { MATCHER } from "../shapes/matcher.ts";
import { nameField } from "../shapes/name.ts";
import { COUNT, EXAMPLE_TIME, NEXT_PAGE, TIMESTAMP } from "../shapes/scalars.ts";
import { PAGE } from "./query-shapes.ts";

const matchers = () => z.array(MATCHER).min(1).max(LABEL_MATCHERS_MAX);

/** Contents of an inhibition rule. */
export const INHIBITION_RULE = z.strictObject({
  source_matchers: matchers().describe("of the alert that keeps others quiet while it fires; all must hold"),
  target_matchers: matchers().describe("of the alerts that are kept quiet; all must hold"),
  equal: z
    .array(nameField())
    .max(INHIBITION_EQUAL_MAX)
    .default([])
    .describe("labels whose values must be the same on both; one that both lack is"),
  comment: z.string().max(SILENCE_COMMENT_CHARACTERS_MAX).default("").describe("told in the ledger of each alert that is kept quiet"),
});
const INHIBITION = z.strictObject({
  inhibition_id: z.string(),
  source_matchers: z.array(MATCHER),
  target_matchers: z.array(MATCHER),
  equal: z.array(z.string()),
  comment: z.string(),
  created_by: z.string(),
  created_at: TIMESTAMP,
});

const RULE = {
  source_matchers: [{ name: "service_id", operator: "=", value: "postgres" }],
  target_matchers: [{ name: "service_id", operator: "=~", value: "checkout|cart" }],
  equal: ["environment"],
  comment: "both need the database",
} as const;
const EXAMPLE = {
  inhibition_id: "5d2e3f405163b1f0c5a9d2e47f6a8b0c",
  ...RULE,
  created_by: "jane@example.com",
  created_at: EXAMPLE_TIME,
} as const;

/** Which alerts keep others quiet while they fire. */
export const INHIBITIONS_ENDPOINTS = declared([
  {
    name: "createInhibition",
    method: "POST",
    path: "/api/v1/inhibitions",
    access: "operator",
    body: INHIBITION_RULE,
    bodyBytesMax: RULES_BODY_BYTES_MAX,
    responses: { 201: INHIBITION },
    errors: ["invalid_parameter", "unprocessable"],
    examples: { body: RULE, response: EXAMPLE },
    summary: "Keeps alerts quiet while another one fires: a parent that is down mutes its children",
  },
  {
    name: "inhibitions",
    method: "GET",
    path: "/api/v1/inhibitions",
    access: "viewer",
    query: z.strictObject({ ...PAGE }),
    responses: { 200: z.strictObject({ inhibitions: z.array(INHIBITION), total: COUNT, page_token: NEXT_PAGE }) },
    examples: { response: { inhibitions: [EXAMPLE], total: 1, page_token: "" } },
    summary: "Inhibition rules in the order in which they were made and are asked",
  },
  {
    name: "inhibition",
    method: "GET",
    path: "/api/v1/inhibitions/{id}",
    access: "viewer",
    parameters: { id: "inhibition_id of the rule" },
    responses: { 200: INHIBITION },
    examples: { response: EXAMPLE },
    summary: "One inhibition rule",
  },
  {
    name: "deleteInhibition",
    method: "DELETE",
    path: "/api/v1/inhibitions/{id}",
    access: "operator",
    parameters: { id: "inhibition_id of the rule" },
    responses: { 204: null },
    errors: ["not_found"],
    summary: "Ends an inhibition rule; what it has kept quiet is asked again with the next cycle",
  },
]);
