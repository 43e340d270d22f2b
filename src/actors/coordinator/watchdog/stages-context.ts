// What the Watchdog's stages on the coordinator work with.
import type { StoreOperation } from "../../../adapters/storage/key-value-store.ts";
import type { EpisodeFrame } from "../../../core/protocol/coordinator-frame.ts";
import type { HeldAlertsDependencies } from "../alerts/held-alerts.ts";
import type { EngineClient } from "../engine-client.ts";

export interface StagesContext extends HeldAlertsDependencies {
  readonly engines: EngineClient;
  breathe(): Promise<void>;
  rest(ms: number): Promise<void>;
  /** Writes to the control store between the transactions of others; rejects with StoreError. */
  store(operations: readonly StoreOperation[]): Promise<void>;
  /** Stores findings as an engine's; rejects with StoreError. */
  declare(frames: readonly EpisodeFrame[]): Promise<void>;
}
