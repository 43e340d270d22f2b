// When something was wrong, by the labels of public data: rows of a file, or NAB's windows.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Rows before and behind an incident in which a page finds it, as of pages (page_report.py). */
const ROWS_BEFORE = 3;
const ROWS_BEHIND = 12;

/** Whether a time is in an incident. */
export type Within = (timeMs: number) => boolean;

/** Incidents of a file below a folder, the times of whose rows are given. */
export function incidentsOf(folder: string): (path: string, times: Float64Array) => Within {
  const windows = join(folder, "windows.json");
  const isByWindow = existsSync(windows);
  const labels = JSON.parse(readFileSync(isByWindow ? windows : join(folder, "events.json"), "utf8"));
  const named = new Map(Object.entries(labels as Record<string, Array<[string & number, string & number]>>));
  return (path, times) => {
    const name = path.slice(folder.length + 1).replace(/\.gz$/, "");
    const ranges = named.get(name) ?? named.get(name.replace(/(?:\.test)?\.csv$/, ""));
    if (ranges === undefined) throw new Error(`${folder} has no labels of ${name}`);
    const spans = ranges.map(([from, to]) => (isByWindow ? [timeOf(from), timeOf(to)] : rowsTimes(times, from, to)) as [number, number]);
    return (timeMs) => spans.some(([from, to]) => timeMs >= from && timeMs <= to);
  };
}

function timeOf(text: string): number {
  return Date.parse(`${text.slice(0, 19).replace(" ", "T")}Z`);
}

function rowsTimes(times: Float64Array, from: number, to: number): [number, number] {
  return [times[Math.max(0, from - ROWS_BEFORE)] as number, times[Math.min(times.length - 1, to + ROWS_BEHIND)] as number];
}
