// A file of history as series in memory: CSV read in pieces, JSON at once, or a document a line (what the collector's file exporter writes).
import { closeSync, fstatSync, openSync, readFileSync, readSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import { IMPORT_JSON_BYTES_MAX } from "../../core/config/limits.ts";
import { messageOf } from "../../core/text/error-text.ts";
import { CsvHistory } from "../../domain/history/csv-history.ts";
import {
  HistoryCollector,
  HistoryError,
  type HistoryLimits,
  type HistoryProblem,
  type HistorySeries,
} from "../../domain/history/history-collector.ts";
import { readJsonHistory } from "../../domain/history/json-history.ts";
import { ImportError, type ImportOptions } from "./import-options.ts";

const PIECE_BYTES = 1024 * 1024;

/** Contents of a file. */
export interface HistoryFile {
  readonly series: readonly HistorySeries[];
  readonly samples: number;
  readonly refused: number;
  readonly problems: readonly HistoryProblem[];
  /** Says that a file is the one that was begun: its size and when it was changed. */
  readonly version: string;
}

/** Reads a file. Throws ImportError. */
export function readHistoryFile({ file, format }: Pick<ImportOptions, "file" | "format">, limits: HistoryLimits): HistoryFile {
  const handle = open(file);
  try {
    const { size, mtimeMs } = fstatSync(handle);
    const collector = new HistoryCollector(limits);
    if (format === "csv") readCsv(handle, collector);
    else readJson(handle, size, collector);
    const series = collector.finish();
    const samples = series.reduce((sum, { length }) => sum + length, 0);
    return { series, samples, refused: collector.refused, problems: collector.problems, version: `${size}-${Math.floor(mtimeMs)}` };
  } catch (error) {
    throw error instanceof HistoryError ? new ImportError(`${file}: ${error.message}`) : error;
  } finally {
    closeSync(handle);
  }
}

function open(file: string): number {
  try {
    return openSync(file, "r");
  } catch (error) {
    throw new ImportError(`${file} cannot be read: ${messageOf(error)}`);
  }
}

function readCsv(handle: number, collector: HistoryCollector): void {
  const csv = new CsvHistory(collector);
  const decoder = new StringDecoder("utf8");
  const piece = Buffer.alloc(PIECE_BYTES);
  for (let bytes = readSync(handle, piece); bytes > 0; bytes = readSync(handle, piece)) csv.push(decoder.write(piece.subarray(0, bytes)));
  csv.push(decoder.end());
  csv.end();
}

function readJson(handle: number, bytes: number, collector: HistoryCollector): void {
  if (bytes > IMPORT_JSON_BYTES_MAX)
    throw new HistoryError("unprocessable", `the file has ${bytes} bytes; at most ${IMPORT_JSON_BYTES_MAX} of JSON are read, split it`);
  const text = readFileSync(handle, "utf8");
  for (const document of documentsOf(text)) readJsonHistory(document, collector);
}

/** One document, or one a line. */
function documentsOf(text: string): unknown[] {
  try {
    return [JSON.parse(text)];
  } catch (error) {
    const lines = text.split("\n").filter((line) => line.trim() !== "");
    if (lines.length < 2) throw notJson(error);
    return merged(lines.map((line, index) => parseLine(line, index)));
  }
}

/** Lines of OTLP are one document, and so are lines of Prometheus' answers: cumulative histograms go on from line to line. */
function merged(documents: unknown[]): unknown[] {
  const resources = documents.map((one) => (one as { readonly resourceMetrics?: unknown } | null)?.resourceMetrics);
  if (resources.every(Array.isArray)) return [{ resourceMetrics: resources.flat() }];
  const results = documents.map((one) => (one as { readonly data?: { readonly result?: unknown } } | null)?.data?.result);
  return results.every(Array.isArray) ? [{ data: { result: results.flat() } }] : documents;
}

function parseLine(line: string, index: number): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    throw notJson(error, `line ${index + 1}: `);
  }
}

function notJson(error: unknown, where = ""): HistoryError {
  return new HistoryError("invalid_json", `${where}not JSON: ${messageOf(error)}`);
}
