// What the coordinator's thread sends main.
import type { AccessChange } from "./access.ts";
import type { LogMark, MetricMetadataEnvelope, MetricScopeEnvelope } from "./coordinator-frame.ts";
import type { SettingsUpdate, StoredCheckpoint } from "./engine-control.ts";
import type { CoordinatorMessage, StreamChunks, StreamEvents } from "./query.ts";

/** State in the store that engines need: sent once, first of all. */
export interface LoadedState {
  readonly type: "loaded";
  readonly checkpoints: readonly StoredCheckpoint[];
  readonly logMarks: readonly LogMark[];
  readonly metadata: readonly MetricMetadataEnvelope[];
  readonly metricScopes: readonly MetricScopeEnvelope[];
  readonly access: readonly AccessChange[];
  readonly watchdogSettings: SettingsUpdate;
}

/** Segments of the log are lost, by their names as far as they are known: the start ends. */
export interface LogLost {
  readonly type: "log-lost";
  readonly names: readonly string[];
}

/** Reports to main while the coordinator serves: events as the bytes that readers are sent. */
export type CoordinatorReport = Exclude<CoordinatorMessage, StreamEvents | { readonly type: "stopped" }> | StreamChunks;
