// What a tenant's configuration consists of: for each kind of setting how it is listed, told apart, compared and written, by the handlers that answer for it alone. A kind that is added here is exported and imported.
import { bodySteps } from "../../api/body-parsing.ts";
import type { Outcome } from "../../api/refusal.ts";
import { ROUTING_CATCH_ALL_PRIORITY } from "../../core/config/notification-limits.ts";
import { HIDDEN } from "../../core/text/secret.ts";
import { deleteLabel, listLabels, setLabels } from "../labels/label-handlers.ts";
import { changeRoutingRule, createRoutingRule, deleteRoutingRule, listRoutingRules } from "../notification/routing-handlers.ts";
import { listServiceMap, setServiceMap } from "../pillars/service-map-handlers.ts";
import type { ChangeRequest } from "../queries/query-context.ts";
import { declareLimits, deleteLimit, listLimits } from "../saturation/limit-handlers.ts";
import { createInhibition, deleteInhibition, listInhibitions } from "../silences/inhibition-handlers.ts";
import { deleteWatchdogSettings, listWatchdogSettings, setSettings } from "../watchdog/watchdog-settings-handlers.ts";
import { changeWebhook, createWebhook, deleteWebhook, listWebhooks } from "../webhooks/webhook-handlers.ts";
import type { ConfigurationContext } from "./configuration-section.ts";
import {
  askHandler,
  type ConfigurationEntry,
  type ConfigurationSection,
  keyOf,
  only,
  parsedBy,
  readAll,
  without,
  writeBodies,
  writeBody,
} from "./configuration-section.ts";
import { calendar, pageBudgets, ruleGroups, runbooks } from "./operating-sections.ts";

const detectionSettings: ConfigurationSection = {
  name: "detection_settings",
  list: async (context, request) => {
    const rows = await readAll(["watchdogSettings", listWatchdogSettings, "overrides"], context, request);
    return rows.map(({ set, ...scope }) => ({ ...without(scope, ["updated_at"]), ...(set as ConfigurationEntry) }));
  },
  key: keyOf("service_id", "metric_name"),
  parse: parsedBy("setWatchdogSettings"),
  writeSome: (context, request, entries) => writeBodies("setWatchdogSettings", (bodies) => setSettings(context, request, bodies), entries),
  remove: (context, request, { service_id, metric_name }) =>
    askHandler(["deleteWatchdogSettings", deleteWatchdogSettings], context, request, { query: { service_id, metric_name } }),
};

const labels: ConfigurationSection = {
  name: "labels",
  list: async (context, request) => {
    const rows = await readAll(["labels", listLabels, "labels"], context, request);
    return rows.flatMap(({ service_id, key, source, value, overrides }) => {
      const sources = [{ source, value }, ...(overrides as Array<{ source: unknown; value: unknown }>)];
      const manual = sources.find((each) => each.source === "manual");
      return manual === undefined ? [] : [{ service_id, key, value: manual.value }];
    });
  },
  key: keyOf("service_id", "key"),
  parse: parsedBy("setLabel"),
  writeSome: (context, request, entries) => writeBodies("setLabel", (bodies) => setLabels(context, request, bodies), entries),
  remove: (context, request, { service_id, key }) =>
    askHandler(["deleteLabel", deleteLabel], context, request, { query: { service_id, key } }),
};

const saturationLimits: ConfigurationSection = {
  name: "saturation_limits",
  list: async (context, request) => {
    const rows = await readAll(["limits", listLimits, "limits"], context, request);
    return rows.map((row) => without(row, ["updated_at"]));
  },
  key: keyOf("service_id", "metric"),
  parse: parsedBy("declareLimit"),
  writeSome: (context, request, entries) => writeBodies("declareLimit", (bodies) => declareLimits(context, request, bodies), entries),
  remove: (context, request, { service_id, metric }) =>
    askHandler(["deleteLimit", deleteLimit], context, request, { query: { service: service_id, metric } }),
};

const serviceMap: ConfigurationSection = {
  name: "service_map",
  list: (context, request) => readAll(["serviceMap", listServiceMap, "entries"], context, request),
  key: keyOf("service_id"),
  parse: function* (entry) {
    const parsed = yield* bodySteps("setServiceMap", JSON.stringify({ entries: [entry] }));
    return parsed.ok ? { ok: true, value: { tenant_id: "", product_id: "", custom_keys: {}, ...parsed.value.entries[0] } } : parsed;
  },
  writeSome: async (context, request, entries) => {
    const write = (some: readonly ConfigurationEntry[]) =>
      writeBody(["setServiceMap", setServiceMap], context, request, { body: { entries: some } });
    const all = await write(entries);
    if (all.ok) return entries.map(() => all);
    // They do not fit together: as many as there is room for are taken.
    const outcomes: Array<Outcome<unknown>> = [];
    for (const entry of entries) outcomes.push(await write([entry]));
    return outcomes;
  },
};

