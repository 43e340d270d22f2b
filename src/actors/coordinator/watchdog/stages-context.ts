// What the Watchdog's stages on the coordinator work with.
import type { StoreOperation } from "../../../adapters/storage/key-value-store.ts";
import type { EpisodeFrame } from "../../../core/protocol/coordinator-frame.ts";
import type { CommittedState } from "../committed-state.ts";
import type { CoordinatorCounters } from "../coordinator-counters.ts";
import type { EngineClient } from "../engine-client.ts";

export interface StagesContext {
  readonly state: CommittedState;
  readonly engines: EngineClient;
  readonly counters: CoordinatorCounters;
  nowMs(): number;
  monotonicMs(): number;
  breathe(): Promise<void>;
  rest(ms: number): Promise<void>;
  /** Writes to the control store between the transactions of others; rejects with StoreError. */
  store(operations: readonly StoreOperation[]): Promise<void>;
  /** Has the store for itself, between the transactions of others; rejects with StoreError. */
  edit<T>(work: () => Promise<T>): Promise<T>;
  /** Stores findings as an engine's; rejects with StoreError. */
  declare(frames: readonly EpisodeFrame[]): Promise<void>;
}
