// A file of samples, CSV or CSV.gz, row by row in bounded memory: `timestamp,value`, `timestamp,m1..mN`, or `m1..mN` with a given interval.
import { createReadStream } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import { createGunzip } from "node:zlib";
import { IMPORT_LINE_LENGTH_MAX } from "../../core/config/limits.ts";
import { messageOf } from "../../core/text/error-text.ts";
import { cellTime } from "../../domain/history/csv-history.ts";
import { numberOfText } from "../../domain/history/decimal.ts";
import { ReplayError } from "./replay-options.ts";

const TIME_COLUMNS = new Set(["timestamp", "time", "datetime", "date", "ts"]);
const MISSING = new Set(["", "nan", "null", "na"]);
const ZONE = /(?:[zZ]|[+-]\d\d:?\d\d)$/;
/** Metrics of one service in one file. */
const REPLAY_METRICS_MAX = 1024;

/** A row; `values` is used again for the next one, NaN is no value. One that is late is earlier than a row before it. */
export interface CsvRow {
  readonly isLate: boolean;
  /** As in the file; the virtual clock's time where the file has none. */
  readonly timestamp: string;
  readonly timeMs: number;
  readonly values: Float64Array;
}

/** The columns of a file. */
export interface CsvColumns {
  readonly hasTime: boolean;
  readonly metrics: readonly string[];
}

/** The late rows of a file. */
export interface LateRows {
  readonly rows: number;
  readonly firstLine: number;
}

/** Reads the rows of a file. Throws ReplayError with file and line. */
export class CsvRows {
  readonly #path: string;
  readonly #intervalMs: number | undefined;
  readonly #startMs: number;
  #columns: CsvColumns | null = null;
  #values = new Float64Array(0);
  #line = 0;
  #rows = 0;
  #newestMs = Number.NEGATIVE_INFINITY;
  #late: LateRows | null = null;

  /** Files without timestamps take `intervalMs`; their first row is at `startMs`. */
  constructor(path: string, intervalMs: number | undefined, startMs = 0) {
    this.#path = path;
    this.#intervalMs = intervalMs;
    this.#startMs = startMs;
  }

  /** Known from the first row on. */
  get columns(): CsvColumns {
    return this.#columns ?? { hasTime: true, metrics: [] };
  }

  /** Late rows among what was read so far; null where all rows were in order. */
  get late(): LateRows | null {
    return this.#late;
  }

  async *read(): AsyncGenerator<CsvRow> {
    for await (const line of linesOf(this.#path)) {
      this.#line++;
      const text = line.trim();
      if (text === "") continue;
      const cells = text.split(",").map(plain);
      if (this.#columns === null) {
        this.#columns = this.#readHeader(cells);
        this.#values = new Float64Array(this.#columns.metrics.length);
        if (!cells.every(isNumber)) continue;
      }
      yield this.#readRow(cells, this.#columns);
    }
    if (this.#rows === 0) throw new ReplayError(`${this.#path} holds no rows; give timestamp,value or timestamp,m1,...,mN`);
  }

  #readHeader(cells: readonly string[]): CsvColumns {
    const hasNames = !cells.every(isNumber);
    const hasTime = hasNames && TIME_COLUMNS.has((cells[0] as string).toLowerCase());
    if (!hasTime && this.#intervalMs === undefined)
      throw new ReplayError(
        `${this.#path} has no timestamp column (its first is ${JSON.stringify(cells[0])}); give --interval with the seconds between its rows`,
      );
    const names = hasTime ? cells.slice(1) : cells;
    if (names.length === 0 || names.length > REPLAY_METRICS_MAX)
      throw this.#problem(`has ${names.length} columns of values; 1 to ${REPLAY_METRICS_MAX} are taken`);
    return { hasTime, metrics: hasNames ? names : names.map((_, j) => `m${j + 1}`) };
  }

  #readRow(cells: readonly string[], { hasTime, metrics }: CsvColumns): CsvRow {
    const first = hasTime ? 1 : 0;
    if (cells.length !== metrics.length + first) throw this.#problem(`has ${cells.length} cells instead of ${metrics.length + first}`);
    for (let j = 0; j < metrics.length; j++) this.#values[j] = this.#number(cells[first + j] as string);
    const timeMs = hasTime ? this.#time(cells[0] as string) : this.#startMs + this.#rows * (this.#intervalMs as number);
    const isLate = timeMs < this.#newestMs;
    if (isLate) this.#late = { rows: (this.#late?.rows ?? 0) + 1, firstLine: this.#late?.firstLine ?? this.#line };
    this.#newestMs = Math.max(this.#newestMs, timeMs);
    this.#rows++;
    return { isLate, timestamp: hasTime ? (cells[0] as string) : new Date(timeMs).toISOString(), timeMs, values: this.#values };
  }

  #number(cell: string): number {
    if (MISSING.has(cell.toLowerCase())) return Number.NaN;
    const value = numberOfText(cell);
    if (value === undefined || !Number.isFinite(value)) throw this.#problem(`has ${JSON.stringify(cell)} where a number stands`);
    return value;
  }

  #time(cell: string): number {
    const known = cellTime(cell) ?? cellTime(`${cell.replace(" ", "T")}${ZONE.test(cell) ? "" : "Z"}`);
    if (known === undefined) throw this.#problem(`has the time ${JSON.stringify(cell)}; give 2026-01-31T12:00:00Z, or seconds since 1970`);
    return known;
  }

  #problem(message: string): ReplayError {
    return new ReplayError(`${this.#path}: line ${this.#line} ${message}`);
  }
}

function plain(cell: string): string {
  const text = cell.trim();
  return text.startsWith('"') && text.endsWith('"') && text.length > 1 ? text.slice(1, -1) : text;
}

function isNumber(cell: string): boolean {
  return Number.isFinite(numberOfText(cell));
}

async function* linesOf(path: string): AsyncGenerator<string> {
  const file = createReadStream(path);
  const stream = path.endsWith(".gz") ? file.pipe(createGunzip()) : file;
  const decoder = new StringDecoder("utf8");
  let rest = "";
  // pipe() does not pass errors on: without this a missing .gz would end the process.
  file.on("error", (error) => stream.destroy(error));
  try {
    for await (const piece of stream) {
      const lines = (rest + decoder.write(piece as Buffer)).split("\n");
      rest = lines.pop() as string;
      if (rest.length > IMPORT_LINE_LENGTH_MAX)
        throw new ReplayError(`${path} has a line of more than ${IMPORT_LINE_LENGTH_MAX} characters`);
      yield* lines;
    }
  } catch (error) {
    throw error instanceof ReplayError ? error : new ReplayError(`${path} cannot be read: ${messageOf(error)}`);
  }
  if (rest !== "") yield rest;
}