/** Without an identity of its own: two that say the same are one. */
const inhibitions: ConfigurationSection = {
  name: "inhibitions",
  list: async (context, request) => {
    const rows = await readAll(["inhibitions", listInhibitions, "inhibitions"], context, request);
    return rows.map((row) => only(row, ["source_matchers", "target_matchers", "equal", "comment"]));
  },
  key: keyOf("source_matchers", "target_matchers", "equal"),
  parse: parsedBy("createInhibition"),
  write: async (context, request, body, isThere) =>
    isThere ? { ok: true, value: null } : writeBody(["createInhibition", createInhibition], context, request, { body }),
  remove: async (context, request, entry) => {
    const rows = await readAll(["inhibitions", listInhibitions, "inhibitions"], context, request);
    const id = rows.find((row) => inhibitions.key(row) === inhibitions.key(entry))?.inhibition_id;
    return askHandler(["deleteInhibition", deleteInhibition], context, request, { path: { id } });
  },
};

const RULE_MEMBERS = ["name", "priority", "label_matchers", "service_pattern", "severity", "source", "environment", "channels"];

/** By its name: ids are of one server. The rule behind all others is always there, and may have no channels, which no write takes. */
const routingRules: ConfigurationSection = {
  name: "routing_rules",
  list: async (context, request) => {
    const rules = await rulesOf(context, request);
    return rules.filter(({ channels }) => (channels as unknown[]).length > 0).map((row) => only(row, RULE_MEMBERS));
  },
  key: ruleKey,
  parse: parsedBy("createRoutingRule"),
  write: async (context, request, body, isThere) => {
    if (!isThere) return writeBody(["createRoutingRule", createRoutingRule], context, request, { body });
    const id = (await rulesOf(context, request)).find((rule) => ruleKey(rule) === ruleKey(body))?.id;
    if (id === undefined) return writeBody(["createRoutingRule", createRoutingRule], context, request, { body });
    return writeBody(["changeRoutingRule", changeRoutingRule], context, request, { body, path: { id: String(id) } });
  },
  stays: ({ priority }) => priority === ROUTING_CATCH_ALL_PRIORITY,
  remove: async (context, request, entry) => {
    const id = (await rulesOf(context, request)).find((rule) => ruleKey(rule) === ruleKey(entry))?.id;
    return askHandler(["deleteRoutingRule", deleteRoutingRule], context, request, { path: { id } });
  },
};

function ruleKey({ name, priority }: ConfigurationEntry): string {
  return priority === ROUTING_CATCH_ALL_PRIORITY ? "the rule behind all others" : `rule ${name}`;
}

function rulesOf(context: ConfigurationContext, request: ChangeRequest): Promise<ConfigurationEntry[]> {
  return readAll(["routingRules", listRoutingRules, "rules"], context, request);
}

/** Their secrets are `***`, which leaves those of a webhook that is there as they are. */
const webhooks: ConfigurationSection = {
  name: "webhooks",
  list: async (context, request) => {
    const rows = await readAll(["webhooks", listWebhooks, "webhooks"], context, request);
    return rows.map((row) => only(row, ["name", "url", "method", "headers", "pattern", "transform", "retry", "secret", "enabled"]));
  },
  key: keyOf("name"),
  parse: parsedBy("createWebhook"),
  write: (context, request, body, isThere) =>
    isThere
      ? writeBody(["changeWebhook", changeWebhook], context, request, { body, path: { name: String(body.name) } })
      : writeBody(["createWebhook", createWebhook], context, request, { body }),
  incomplete: ({ url, secret, headers }) => {
    const hidden = [url, secret, ...Object.values((headers ?? {}) as object)].some((value) => String(value).includes(HIDDEN));
    return hidden ? `url, headers or secret are ${HIDDEN} in the file, and there is no such webhook yet: put them in` : undefined;
  },
  remove: (context, request, { name }) => askHandler(["deleteWebhook", deleteWebhook], context, request, { path: { name } }),
};

/** In the order in which they are imported. */
export const CONFIGURATION_SECTIONS: readonly ConfigurationSection[] = [
  detectionSettings,
  labels,
  saturationLimits,
  serviceMap,
  inhibitions,
  routingRules,
  webhooks,
  runbooks,
  pageBudgets,
  calendar,
  ruleGroups,
];
