// Which of a service's vectors a requested training takes: none of labelled incidents, and of a long window evenly spread runs of consecutive ones, since a model
// also learns the steps from one vector to the next.
import type { TimedRows } from "./service-model.ts";
import { RUN_ROWS } from "./training-rows.ts";

/** Rows that a requested training leaves out. */
export interface RowSelection {
  /** Times that nothing is learned from, [from, to) in ms, in any order. */
  readonly excluded: readonly (readonly [fromMs: number, toMs: number])[];
  /** Vectors that are taken at most. */
  readonly rowsMax: number;
}

/** Outcome for the window's vectors. */
export interface SelectedRows {
  readonly rows: TimedRows;
  /** In the window, and of them in times that are left out. */
  readonly found: number;
  readonly excluded: number;
  /** Time of the oldest vector found, ms; 0 where there is none. */
  readonly sinceMs: number;
}

/** Selects from consecutive vectors. */
export function selectRows(all: TimedRows, { excluded, rowsMax }: RowSelection): SelectedRows {
  const { times } = all;
  const clean: number[] = [];
  for (let row = 0; row < times.length; row++) if (!isExcluded(times[row] as number, excluded)) clean.push(row);
  const retained = clean.length <= rowsMax ? clean : evenRuns(clean, rowsMax);
  const rows = retained.length === times.length ? all : picked(all, retained);
  return { rows, found: times.length, excluded: times.length - clean.length, sinceMs: times[0] ?? 0 };
}

function isExcluded(timeMs: number, excluded: RowSelection["excluded"]): boolean {
  return excluded.some(([fromMs, toMs]) => timeMs >= fromMs && timeMs < toMs);
}

/** Runs spread over all, as many as `rowsMax` holds; the newest among them. */
function evenRuns(rows: readonly number[], rowsMax: number): number[] {
  const runs = Math.ceil(rows.length / RUN_ROWS);
  const retained = Math.floor(rowsMax / RUN_ROWS);
  return rows.filter((_, at) => {
    const run = runs - 1 - Math.floor((rows.length - 1 - at) / RUN_ROWS);
    return Math.floor(((run + 1) * retained) / runs) > Math.floor((run * retained) / runs);
  });
}

function picked({ times, values, width }: TimedRows, rows: readonly number[]): TimedRows {
  const chosen = new Float64Array(rows.length * width);
  for (const [at, row] of rows.entries()) chosen.set(values.subarray(row * width, (row + 1) * width), at * width);
  return {
    times: Float64Array.from(rows, (row) => times[row] as number),
    values: chosen,
    width,
    breaks: Uint8Array.from(rows, (row, at) => (at > 0 && row !== (rows[at - 1] as number) + 1 ? 1 : 0)),
  };
}
