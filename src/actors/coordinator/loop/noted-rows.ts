/**
 * Rows and states that a run before has ended over, by the notes of its threads: they are taken out before anything is read, and their bytes kept. A row is noted where it has no form that
 * this program knows and was met while it served; the state of a partition where an engine could not take it. In the state's place comes one without streams, as for a damaged store:
 * they are learned anew, from what the log still holds on, and what is stored of them stays.
 */
import { type FoundNote, readCrashNotes, removeCrashNote, writeCrashNote } from "../../../adapters/log/crash-notes.ts";
import type { KeyValueStore, StoreOperation } from "../../../adapters/storage/key-value-store.ts";
import type { RowTrace } from "../../../adapters/storage/traced-store.ts";
import { keyText } from "../../../adapters/storage/value-seal.ts";
import { type Fault, failureOf } from "../../../core/faults/guard.ts";
import type { RowPosition } from "../../../core/protocol/crash-note.ts";
import type { SetAsideItem } from "../../../core/protocol/set-aside.ts";
import { decodeCheckpointRow } from "../../../modules/state/checkpoint-row.ts";
import { emptyCheckpoint, SERIALS_LEFT_OUT } from "../../../modules/state/rescued-checkpoints.ts";
import { scan } from "../../../modules/state/scan.ts";
import { UnknownRowError } from "../../../modules/state/stored-json.ts";
import { NEEDED_TABLES, partitionKey } from "../../../modules/state/tables.ts";

/** The stores by their names. */
export interface NamedStores {
  readonly control: KeyValueStore;
  readonly series: KeyValueStore;
}

/**
 * Throws on a row without a known form that work of the coordinator's own has met, so that its thread ends over it and notes it: at its next turn the work would only meet it again, and what
 * comes behind the row would never be done. Other faults go to `report`; a query over such a row is answered 500.
 */
export function endOverRow(report: (fault: Fault) => void): (fault: Fault) => void {
  return (fault) => {
    if (fault.where === "task" && fault.error instanceof UnknownRowError) throw failureOf(fault.name, fault.error);
    report(fault);
  };
}

/** Notes the row that the coordinator ends over; nothing where its end is no row's fault. */
export function noteRow(
  error: unknown,
  {
    dataDir,
    epoch,
    trace,
    control,
  }: { readonly dataDir: string; readonly epoch: number; readonly trace: RowTrace; readonly control: KeyValueStore },
): void {
  const { row } = trace;
  if (!(error instanceof UnknownRowError) || error.isOfOtherVersion || row === undefined) return;
  if (row.table !== error.table || NEEDED_TABLES.has(row.table)) return;
  const store = row.store === control ? "control" : "series";
  const place: RowPosition = { type: "row", store, table: row.table, key: Buffer.from(row.key).toString("hex") };
  writeCrashNote(dataDir, { epoch, actor: "coordinator", reason: error.message, place });
}

/** Takes out what is noted; answers what that was. `keep` answers false where there is no room for its bytes: then it stays. */
export async function takeNoted(dataDir: string, stores: NamedStores, keep: (item: SetAsideItem) => boolean): Promise<SetAsideItem[]> {
  const taken: SetAsideItem[] = [];
  for (const note of readCrashNotes(dataDir)) {
    const { place } = note;
    if (place.type === "block") continue;
    const found = place.type === "row" ? notedRow(note, place, stores[place.store]) : notedState(note, place.partition, stores.series);
    if (!found.items.every(keep)) continue;
    const store = place.type === "row" ? stores[place.store] : stores.series;
    if (found.operations.length > 0) await store.commit(found.operations, { sync: true });
    taken.push(...found.items);
    removeCrashNote(note);
  }
  return taken;
}

interface Noted {
  readonly items: readonly SetAsideItem[];
  readonly operations: readonly StoreOperation[];
}

/** A stored row that is set aside. */
export function rowItem(table: string, key: Uint8Array, bytes: Uint8Array, reason: string): SetAsideItem {
  const hex = keyText(key).slice(2);
  const name = `row-${table}-${hex.slice(0, 48)}${hex.length > 48 ? `-${hex.slice(-16)}` : ""}`;
  return { name, what: `a stored row (table ${table}, key ${keyText(key)}) cannot be read`, reason, bytes };
}

function notedRow({ reason }: FoundNote, { table, key: hex }: RowPosition, store: KeyValueStore): Noted {
  const key = new Uint8Array(Buffer.from(hex, "hex"));
  const value = store.get(table, key);
  if (value === undefined) return { items: [], operations: [] };
  return { items: [rowItem(table, key, value, reason)], operations: [{ table, key, value: undefined }] };
}

function notedState({ reason }: FoundNote, partition: number, series: KeyValueStore): Noted {
  const key = partitionKey(partition);
  const row = series.get("checkpoints", key);
  if (row === undefined) return { items: [], operations: [] };
  const { header } = decodeCheckpointRow(row);
  const items: SetAsideItem[] = [stateItem(partition, header.generation, "last", row, reason)];
  const operations: StoreOperation[] = [];
  for (const part of scan(series, "checkpoint_parts", key, partitionKey(partition + 1))) {
    items.push(stateItem(partition, header.generation, Buffer.from(part.key).toString("hex"), part.value, reason));
    operations.push({ table: "checkpoint_parts", key: part.key, value: undefined });
  }
  const { nextBlock, nextSerial, generation } = header;
  const value = emptyCheckpoint(partition, { header, nextBlock, nextSerial: nextSerial + SERIALS_LEFT_OUT, generation });
  return { items, operations: [...operations, { table: "checkpoints", key, value }] };
}

function stateItem(partition: number, generation: number, part: string, bytes: Uint8Array, reason: string): SetAsideItem {
  const name = `checkpoint-${partition}-${generation}-${part}`;
  return { name, what: `a part of the state of partition ${partition} cannot be read; its series are learned anew`, reason, bytes };
}
