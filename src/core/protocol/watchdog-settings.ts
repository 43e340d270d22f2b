// Settings of detection and paging as they travel between actors.

/** The settings of detection and paging that a tenant, a service or a series may have of its own; what nobody has set comes from the environment. */
export interface WatchdogSettings {
  /** |z| above which a sample is over the threshold (rule 1.1.2). */
  readonly zThreshold: number;
  readonly rcaCooldownMinutes: number;
  readonly dedupMaxAgeMinutes: number;
  /** Departures that may alert; both: the way that the metric's name says is bad, where it says one (gates/direction.ts). */
  readonly direction: "both" | "high" | "low";
  /** Neither evaluated by the Watchdog nor paged for. */
  readonly excluded: boolean;
  /** Samples younger than this are left to a later cycle, for senders that are late. */
  readonly evaluationDelaySeconds: number;
  /** Requests in a cycle below which a service's ratios and latencies do not alert; 0 = always. */
  readonly minimumTraffic: number;
}

/** Some of them, as set for a tenant, a service or a series. */
export type WatchdogOverrides = Partial<WatchdogSettings>;

/** Whom settings are for; null = all of them. A metric without a service is not a place. */
export interface SettingsScope {
  readonly tenant: string;
  readonly serviceId: string | null;
  readonly metricName: string | null;
}

export interface ScopedOverrides extends SettingsScope {
  readonly overrides: WatchdogOverrides;
}

/** Meaning of one threshold profile of the shard kernel. */
export interface ThresholdProfile {
  readonly profile: number;
  readonly threshold: number;
}

/** weekend: what is usual is that of a weekend. unusual: nothing is learned of it, and what departs is reported if it goes on afterwards, or is far out. */
export const DAY_KINDS = ["weekend", "unusual"] as const;
export type DayKind = (typeof DAY_KINDS)[number];

/** A day that is known to be other than usual. */
export interface KnownDay {
  /** YYYY-MM-DD, by the clock of DETECTION_TIMEZONE. */
  readonly date: string;
  readonly name: string;
  readonly like: DayKind;
  /** It comes back on this day of each year. */
  readonly yearly: boolean;
}

/** Known days of one tenant. */
export interface TenantCalendar {
  readonly tenant: string;
  readonly days: readonly KnownDay[];
}
