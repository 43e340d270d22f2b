/**
 * History as CSV (RFC 4180): a header line, then a sample a line. Columns in any order: `timestamp` (RFC 3339, or seconds or milliseconds since 1970),
 * `service_id`, `metric_name`, `value`; every other column is an attribute, an empty cell of it none. Read in pieces, so a file need not fit into memory.
 */
import { parseRfc3339 } from "../../core/base/rfc3339.ts";
import { ATTRIBUTES_MAX, IMPORT_LINE_LENGTH_MAX } from "../../core/config/limits.ts";
import { type HistoryCollector, HistoryError } from "./history-collector.ts";

const REQUIRED = ["timestamp", "service_id", "metric_name", "value"] as const;
const EPOCH = /^\d{1,13}(?:\.\d{1,9})?$/;
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?$/;
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
  const names = splitCells(line.replace(/^\ufeff/, "")).map((cell) => cell.trim());
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
    const text = this.#rest === "" ? piece : this.#rest + piece;
    let from = 0;
    for (let end = lineEnd(text, from); end >= 0; end = lineEnd(text, from)) {
      this.#take(text.slice(from, end));
      from = end + 1;
    }
    this.#rest = text.slice(from);
    if (this.#rest.length > IMPORT_LINE_LENGTH_MAX) this.#fail(`has more than ${IMPORT_LINE_LENGTH_MAX} characters; is a quote left open?`);
  }

  /** Takes what stands behind the last line break. */
  end(): void {
    if (this.#rest !== "") this.#take(this.#rest);
    this.#rest = "";
    if (this.#columns === undefined)
      throw new HistoryError("unprocessable", `the CSV is empty; its first line names the columns: ${REQUIRED.join(",")}`);
  }

  #take(given: string): void {
    const line = given.endsWith("\r") ? given.slice(0, -1) : given;
    if (line.length > IMPORT_LINE_LENGTH_MAX) this.#fail(`has ${line.length} characters; at most ${IMPORT_LINE_LENGTH_MAX} are read`);
    const at = this.#line;
    for (let i = 0; i < given.length; i++) if (given.charCodeAt(i) === 10) this.#line++;
    this.#line++;
    if (line === "") return;
    const cells = splitCells(at === 1 && line.startsWith("\ufeff") ? line.slice(1) : line);
    if (this.#columns === undefined) this.#columns = readHeader(cells, at);
    else this.#sample(cells, this.#columns, () => `line ${at}`);
  }

  #sample(cells: readonly string[], columns: Columns, at: () => string): void {
    const collector = this.#collector;
    if (cells.length !== columns.count) {
      collector.refuse(at, "invalid_record", `has ${cells.length} cells, the header has ${columns.count}`);
      return;
    }
    const cell = (name: (typeof REQUIRED)[number]) => cells[columns.places[name]] as string;
    const timeMs = cellTime(cell("timestamp").trim());
    const value = cell("value").trim();
    if (timeMs === undefined) {
      collector.refuse(
        at,
        "invalid_timestamp",
        `timestamp must be RFC 3339 or seconds or milliseconds since 1970, got ${shown(cell("timestamp"))}`,
      );
    } else if (!NUMBER.test(value)) collector.refuse(at, "invalid_value", `value must be a finite number, got ${shown(value)}`);
    else {
      const present = columns.attributes.filter(([place]) => cells[place] !== "");
      const attributes = Object.fromEntries(present.map(([place, name]) => [name, cells[place] as string]));
      const series = collector.find({ serviceId: cell("service_id"), metricName: cell("metric_name"), attributes }, at, 1);
      if (series !== undefined) collector.add(series, timeMs, Number(value), at);
    }
  }

  #fail(what: string): never {
    throw new HistoryError("unprocessable", `line ${this.#line} ${what}`);
  }
}

/** Where the line that begins at `from` ends: the first line break that is not in quotes; -1 for none. */
function lineEnd(text: string, from: number): number {
  let isQuoted = false;
  for (let i = from; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 34) isQuoted = !isQuoted;
    else if (code === 10 && !isQuoted) return i;
  }
  return -1;
}

function splitCells(line: string): string[] {
  if (!line.includes('"')) return line.split(",");
  const cells: string[] = [];
  let cell = "";
  let isQuoted = false;
  for (let i = 0; i < line.length; i++) {
    const character = line[i] as string;
    if (character === '"' && isQuoted && line[i + 1] === '"') {
      cell += '"';
      i++;
    } else if (character === '"') isQuoted = !isQuoted;
    else if (character === "," && !isQuoted) {
      cells.push(cell);
      cell = "";
    } else cell += character;
  }
  return [...cells, cell];
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
    .map((name, place) => [place, name] as const)
    .filter(([, name]) => !(REQUIRED as readonly string[]).includes(name));
  if (attributes.length > ATTRIBUTES_MAX) fail(`names ${attributes.length} attributes, at most ${ATTRIBUTES_MAX} are read`);
  const place = (name: string) => names.indexOf(name);
  const places = {
    timestamp: place("timestamp"),
    service_id: place("service_id"),
    metric_name: place("metric_name"),
    value: place("value"),
  };
  return { count: names.length, places, attributes };
}

function shown(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}
