import { z } from "zod";
import { CATALOG_BODY_BYTES_MAX, LABEL_KEY_CHARACTERS_MAX } from "../../core/config/declaration-limits.ts";
import { isLabelKey, LABEL_SOURCES, ROUTING_KEYS } from "../../domain/labels/service-label.ts";
import { declared } from "../declared.ts";
import { choiceParameter, textParameter } from "../parameters.ts";
import { nameField } from "../shapes/name.ts";
import { COUNT, EXAMPLE_TIME, NEXT_PAGE, TIMESTAMP } from "../shapes/scalars.ts";
import { PAGE } from "./query-shapes.ts";

const labelKeyField = () =>
  z
    .string()
    .refine(isLabelKey, `must begin with a letter or _ and go on with letters, digits and _ . / - , ${LABEL_KEY_CHARACTERS_MAX} at most`)
    .meta({ pattern: "^[A-Za-z_][A-Za-z0-9_./-]*$", minLength: 1, maxLength: LABEL_KEY_CHARACTERS_MAX });

const SOURCED = { source: z.enum(LABEL_SOURCES), value: z.string(), updated_at: TIMESTAMP };
const LABEL = z.strictObject({
  service_id: z.string(),
  key: z.string(),
  ...SOURCED,
  overrides: z.array(z.strictObject(SOURCED)),
});
const ENTITY_RESULT = z.strictObject({
  index: COUNT,
  line: z.int().min(1).nullable(),
  kind: z.string().nullable(),
  service_id: z.string().nullable(),
  outcome: z.enum(["set", "unchanged", "skipped"]),
  key: z.enum(ROUTING_KEYS).nullable(),
  value: z.string().nullable(),
  overridden_by: z.enum(LABEL_SOURCES).nullable(),
  reason: z.string().nullable(),
  message: z.string().nullable(),
});

const LABEL_EXAMPLE = {
  service_id: "checkout",
  key: "team",
  source: "manual",
  value: "payments",
  updated_at: EXAMPLE_TIME,
  overrides: [{ source: "catalog", value: "shop", updated_at: EXAMPLE_TIME }],
};
const CATALOG_EXAMPLE = `apiVersion: backstage.io/v1alpha1
kind: Component
metadata: { name: checkout }
spec: { type: service, lifecycle: production, owner: "group:payments" }
`;
const IMPORT_EXAMPLE = {
  dry_run: false,
  entities: 1,
  set: 1,
  unchanged: 0,
  skipped: 0,
  skipped_by_reason: {},
  results: [
    {
      index: 0,
      line: 1,
      kind: "Component",
      service_id: "checkout",
      outcome: "set",
      key: "team",
      value: "payments",
      overridden_by: null,
      reason: null,
      message: null,
    },
  ],
};

/** Endpoints of a service's labels: from telemetry, from the catalog, set by hand. */
export const LABELS_ENDPOINTS = declared([
  {
    name: "setLabel",
    method: "PUT",
    path: "/api/v1/service-labels",
    access: "operator",
    body: z.strictObject({ service_id: nameField(), key: labelKeyField(), value: nameField() }),
    responses: { 200: LABEL, 201: LABEL },
    errors: ["unprocessable"],
    examples: { body: { service_id: "checkout", key: "team", value: "payments" }, response: LABEL_EXAMPLE },
    summary: "Sets a label by hand; it stays ahead of what telemetry and catalogs say",
  },
  {
    name: "labels",
    method: "GET",
    path: "/api/v1/service-labels",
    access: "viewer",
    answersCommitted: true,
    query: z.strictObject({ service_id: textParameter("service_id").optional(), key: textParameter("key").optional(), ...PAGE }),
    responses: { 200: z.strictObject({ labels: z.array(LABEL), total: COUNT, page_token: NEXT_PAGE }) },
    examples: { response: { labels: [LABEL_EXAMPLE], total: 1, page_token: "" } },
    summary: "Labels by service and key, with where each comes from and what it overrides",
  },
  {
    name: "deleteLabel",
    method: "DELETE",
    path: "/api/v1/service-labels",
    access: "operator",
    query: z.strictObject({
      service_id: textParameter("service_id"),
      key: textParameter("key"),
      source: choiceParameter("source", LABEL_SOURCES).optional(),
    }),
    responses: { 204: null },
    errors: ["not_found"],
    summary: "Removes the label that was set by hand, or that of another source; what it overrode is in force again",
  },
  {
    name: "importCatalog",
    method: "POST",
    path: "/api/v1/atlas/import/catalog",
    access: "admin",
    isPatient: true,
    query: z.strictObject({ dry_run: choiceParameter("dry_run", ["true", "false"]).optional() }),
    bodyTypes: ["application/json", "application/yaml", "application/x-yaml", "text/yaml"],
    body: z.string(),
    bodyBytesMax: CATALOG_BODY_BYTES_MAX,
    responses: {
      200: z.strictObject({
        dry_run: z.boolean(),
        entities: COUNT,
        set: COUNT,
        unchanged: COUNT,
        skipped: COUNT,
        skipped_by_reason: z.record(z.string(), COUNT),
        results: z.array(ENTITY_RESULT),
      }),
    },
    errors: ["unprocessable"],
    examples: { body: CATALOG_EXAMPLE, response: IMPORT_EXAMPLE },
    summary: "Takes the owners of a Backstage catalog's components as labels of their services, and says what was set, skipped and why",
  },
]);
