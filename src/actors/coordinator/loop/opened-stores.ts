// The two stores of a data folder: looked at before they are opened, and sealed where they were made before values had checksums.
import { join } from "node:path";
import { type KeyValueStore, StoreError } from "../../../adapters/storage/key-value-store.ts";
import { openLmdbStore, type SealableStore } from "../../../adapters/storage/lmdb-store.ts";
import { checkStore } from "../../../adapters/storage/store-check.ts";
import type { Log } from "../../../core/telemetry/log-event.ts";
import { CONTROL_DICTIONARIES, CONTROL_READ_DICTIONARIES, CONTROL_TABLES, SERIES_TABLES, TABLE_END, TABLE_START } from "../state/tables.ts";
import { checkUnsealedRow } from "./unsealed-row.ts";

/** The stores of a coordinator. */
export interface OpenedStores {
  readonly controlStore: KeyValueStore;
  readonly seriesStore: KeyValueStore;
  /** Looks through the stores that are too large to be waited for; rejects with DamagedStoreError. Undefined where there are none. */
  readonly checkLater: (() => Promise<void>) | undefined;
}

export interface StoresToOpen {
  readonly dataDir: string;
  /** A store of more bytes is not looked through before it is opened. */
  readonly bytesMaxNow: number;
  readonly log: Log;
}

/** Opens both. Rejects with DamagedStoreError or DamagedValueError, and then nothing was changed; or with StoreError. */
export async function openStores({ dataDir, bytesMaxNow, log }: StoresToOpen): Promise<OpenedStores> {
  const [control, series] = [join(dataDir, "control"), join(dataDir, "series")];
  const checks = await Promise.all([
    checkStore(control, { tables: CONTROL_TABLES, bytesMaxNow }),
    checkStore(series, { tables: SERIES_TABLES, bytesMaxNow }),
  ]);
  const later = checks.flatMap((check) => check.later ?? []);
  const controlStore = openLmdbStore({
    path: control,
    tables: CONTROL_TABLES,
    dictionaries: CONTROL_DICTIONARIES,
    readDictionaries: CONTROL_READ_DICTIONARIES,
  });
  const seriesStore = openLmdbStore({ path: series, tables: SERIES_TABLES });
  await seal(control, controlStore, CONTROL_TABLES, log);
  await seal(series, seriesStore, SERIES_TABLES, log);
  log("info", "the stores are open", { unchecked: later.length });
  const checkLater = async () => {
    for (const check of later) await check();
  };
  return { controlStore, seriesStore, checkLater: later.length === 0 ? undefined : checkLater };
}

/** A store of an earlier version gets its checksums once; on a full disk later. */
async function seal(path: string, store: SealableStore, tables: readonly string[], log: StoresToOpen["log"]): Promise<void> {
  if (store.isSealed) return;
  // A server that was killed before its first commit leaves tables without rows.
  const isEmpty = tables.every((table) => store.range(table, { from: TABLE_START, to: TABLE_END, limit: 1 }).length === 0);
  if (!isEmpty) log("info", `${path} was written by an earlier version: its values get checksums now, once`);
  try {
    await store.sealAll(checkUnsealedRow);
  } catch (error) {
    if (!(error instanceof StoreError && error.retryable)) throw error;
    log("warn", `${path}: not every value got its checksum (${error.code}); the next start goes on`);
  }
}
