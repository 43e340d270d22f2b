// What people have configured: Books held in memory, each read from its table at the start and changed after the commit of a change.
import type { KeyValueStore } from "../../../adapters/storage/key-value-store.ts";
import type { AccessChange } from "../../../core/protocol/access.ts";
import { PatternCache } from "../../../domain/alerting/pattern/pattern-cache.ts";
import type { RoutingSettings } from "../../../modules/notification/routing-book.ts";
import { admitStored } from "../../../modules/silences/pattern-room.ts";
import type { CoordinatorShares } from "../../../modules/state/coordinator-shares.ts";
import type { WatchdogEnvironment } from "../../../modules/watchdog/watchdog-book.ts";
import { type ConfiguredBooks, configuredBooks } from "./modules.ts";

/** A Book of one noun. */
interface ControlBook {
  /** Reads what is stored. */
  load(store: KeyValueStore): void;
}

/** The configuration of one server. */
export type ControlState = ConfiguredBooks & {
  readonly patterns: PatternCache;
  /** Reads all Books. Returns lines for the log on what cannot be in force any more. */
  load(store: KeyValueStore, nowMs: number): string[];
  /** Everything that the front has to know, as changes from nothing. */
  accessChanges(): AccessChange[];
};

export function makeControlState(watchdog: WatchdogEnvironment, shares: CoordinatorShares, routing?: RoutingSettings): ControlState {
  const patterns = new PatternCache();
  const books = configuredBooks({ share: (limit) => shares.ledger(limit), patterns, watchdog, routing });
  return {
    ...books,
    patterns,
    load(store, nowMs) {
      for (const book of Object.values<ControlBook>(books)) book.load(store);
      return admitStored({ ...books, patterns }, nowMs);
    },
    accessChanges: () => [...books.tenants.accessChanges(), ...books.keys.accessChanges(), ...books.users.accessChanges()],
  };
}
