/**
 * A start over stored rows of which one cannot be read or handled: it is taken out of its table, and the start is made again. Damage is another matter (it ends the start, with its
 * remedy), as is a row of another version, and a row that says what is stored elsewhere. A row is known by being the one that was looked at last. Where that was not it the start fails in
 * the same way again: such a row is put back once the start succeeds, if it succeeds with it too. Where a start never succeeds every row is put back, and it ends as it would have.
 */
import { type KeyValueStore, StoreError } from "../../../adapters/storage/key-value-store.ts";
import type { RowTrace, TracedRow } from "../../../adapters/storage/traced-store.ts";
import { ROWS_SET_ASIDE_PER_START_MAX } from "../../../core/config/set-aside-limits.ts";
import type { SetAsideItem } from "../../../core/protocol/set-aside.ts";
import { UnknownRowError } from "../../../modules/state/stored-json.ts";
import { NEEDED_TABLES } from "../../../modules/state/tables.ts";
import { rowItem } from "./noted-rows.ts";

const DAMAGE_NAMES: ReadonlySet<string> = new Set(["DamagedValueError", "DamagedStoreError"]);

/** A row that stood in the way of a start. */
interface RowInTheWay {
  readonly row: TracedRow;
  readonly error: Error;
}

export interface StartDependencies {
  readonly trace: RowTrace;
  /** Keeps the bytes of a row; false where there is no room for them. */
  keep(item: SetAsideItem): boolean;
}

/** A start, and what it has left out. */
export interface SparedStart<T> {
  readonly started: T;
  readonly leftOut: readonly SetAsideItem[];
}

/** Makes a start until it succeeds. Rejects with what stands in its way that may not be left out. */
export async function startWithoutRows<T>(start: () => Promise<T>, { trace, keep }: StartDependencies): Promise<SparedStart<T>> {
  const out: RowInTheWay[] = [];
  for (;;) {
    trace.clear();
    try {
      const started = await start();
      const retained = await putBackInnocent(out, { started, again: start });
      return { started: retained.started, leftOut: retained.out.map(itemOf) };
    } catch (error) {
      const found = inTheWay(trace.row, error);
      if (found === undefined || out.length >= ROWS_SET_ASIDE_PER_START_MAX || !keep(itemOf(found))) {
        for (const { row } of out) await put(row, row.value);
        throw error;
      }
      await put(found.row, undefined);
      out.push(found);
    }
  }
}

function inTheWay(row: TracedRow | undefined, error: unknown): RowInTheWay | undefined {
  if (row === undefined || NEEDED_TABLES.has(row.table) || !(error instanceof Error)) return undefined;
  if (error instanceof StoreError || DAMAGE_NAMES.has(error.name)) return undefined;
  return error instanceof UnknownRowError && error.isOfOtherVersion ? undefined : { row, error };
}

/** Rows after which the start failed as before, where it succeeds with them too. */
async function putBackInnocent<T>(
  out: readonly RowInTheWay[],
  { started, again }: { readonly started: T; readonly again: () => Promise<T> },
): Promise<{ readonly started: T; readonly out: readonly RowInTheWay[] }> {
  let last = started;
  const guilty: RowInTheWay[] = [];
  for (const [at, each] of out.entries()) {
    const isSuspect = out[at + 1]?.error.message === each.error.message;
    if (isSuspect) await put(each.row, each.row.value);
    const next = isSuspect ? await again().catch(() => undefined) : undefined;
    if (next !== undefined) last = next;
    else {
      if (isSuspect) await put(each.row, undefined);
      guilty.push(each);
    }
  }
  const wasTriedInVain = out.length > 1 && guilty.length > 0;
  return { started: wasTriedInVain ? await again() : last, out: guilty };
}

function put(
  { store, table, key }: { readonly store: KeyValueStore; readonly table: string; readonly key: Uint8Array },
  value: Uint8Array | undefined,
) {
  return store.commit([{ table, key, value }], { sync: true });
}

function itemOf({ row: { table, key, value }, error }: RowInTheWay): SetAsideItem {
  return rowItem(table, key, value, error.message);
}
