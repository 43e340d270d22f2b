// The two stores of a data folder: looked at before they are opened, and refused where they are of a format that is read no more.
import { join } from "node:path";
import type { KeyValueStore } from "../../../adapters/storage/key-value-store.ts";
import { PackedStore } from "../../../adapters/storage/packed-store.ts";
import { checkStore } from "../../../adapters/storage/store-check.ts";
import { openCompacted } from "../../../adapters/storage/store-compaction.ts";
import type { Log } from "../../../core/telemetry/log-event.ts";
import { KeyBuilder } from "../../../domain/codec/key.ts";
import { checkSpanBlockVersion } from "../../../domain/trace/span-block.ts";
import { checkDecisionVersion } from "../../../modules/alerts/rows/decision-row.ts";
import { scanTenants } from "../../../modules/state/scan.ts";
import { TABLE_END } from "../../../modules/state/tables.ts";
import { CONTROL_TABLES, PACKED_TABLES, SERIES_TABLES } from "../nouns/modules.ts";

const SERIES = "series";

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

/** Opens both. Rejects with DamagedStoreError, DamagedValueError or OlderFolderError, and then nothing was changed; or with StoreError. */
export async function openStores({ dataDir, bytesMaxNow, log }: StoresToOpen): Promise<OpenedStores> {
  const [control, series] = [join(dataDir, "control"), join(dataDir, SERIES)];
  const checks = await Promise.all([
    checkStore(control, { tables: CONTROL_TABLES, bytesMaxNow }),
    checkStore(series, { tables: SERIES_TABLES, bytesMaxNow }),
  ]);
  const later = checks.flatMap((check) => check.later ?? []);
  const ofControl = await openCompacted({ path: control, tables: CONTROL_TABLES }, log);
  const ofSeries = await openCompacted({ path: series, tables: SERIES_TABLES }, log);
  const controlStore = new PackedStore(ofControl, PACKED_TABLES.control);
  const seriesStore = new PackedStore(ofSeries, PACKED_TABLES.series);
  const close = async () => void (await Promise.all([controlStore.close(), seriesStore.close()]));
  await refuseOlder(control, ofControl.isSealed, controlStore, close);
  await refuseOlder(series, ofSeries.isSealed, seriesStore, close);
  log("info", "the stores are open", { unchecked: later.length });
  const checkLater = async () => {
    for (const check of later) await check();
  };
  return { controlStore, seriesStore, checkLater: later.length === 0 ? undefined : checkLater };
}

/** A data folder whose format is read no more. */
class OlderFolderError extends Error {
  constructor(path: string, what: string) {
    super(
      `${path} is of an earlier format, which this version does not read (${what}): begin with a new DATA_DIR, or go on with the version that wrote it`,
    );
    this.name = "OlderFolderError";
  }
}

/** Throws where a store has rows of before format 1 that nothing would meet at the start. Anomalies, alerts and all small objects are read at the start itself. */
async function refuseOlder(path: string, isSealed: boolean, store: KeyValueStore, close: () => Promise<void>): Promise<void> {
  try {
    if (!isSealed) throw new OlderFolderError(path, "its values have no checksums");
    if (!path.endsWith(SERIES)) return;
    checkOldest(path, store, "ledger", checkDecisionVersion);
    checkOldest(path, store, "span_blocks", checkSpanBlockVersion);
  } catch (error) {
    await close();
    throw error;
  }
}

/** A tenant's rows lie by time, the oldest first: a later one is of no earlier version. */
function checkOldest(path: string, store: KeyValueStore, table: string, check: (value: Uint8Array) => void): void {
  for (const tenant of scanTenants(store, table)) {
    const [oldest] = store.range(table, { from: new KeyBuilder().text(tenant).finish(), to: TABLE_END, limit: 1 });
    try {
      if (oldest !== undefined) check(oldest.value);
    } catch (error) {
      throw new OlderFolderError(path, (error as Error).message);
    }
  }
}
