// Members of the Watchdog's settings as they stand in bodies and answers, and what they are called inside.
import { z } from "zod";
import type { WatchdogOverrides, WatchdogSettings } from "../../core/protocol/watchdog-settings.ts";

const DIRECTIONS = ["both", "high", "low"] as const;
/** Bounds as of the environment's settings of the same meaning. */
const MEMBERS = {
  z_threshold: z.number().min(1).max(20).describe("|z| above which a sample is over the threshold"),
  rca_cooldown_minutes: z.int().min(0).max(1440).describe("minutes for which an anomaly of a pair triggers no further root-cause analysis"),
  dedup_max_age_minutes: z.int().min(1).max(10_080).describe("age from which a firing alert absorbs no further fires"),
  direction: z.enum(DIRECTIONS).describe("departures that may alert"),
  excluded: z.boolean().describe("neither evaluated nor paged for"),
  evaluation_delay_seconds: z.int().min(0).max(3600).describe("samples younger than this are left to a later cycle"),
  minimum_traffic: z.number().min(0).max(1e9).describe("requests in a cycle below which ratios and latencies do not alert; 0 = always"),
};

const NAMES = {
  z_threshold: "zThreshold",
  rca_cooldown_minutes: "rcaCooldownMinutes",
  dedup_max_age_minutes: "dedupMaxAgeMinutes",
  direction: "direction",
  excluded: "excluded",
  evaluation_delay_seconds: "evaluationDelaySeconds",
  minimum_traffic: "minimumTraffic",
} as const satisfies Readonly<Record<keyof typeof MEMBERS, keyof WatchdogSettings>>;
type MemberName = keyof typeof NAMES;

/** Names of the members, in the order of answers. */
export const SETTING_NAMES = Object.keys(NAMES) as readonly MemberName[];

export const SETTINGS_SOME = z.strictObject(MEMBERS).partial();

/** Some of the members to be set; null takes what is set away. */
export const SETTINGS_CHANGES = {
  z_threshold: MEMBERS.z_threshold.nullable().optional(),
  rca_cooldown_minutes: MEMBERS.rca_cooldown_minutes.nullable().optional(),
  dedup_max_age_minutes: MEMBERS.dedup_max_age_minutes.nullable().optional(),
  direction: MEMBERS.direction.nullable().optional(),
  excluded: MEMBERS.excluded.nullable().optional(),
  evaluation_delay_seconds: MEMBERS.evaluation_delay_seconds.nullable().optional(),
  minimum_traffic: MEMBERS.minimum_traffic.nullable().optional(),
};
type SettingsChanges = z.output<z.ZodObject<typeof SETTINGS_CHANGES>>;

const effective = <S extends z.ZodType>(value: S) =>
  z.strictObject({ value, source: z.enum(["environment", "tenant", "service", "metric"]) });
/** All members with their values in force and where each comes from. */
export const SETTINGS_EFFECTIVE = z.strictObject({
  z_threshold: effective(MEMBERS.z_threshold),
  rca_cooldown_minutes: effective(MEMBERS.rca_cooldown_minutes),
  dedup_max_age_minutes: effective(MEMBERS.dedup_max_age_minutes),
  direction: effective(MEMBERS.direction),
  excluded: effective(MEMBERS.excluded),
  evaluation_delay_seconds: effective(MEMBERS.evaluation_delay_seconds),
  minimum_traffic: effective(MEMBERS.minimum_traffic),
});

/** Members as they are called inside. */
export function overridesOf(members: z.output<typeof SETTINGS_SOME>): WatchdogOverrides {
  return changedOverrides({}, members);
}

/** Settings after a change of some members. */
export function changedOverrides(before: WatchdogOverrides, changes: SettingsChanges): WatchdogOverrides {
  const after: Record<string, unknown> = { ...before };
  for (const name of SETTING_NAMES) {
    const value = changes[name];
    if (value === null) delete after[NAMES[name]];
    else if (value !== undefined) after[NAMES[name]] = value;
  }
  return after;
}

/** Settings by the names of answers. */
export function settingsView(overrides: WatchdogOverrides): z.output<typeof SETTINGS_SOME> {
  const members = SETTING_NAMES.filter((name) => overrides[NAMES[name]] !== undefined);
  return Object.fromEntries(members.map((name) => [name, overrides[NAMES[name]]]));
}

/** The values in force, each with its source. */
export function effectiveView(settings: WatchdogSettings, sources: Readonly<Record<keyof WatchdogSettings, string>>) {
  return Object.fromEntries(SETTING_NAMES.map((name) => [name, { value: settings[NAMES[name]], source: sources[NAMES[name]] }]));
}
