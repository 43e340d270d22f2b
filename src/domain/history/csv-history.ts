/**
 * History as CSV (RFC 4180): a header line, then a sample a line. Columns in any order: `timestamp` (RFC 3339, or seconds or milliseconds since 1970),
 * `service_id`, `metric_name`, `value`; every other column is an attribute, an empty cell of it none. Read in pieces, so a file need not fit into memory.
 */

import { ATTRIBUTES_MAX, IMPORT_LINE_LENGTH_MAX } from "../../core/config/limits.ts";
import { parseRfc3339 } from "../../core/time/rfc3339.ts";
import { type CsvRow, faultyRow, readCsvRow } from "./csv-row.ts";
import { numberOfText } from "./decimal.ts";
import { type HistoryCollector, HistoryError } from "./history-collector.ts";

const REQUIRED = ["timestamp", "service_id", "metric_name", "value"] as const;
const EPOCH = /^\d{1,13}(?:\.\d{1,9})?$/;
const BYTE_ORDER_MARK = /^\ufeff/;
/** Below, a number of seconds: as milliseconds it would lie in 1973. */
const MILLISECONDS_FROM = 1e11;

interface Columns {
  readonly count: number;
  readonly places: Readonly<Record<(typeof REQUIRED)[number], number>>;
  readonly attributes: ReadonlyArray<readonly [place: number, name: string]>;
}

/** Milliseconds since 1970 of a cell, or undefined. */
export function cellTime(cell: string): number | undefined {
  if (!EPOCH.test(cell)) return parseRfc3339(cell);
  const number = Number(cell);
  return number < MILLISECONDS_FROM ? Math.round(number * 1000) : Math.floor(number);
}

/** Whether a line is the header of such a text. */
export function isHistoryHeader(line: string): boolean {
  const names = (readCsvRow(line.replace(BYTE_ORDER_MARK, ""), 0, true)?.cells ?? []).map((cell) => cell.trim());
  return REQUIRED.every((name) => names.includes(name));
}

/** Reads one text, piece by piece. */
export class CsvHistory {
  readonly #collector: HistoryCollector;
  #columns: Columns | undefined;
  #rest = "";
  /** Number of the line that #rest begins with. */
  #line = 1;

  constructor(collector: HistoryCollector) {
    this.#collector = collector;
  }

  /** Takes the next piece. Throws HistoryError when the text cannot be CSV of this form. */
  push(piece: string): void {
    this.#rest = this.#takeRows(this.#rest + piece, false);
  }

  /** Takes what stands behind the last line break. */
  end(): void {
    this.#takeRows(this.#rest, true);
    this.#rest = "";
    if (this.#columns === undefined)
      throw new HistoryError("unprocessable", `the CSV is empty; its first line names the columns: ${REQUIRED.join(",")}`);
  }

  /** Takes the rows that are there as a whole, and gives back what is left. */
  #takeRows(text: string, isWhole: boolean): string {
    let from = this.#line === 1 && BYTE_ORDER_MARK.test(text) ? 1 : 0;
    const start = from;
    while (from < text.length && this.#hasLine(text, from, isWhole)) {
      const row = readCsvRow(text, from, isWhole);
      if (row === undefined) break;
      from = this.#take(row, text, from);
    }
    return from === start ? text : text.slice(from);
  }

  /** Whether the first line behind `from` is there. */
  #hasLine(text: string, from: number, isWhole: boolean): boolean {
    const lineFeed = text.indexOf("\n", from);
    const length = (lineFeed < 0 ? text.length : lineFeed) - from;
    if (length > IMPORT_LINE_LENGTH_MAX)
      throw new HistoryError(
        "unprocessable",
        `line ${this.#line} has more than ${IMPORT_LINE_LENGTH_MAX} characters, which is all that is read`,
      );
    return isWhole || lineFeed >= 0;
  }

  /** Takes a row, and gives back where the next one begins. */
  #take(input: CsvRow, text: string, from: number): number {
    const row = this.#judged(input, text, from);
    const line = this.#line;
    for (let at = text.indexOf("\n", from); at >= 0 && at < row.end; at = text.indexOf("\n", at + 1)) this.#line++;
    const at = () => `line ${line}`;
    if (row.fault !== undefined) {
      if (this.#columns === undefined) throw new HistoryError("unprocessable", `line ${line}: the header ${row.fault}`);
      this.#collector.refuse(at, "invalid_record", row.fault);
    } else if (row.cells.length > 0) {
      if (this.#columns === undefined) this.#columns = readHeader(row.cells, line);
      else this.#sample(row.cells, this.#columns, at);
    }
    return row.end;
  }

  /** A row of another number of cells is one line: where it has several a quote was meant as a character, and the lines behind are rows of their own. */
  #judged(row: CsvRow, text: string, from: number): CsvRow {
    const { cells, fault } = row;
    if (this.#columns === undefined || fault !== undefined || cells.length === 0 || cells.length === this.#columns.count) return row;
    return faultyRow(text, from, `has ${cells.length} cells, the header has ${this.#columns.count}`);
  }

  #sample(cells: readonly string[], columns: Columns, at: () => string): void {
    const collector = this.#collector;
    const cell = (name: (typeof REQUIRED)[number]) => cells[columns.places[name]] as string;
    const timeMs = cellTime(cell("timestamp").trim());
    const value = numberOfText(cell("value").trim());
    if (timeMs === undefined) {
      collector.refuse(
        at,
        "invalid_timestamp",
        `timestamp must be RFC 3339 or seconds or milliseconds since 1970, got ${shown(cell("timestamp"))}`,
      );
    } else if (value === undefined || !Number.isFinite(value))
      collector.refuse(at, "invalid_value", `value must be a finite number, got ${shown(cell("value"))}`);
    else {
      const present = columns.attributes.filter(([index]) => cells[index] !== "");
      const attributes = Object.fromEntries(present.map(([index, name]) => [name, cells[index] as string]));
      const series = collector.find({ serviceId: cell("service_id"), metricName: cell("metric_name"), attributes }, at, 1);
      if (series !== undefined) collector.add(series, timeMs, value, at);
    }
  }
}

function readHeader(cells: readonly string[], line: number): Columns {
  const names = cells.map((cell) => cell.trim());
  const fail = (what: string): never => {
    throw new HistoryError(
      "unprocessable",
      `line ${line}: the header ${what}; it must name ${REQUIRED.join(", ")}, other columns are attributes`,
    );
  };
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) fail(`names ${shown(twice)} twice`);
  if (names.includes("")) fail("has a column without a name");
  const missing = REQUIRED.find((name) => !names.includes(name));
  if (missing !== undefined) fail(`does not name ${missing}`);
  const attributes = names
    .map((name, index) => [index, name] as const)
    .filter(([, name]) => !(REQUIRED as readonly string[]).includes(name));
  if (attributes.length > ATTRIBUTES_MAX) fail(`names ${attributes.length} attributes, at most ${ATTRIBUTES_MAX} are read`);
  const position = (name: string) => names.indexOf(name);
  const places = {
    timestamp: position("timestamp"),
    service_id: position("service_id"),
    metric_name: position("metric_name"),
    value: position("value"),
  };
  return { count: names.length, places, attributes };
}

function shown(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}
