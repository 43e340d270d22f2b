// What the pipeline asks of the rest of the service. All of it is looked up in memory: a decision waits for nothing.
import type { WatchdogSettings } from "../../detection/watchdog-settings.ts";
import type { DetectorFamily } from "../ensemble.ts";
import type { Hold } from "../hold.ts";
import type { Labels } from "../label-matcher.ts";
import type { Alert } from "./alert.ts";
import type { ServiceConfirmations } from "./service-confirmations.ts";

/** Silences and maintenance windows in force. */
export interface ActiveSilences {
  silenced(tenant: string, labels: Labels, nowMs: number): Hold | undefined;
}

/** When an alert that is asked about opened, and how long one that fires takes such in. */
export interface Opened {
  readonly atMs: number;
  readonly dedupMaxAgeMinutes: number;
}

/** Rules by which one firing alert keeps others quiet. */
export interface ActiveInhibitions {
  /** `inhibitors` are the tenant's firing alerts that may hold others back (built-in-inhibitions.ts); the alert that is asked about may be among them. */
  inhibited(tenant: string, labels: Labels, inhibitors: () => Iterable<Alert>, opened: Opened): Hold | undefined;
}

export interface PagingSources {
  readonly silences: ActiveSilences;
  readonly inhibitions: ActiveInhibitions;
  /** Confirmations of pairs of late. */
  readonly confirmations: ServiceConfirmations;
  /** WATCHDOG_CONFIRMATION: what a statistic finds waits for one of them. On where it is not given. */
  readonly confirmation?: boolean;
  /** Start of the process, for the warm-up after it. */
  readonly startedAtMs: number;
  /** WATCHDOG_WARMUP_MINUTES. */
  readonly warmUpMinutes: number;
  /** GROUP_WAIT_SECONDS and REPEAT_MINUTES in ms; 0: nothing waits, or repeats. */
  readonly groupWaitMs: number;
  readonly repeatMs: number;
  settingsOf(tenant: string, serviceId: string, metricName: string): WatchdogSettings;
  /** When the service was first heard of; undefined where nobody knows, which counts as mature. */
  firstSeenMs(tenant: string, serviceId: string): number | undefined;
  /** Factor of the threshold that follows from what people said of the service's anomalies; 1 where they said nothing. */
  feedbackFactor(tenant: string, serviceId: string, family: DetectorFamily, nowMs: number): number;
  /** Requests of the service in the last cycle; undefined where none are counted. */
  requestsInCycle(tenant: string, environment: string, serviceId: string): number | undefined;
}
