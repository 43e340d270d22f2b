// What the passes over pairs know of the service whose streams they visit.
import type { KnownDays } from "../../../../domain/calendar/known-days.ts";
import type { WatchdogSettings } from "../../../../domain/detection/watchdog-settings.ts";

/** The service whose streams are being visited. */
export interface ServiceAtHand {
  readonly key: string;
  readonly tenant: string;
  readonly serviceId: string;
  readonly settings: WatchdogSettings;
  readonly hasMetrics: boolean;
  readonly deployedMs: number;
  readonly streams: number;
  readonly knownDays: KnownDays | undefined;
}

/** Before the first. */
export const NO_SERVICE: ServiceAtHand = {
  key: "",
  tenant: "",
  serviceId: "",
  settings: {} as WatchdogSettings,
  hasMetrics: false,
  deployedMs: 0,
  streams: 1,
  knownDays: undefined,
};
