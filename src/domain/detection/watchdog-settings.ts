// The settings of detection and paging that a tenant, a service or a series may have of its own; what nobody has set comes from the environment.
import type { WatchdogOverrides, WatchdogSettings } from "../../core/protocol/watchdog-settings.ts";

export type {
  ScopedOverrides,
  SettingsScope,
  ThresholdProfile,
  WatchdogOverrides,
  WatchdogSettings,
} from "../../core/protocol/watchdog-settings.ts";

/** Values of settings that the environment does not have: every departure counts, nothing is left out or waited for. */
const WITHOUT_SETTING = { direction: "both", excluded: false, evaluationDelaySeconds: 0, minimumTraffic: 0 } as const;

/** WATCHDOG_Z_SCORE_THRESHOLD, WATCHDOG_RCA_COOLDOWN_MINUTES and ALERT_DEDUP_MAX_AGE_MINUTES. */
export interface EnvironmentValues {
  readonly zThreshold?: number;
  readonly rcaCooldownMinutes?: number;
  readonly dedupMaxAgeMinutes?: number;
}

/** The settings of a server for whom nothing has been set; the contract's defaults for what is not given. */
export function environmentSettings({
  zThreshold = 3,
  rcaCooldownMinutes = 15,
  dedupMaxAgeMinutes = 60,
}: EnvironmentValues): WatchdogSettings {
  return { zThreshold, rcaCooldownMinutes, dedupMaxAgeMinutes, ...WITHOUT_SETTING };
}

/** The narrower scope wins, setting by setting: environment, tenant, service, metric. */
export function effectiveSettings(initial: WatchdogSettings, ...scopes: ReadonlyArray<WatchdogOverrides | undefined>): WatchdogSettings {
  return Object.assign({}, initial, ...scopes);
}
