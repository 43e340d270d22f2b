import { z } from "zod";
import { CALENDAR_BODY_BYTES_MAX, KNOWN_DAY_NAME_BYTES_MAX, KNOWN_DAYS_PER_TENANT_MAX } from "../../core/config/declaration-limits.ts";
import { WATCHDOG_NAMES_BYTES_MAX } from "../../core/config/limits.ts";
import { DAY_KINDS } from "../../core/protocol/watchdog-settings.ts";
import { DETECTOR_FAMILIES } from "../../domain/alerting/ensemble.ts";
import { isDate } from "../../domain/calendar/known-days.ts";
import { declared } from "../declared.ts";
import { textParameter } from "../parameters.ts";
import { nameField } from "../shapes/name.ts";
import { COUNT, EXAMPLE_TIME, NEXT_PAGE, TIMESTAMP } from "../shapes/scalars.ts";
import { SETTINGS_CHANGES, SETTINGS_EFFECTIVE, SETTINGS_SOME } from "../shapes/watchdog-settings.ts";
import { PAGE } from "./query-shapes.ts";

const OF = { service_id: textParameter("service_id").optional(), metric_name: textParameter("metric_name").optional() };
const SCOPE_MEMBERS = { service_id: z.string().nullable(), metric_name: z.string().nullable() };
const SETTINGS = z.strictObject({
  ...SCOPE_MEMBERS,
  settings: SETTINGS_EFFECTIVE,
  set: SETTINGS_SOME.describe("what is set here itself"),
  updated_at: TIMESTAMP.nullable(),
});
const FEEDBACK = z
  .array(
    z.strictObject({
      family: z.enum(DETECTOR_FAMILIES),
      factor: z.number().describe("of the threshold, by now"),
      z_threshold: z.number().describe("threshold that follows for this family"),
      false_positives: COUNT,
      true_positives: COUNT,
      until: TIMESTAMP.describe("when the last of them has worn off"),
    }),
  )
  .describe("what marks of people on the service's anomalies do to its thresholds; empty for a tenant");
const LIST = SETTINGS.extend({
  feedback: FEEDBACK,
  overrides: z
    .array(z.strictObject({ ...SCOPE_MEMBERS, set: SETTINGS_SOME, updated_at: TIMESTAMP.nullable() }))
    .describe("everything that is set here and for what belongs to it"),
  total: COUNT,
  page_token: NEXT_PAGE,
});
const BODY = z
  .strictObject({ service_id: nameField().optional(), metric_name: nameField().optional(), ...SETTINGS_CHANGES })
  .refine(
    ({ service_id = "", metric_name = "" }) => Buffer.byteLength(service_id) + Buffer.byteLength(metric_name) <= WATCHDOG_NAMES_BYTES_MAX,
    `service_id and metric_name may have ${WATCHDOG_NAMES_BYTES_MAX} bytes together`,
  );

const IN_FORCE = {
  z_threshold: { value: 4, source: "service" },
  rca_cooldown_minutes: { value: 15, source: "environment" },
  dedup_max_age_minutes: { value: 60, source: "environment" },
  direction: { value: "high", source: "tenant" },
  excluded: { value: false, source: "environment" },
  evaluation_delay_seconds: { value: 0, source: "environment" },
  minimum_traffic: { value: 0, source: "environment" },
};
const EXAMPLE = { service_id: "checkout", metric_name: null, settings: IN_FORCE, set: { z_threshold: 4 }, updated_at: EXAMPLE_TIME };

const DAY = z.strictObject({
  date: z
    .string()
    .refine(isDate, "must be a day that there is, as YYYY-MM-DD")
    .meta({ format: "date" })
    .describe("by the clock of DETECTION_TIMEZONE"),
  name: nameField(KNOWN_DAY_NAME_BYTES_MAX),
  like: z
    .enum(DAY_KINDS)
    .describe(
      "weekend: usual is what a weekend has; unusual: nothing is learned, and departures are reported if they go on afterwards or are far out",
    ),
  yearly: z.boolean().describe("it comes back each year"),
});
const CALENDAR = z.strictObject({ days: z.array(DAY), updated_at: TIMESTAMP.nullable() });
const CALENDAR_BODY = z
  .strictObject({ days: z.array(DAY.extend({ yearly: DAY.shape.yearly.optional() })).max(KNOWN_DAYS_PER_TENANT_MAX) })
  .refine(({ days }) => new Set(days.map(({ date, yearly }) => `${date} ${yearly === true}`)).size === days.length, "has a date twice");
const KNOWN_DAY_EXAMPLE = { date: "2026-12-25", name: "Christmas", like: "weekend", yearly: true };

/** Settings of detection and paging by tenant, service and metric; changes are in force without a restart. */
export const WATCHDOG_SETTINGS_ENDPOINTS = declared([
  {
    name: "watchdogSettings",
    method: "GET",
    path: "/api/v1/settings/watchdog",
    access: "viewer",
    query: z.strictObject({ ...OF, ...PAGE }),
    responses: { 200: LIST },
    examples: {
      response: {
        ...EXAMPLE,
        feedback: [
          { family: "metric", factor: 1.1, z_threshold: 4.4, false_positives: 1, true_positives: 0, until: "2026-02-14T12:00:00.000Z" },
        ],
        overrides: [{ service_id: "checkout", metric_name: null, set: { z_threshold: 4 }, updated_at: EXAMPLE_TIME }],
        total: 1,
        page_token: "",
      },
    },
    summary: "The Watchdog's settings in force for a tenant, a service or a metric, where each comes from, and what is set below",
  },
  {
    name: "setWatchdogSettings",
    method: "PUT",
    path: "/api/v1/settings/watchdog",
    access: "admin",
    body: BODY,
    responses: { 200: SETTINGS, 201: SETTINGS },
    errors: ["unprocessable"],
    examples: { body: { service_id: "checkout", z_threshold: 4 }, response: EXAMPLE },
    summary: "Sets some of the Watchdog's settings of a tenant, a service or a metric, in force at once; null takes one away",
  },
  {
    name: "deleteWatchdogSettings",
    method: "DELETE",
    path: "/api/v1/settings/watchdog",
    access: "admin",
    query: z.strictObject(OF),
    responses: { 204: null },
    errors: ["not_found"],
    summary: "Takes away all that is set for a tenant itself, a service itself or a metric",
  },
  {
    name: "calendar",
    method: "GET",
    path: "/api/v1/settings/calendar",
    access: "viewer",
    responses: { 200: CALENDAR },
    examples: { response: { days: [KNOWN_DAY_EXAMPLE], updated_at: EXAMPLE_TIME } },
    summary: "Days of the tenant that baselines know to be other than usual: holidays, sales",
  },
  {
    name: "setCalendar",
    method: "PUT",
    path: "/api/v1/settings/calendar",
    access: "admin",
    body: CALENDAR_BODY,
    bodyBytesMax: CALENDAR_BODY_BYTES_MAX,
    responses: { 200: CALENDAR },
    examples: { body: { days: [KNOWN_DAY_EXAMPLE] }, response: { days: [KNOWN_DAY_EXAMPLE], updated_at: EXAMPLE_TIME } },
    summary: "Sets all known days of the tenant anew, in force for each sample from now on",
  },
]);
