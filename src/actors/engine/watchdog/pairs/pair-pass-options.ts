// Options of the pass over long baselines, and what it works with.
import type { EpisodeFrame, StreamName } from "../../../../core/protocol/coordinator-frame.ts";
import type { KnownDays } from "../../../../domain/calendar/known-days.ts";
import type { AcceptedLevels } from "../../../../domain/detection/pair/accepted-levels.ts";
import type { Deployments } from "../../../../domain/detection/pair/deployments.ts";
import type { OffsetMs } from "../../../../domain/detection/seasonal/time-zone-hours.ts";
import type { WatchdogSettings } from "../../../../domain/detection/watchdog-settings.ts";
import type { StreamRecords } from "../../../../domain/kernel/stream-records.ts";
import type { PairPlaces } from "./pair-places.ts";

/** Settings of streams. */
interface PairSettings {
  /** In force for a metric of a service; "" for all that have nothing of their own. */
  settingsOf(tenant: string, serviceId: string, metricName: string): WatchdogSettings;
  /** Whether metrics of the service may have settings of their own. */
  hasMetrics(tenant: string, serviceId: string): boolean;
  /** undefined for a tenant that has told none. */
  knownDaysOf(tenant: string): KnownDays | undefined;
}

export interface PairScanOptions {
  /** Offset of DETECTION_TIMEZONE. */
  readonly offsetMs: OffsetMs;
}

export interface PairScanDependencies {
  readonly records: StreamRecords;
  /** All of the engine's memory. */
  readonly uint32s: Uint32Array;
  readonly settings: PairSettings;
  readonly deployments: Deployments;
  readonly levels: AcceptedLevels;
  readonly places: PairPlaces;
  readonly nameOf: (slot: number) => StreamName;
  /** 32 hex digits of a text. */
  readonly hashText: (text: string) => string;
  readonly send: (frame: EpisodeFrame) => void;
  /** True once what is stored is here; asks for it. */
  readonly load: () => boolean;
}
