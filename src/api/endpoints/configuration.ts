import { z } from "zod";
import { CONFIGURATION_BODY_BYTES_MAX, CONFIGURATION_ENTRIES_MAX } from "../../core/config/declaration-limits.ts";
import { declared } from "../declared.ts";
import { choiceParameter } from "../parameters.ts";
import { COUNT } from "../shapes/scalars.ts";

const ENTRIES = z.array(z.record(z.string(), z.unknown()));
const ENTRIES_INPUT = ENTRIES.max(CONFIGURATION_ENTRIES_MAX).optional();
const SECTION_COUNTS = z.strictObject({
  created: COUNT,
  changed: COUNT,
  unchanged: COUNT,
  refused: COUNT,
  deleted: COUNT.optional().describe("with prune=true"),
});

const DOCUMENT_EXAMPLE = {
  format: 1,
  tenant_id: "default",
  detection_settings: [{ service_id: "checkout", z_threshold: 4 }],
  labels: [{ service_id: "checkout", key: "team", value: "payments" }],
  saturation_limits: [],
  service_map: [],
  inhibitions: [],
  routing_rules: [],
  webhooks: [],
  runbooks: [],
  page_budgets: [{ team: "payments", pages_per_week: 10 }],
  calendar: [{ date: "2026-12-25", name: "Christmas", like: "weekend", yearly: true }],
  rule_groups: [{ name: "shop", rules: [{ alert: "Down", expr: "up == 0", for: "2m" }] }],
};
const HASH_EXAMPLE = "6f1c0d2b9a3e4f5c8d7e6b5a4c3d2e1f";

/** The configuration of a tenant as one document. */
export const CONFIGURATION_ENDPOINTS = declared([
  {
    name: "exportConfiguration",
    method: "GET",
    path: "/api/v1/config",
    access: "admin",
    responses: {
      200: z.strictObject({
        format: z.literal(1),
        tenant_id: z.string(),
        detection_settings: ENTRIES.describe("as PUT /api/v1/settings/watchdog takes them"),
        labels: ENTRIES.describe("those set by hand, as PUT /api/v1/service-labels takes them"),
        saturation_limits: ENTRIES,
        service_map: ENTRIES,
        inhibitions: ENTRIES,
        routing_rules: ENTRIES.describe("told apart by name"),
        webhooks: ENTRIES.describe("secrets, headers and paths are ***"),
        runbooks: ENTRIES.describe("told apart by id; secrets and headers are ***"),
        page_budgets: ENTRIES.describe("told apart by team"),
        calendar: ENTRIES.describe("days as PUT /api/v1/settings/calendar takes them"),
        rule_groups: ENTRIES.describe("groups of rules that came by the API, told apart by name"),
        hash: z.string().describe("of all this, for If-Match of an import"),
      }),
    },
    examples: { response: { ...DOCUMENT_EXAMPLE, hash: HASH_EXAMPLE } },
    summary: "The settings, labels, rules, webhooks, runbooks, budgets and known days of the own tenant, without secrets",
  },
  {
    name: "importConfiguration",
    method: "POST",
    path: "/api/v1/config",
    access: "admin",
    isPatient: true,
    query: z.strictObject({
      dry_run: choiceParameter("dry_run", ["true", "false"]).optional(),
      prune: choiceParameter("prune", ["true", "false"]).optional(),
    }),
    headers: { "If-Match": "hash of an export: nothing is written where the configuration is another by now" },
    errors: ["precondition_failed"],
    body: z.strictObject({
      format: z.literal(1),
      tenant_id: z.string().optional().describe("of the export; what is imported goes to the own tenant"),
      detection_settings: ENTRIES_INPUT,
      labels: ENTRIES_INPUT,
      saturation_limits: ENTRIES_INPUT,
      service_map: ENTRIES_INPUT,
      inhibitions: ENTRIES_INPUT,
      routing_rules: ENTRIES_INPUT,
      webhooks: ENTRIES_INPUT,
      runbooks: ENTRIES_INPUT,
      page_budgets: ENTRIES_INPUT,
      calendar: ENTRIES_INPUT,
      rule_groups: ENTRIES_INPUT,
      hash: z.string().optional().describe("of the export; it is not read"),
    }),
    bodyBytesMax: CONFIGURATION_BODY_BYTES_MAX,
    responses: {
      200: z.strictObject({
        dry_run: z.boolean(),
        sections: z.record(z.string(), SECTION_COUNTS),
        changes: z
          .array(
            z.strictObject({
              section: z.string(),
              action: z.enum(["create", "change", "delete"]),
              key: z.string().describe("what tells the entry apart in its section, as JSON"),
            }),
          )
          .describe("the first thousand"),
        problems: z.array(z.strictObject({ section: z.string(), index: COUNT, message: z.string() })).describe("the first hundred"),
        problems_total: COUNT,
      }),
    },
    examples: {
      body: DOCUMENT_EXAMPLE,
      response: {
        dry_run: false,
        sections: { labels: { created: 1, changed: 0, unchanged: 0, refused: 0 } },
        changes: [{ section: "labels", action: "create", key: '["checkout","team"]' }],
        problems: [],
        problems_total: 0,
      },
    },
    summary:
      "Writes what differs of such a document, entry by entry; prune=true deletes what its sections lack, but of the service map; dry_run=true says what would change",
  },
]);
