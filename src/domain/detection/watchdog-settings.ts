// The settings of detection and paging that a tenant, a service or a series may have of its own; what nobody has set comes from the environment.
export interface WatchdogSettings {
  /** |z| above which a sample is over the threshold (rule 1.1.2). */
  readonly zThreshold: number;
  readonly rcaCooldownMinutes: number;
  readonly dedupMaxAgeMinutes: number;
  /** Departures that may alert. */
  readonly direction: "both" | "high" | "low";
  /** Neither evaluated by the Watchdog nor paged for. */
  readonly excluded: boolean;
  /** Samples younger than this are left to a later cycle, for senders that are late. */
  readonly evaluationDelaySeconds: number;
  /** Requests in a cycle below which a service's ratios and latencies do not alert; 0 = always. */
  readonly minimumTraffic: number;
}

/** The documented defaults. */
export const INITIAL_SETTINGS: WatchdogSettings = {
  zThreshold: 3,
  rcaCooldownMinutes: 15,
  dedupMaxAgeMinutes: 60,
  direction: "both",
  excluded: false,
  evaluationDelaySeconds: 0,
  minimumTraffic: 0,
};

/** Some of them, as set for a tenant, a service or a series. */
export type WatchdogOverrides = Partial<WatchdogSettings>;

/** The narrower scope wins, setting by setting: environment, tenant, service, metric. */
export function effectiveSettings(initial: WatchdogSettings, ...scopes: ReadonlyArray<WatchdogOverrides | undefined>): WatchdogSettings {
  return Object.assign({}, initial, ...scopes);
}
