// Tables of the labelled data: gzip, one header line, commas; only texts of logs are quoted.
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

/** A wide table of numbers by time; a missing value is NaN. */
export interface WideTable {
  /** Seconds. */
  readonly times: Float64Array;
  readonly columns: ReadonlyMap<string, Float64Array>;
}

/** Lines of a file. */
export function gzipLines(file: string): string[] {
  return gunzipSync(readFileSync(file))
    .toString("utf8")
    .split("\n")
    .filter((line) => line !== "");
}

export function readWideTable(file: string): WideTable {
  const [header = "", ...rows] = gzipLines(file);
  const names = header.split(",");
  const columns = names.map(() => new Float64Array(rows.length).fill(Number.NaN));
  rows.forEach((row, at) => {
    row.split(",").forEach((cell, column) => {
      if (cell !== "") columns[column]![at] = Number(cell);
    });
  });
  return { times: columns[0]!, columns: new Map(names.slice(1).map((name, i) => [name, columns[i + 1]!])) };
}

/** The cells of a line whose last `texts` cells may be quoted. */
export function cellsOf(line: string, plain: number): string[] {
  const cells: string[] = [];
  let at = 0;
  for (let i = 0; i < plain; i++) {
    const end = line.indexOf(",", at);
    cells.push(line.slice(at, end));
    at = end + 1;
  }
  const last = line.slice(at);
  cells.push(last.startsWith('"') ? last.slice(1, -1).replaceAll('""', '"') : last);
  return cells;
}
