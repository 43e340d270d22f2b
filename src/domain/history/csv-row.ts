/**
 * Rows of CSV (RFC 4180) in a text that comes in pieces. A quote opens where a cell begins and nowhere else: within a cell it is a character as any other.
 * A row whose quotes are at fault ends with its first line, so that no other row is lost by it. Each character is looked at twice at most: where a
 * quoted cell ends at a fault, the next quoted cell begins behind its last quote.
 */
import { IMPORT_LINE_LENGTH_MAX } from "../../core/config/limits.ts";

/** One row; `end` is where the next one begins. */
export interface CsvRow {
  /** None for a line without characters. */
  readonly cells: readonly string[];
  /** Why the cells are none; its row is one line then. */
  readonly fault?: string;
  readonly end: number;
}

/** The text does not say yet how a row goes on. */
type Unfinished = "more";

const QUOTE = '"';
const NOT_CLOSED = "opens a quote that is not closed";
const TEXT_BEHIND = "has a character behind a closing quote; a quote inside a quoted cell is written twice";

/** A cell and the place behind it; `isLast` of its row. */
interface Cell {
  readonly text: string;
  readonly end: number;
  readonly isLast: boolean;
}

/** The row that begins at `from`; undefined where more of the text is needed, which is never so where `isWhole`. Its first line must be there. */
export function readCsvRow(text: string, from: number, isWhole: boolean): CsvRow | undefined {
  const line = firstLine(text, from);
  if (!line.content.includes(QUOTE)) return { cells: line.content === "" ? [] : line.content.split(","), end: line.end };
  const cells: string[] = [];
  for (let at = from; ; ) {
    const cell = text[at] === QUOTE ? quotedCell(text, at, isWhole) : plainCell(text, at, isWhole);
    if (cell === "more" && !isWhole && text.length - from <= IMPORT_LINE_LENGTH_MAX) return undefined;
    if (typeof cell === "string" || cell.end - from > IMPORT_LINE_LENGTH_MAX + 1) return faultyRow(text, from, faultOf(cell));
    cells.push(cell.text);
    if (cell.isLast) return { cells, end: cell.end };
    at = cell.end;
  }
}

/** The row at `from` as one line that is at fault. */
export function faultyRow(text: string, from: number, fault: string): CsvRow {
  return { cells: [], fault, end: firstLine(text, from).end };
}

function faultOf(cell: Cell | Unfinished | "fault"): string {
  return cell === "fault" ? TEXT_BEHIND : NOT_CLOSED;
}

function firstLine(text: string, from: number): { content: string; end: number } {
  const lineFeed = text.indexOf("\n", from);
  const end = lineFeed < 0 ? text.length : lineFeed;
  const content = text.slice(from, text[end - 1] === "\r" && end > from ? end - 1 : end);
  return { content, end: lineFeed < 0 ? end : end + 1 };
}

function plainCell(text: string, from: number, isWhole: boolean): Cell | Unfinished {
  let end = from;
  while (end < text.length && text[end] !== "," && text[end] !== "\n") end++;
  if (end === text.length && !isWhole) return "more";
  const isLast = text[end] !== ",";
  const hasReturn = isLast && end > from && text[end - 1] === "\r";
  return { text: text.slice(from, hasReturn ? end - 1 : end), end: Math.min(text.length, end + 1), isLast };
}

function quotedCell(text: string, from: number, isWhole: boolean): Cell | Unfinished | "fault" {
  let content = "";
  let at = from + 1;
  for (;;) {
    const quote = text.indexOf(QUOTE, at);
    if (quote < 0 || (quote + 1 === text.length && !isWhole)) return "more";
    content += text.slice(at, quote);
    at = quote + 1;
    if (text[at] !== QUOTE) break;
    content += QUOTE;
    at++;
  }
  return closedCell(content, text, at, isWhole);
}

/** A quoted cell whose closing quote stands before `at`. */
function closedCell(content: string, text: string, at: number, isWhole: boolean): Cell | Unfinished | "fault" {
  const end = text[at] === "\r" ? at + 1 : at;
  if (end === text.length) return isWhole ? { text: content, end, isLast: true } : "more";
  if (text[end] === "\n") return { text: content, end: end + 1, isLast: true };
  return text[at] === "," ? { text: content, end: at + 1, isLast: false } : "fault";
}
