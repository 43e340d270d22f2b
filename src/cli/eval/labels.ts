// Labelled incidents of files: {"file.csv": [[from, to], ...]}, each end a row number from 0 or a moment; a list alone is of the one file that is judged.

import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { ownMember } from "../../core/collections/own-member.ts";
import { lowerBound } from "../../core/collections/sorted-search.ts";
import { parseRfc3339 } from "../../core/time/rfc3339.ts";
import type { LabelledRows } from "../../domain/backtest/page-score.ts";
import { CommandError } from "../../server/exit-code.ts";

type Span = readonly [from: number | string, to: number | string];

/** The labels of one file of labels. */
export class Labels {
  readonly #path: string;
  readonly #byFile: Readonly<Record<string, readonly Span[]>> | null;
  readonly #only: readonly Span[] | null;
  readonly #used = new Set<string>();

  /** Throws CommandError where the file is no list of incidents. */
  constructor(path: string) {
    this.#path = path;
    const content = read(path);
    this.#only = Array.isArray(content) ? spansOf(content, path) : null;
    const entries = this.#only === null ? Object.entries(content as object) : [];
    this.#byFile =
      this.#only === null ? Object.fromEntries(entries.map(([name, spans]) => [name, spansOf(spans, `${path}: ${name}`)])) : null;
  }

  /** Incidents of a file whose rows have these times, ascending. Throws CommandError where a span cannot be one of its rows. */
  of(file: string, times: Float64Array): LabelledRows[] {
    const name = [basename(file), basename(file).replace(/\.gz$/i, ""), file].find((each) => ownMember(this.#byFile, each) !== undefined);
    if (name !== undefined) this.#used.add(name);
    const spans = this.#only ?? (name === undefined ? [] : (ownMember(this.#byFile, name) as readonly Span[]));
    return spans.map(([from, to]) => {
      const rows = { from: this.#row(from, times), to: this.#row(to, times) };
      if (rows.to < rows.from)
        throw new CommandError(`${this.#path}: an incident of ${file} ends before it begins: ${JSON.stringify([from, to])}`);
      return rows;
    });
  }

  /** Names that no file has had: most likely the labels of other files. */
  get unused(): string[] {
    return Object.keys(this.#byFile ?? {}).filter((name) => !this.#used.has(name));
  }

  #row(end: number | string, times: Float64Array): number {
    if (typeof end === "number") {
      if (Number.isInteger(end) && end >= 0 && end < times.length) return end;
      throw new CommandError(`${this.#path}: row ${end} is none of the ${times.length} rows, which count from 0`);
    }
    const ms = parseRfc3339(end.includes("T") ? end : `${end.replace(" ", "T")}Z`);
    if (ms === undefined)
      throw new CommandError(`${this.#path}: ${JSON.stringify(end)} is neither a row nor a moment such as 2026-01-31T12:00:00Z`);
    return Math.min(times.length - 1, lowerBound(times, ms));
  }
}

function read(path: string): unknown {
  try {
    const content: unknown = JSON.parse(readFileSync(path, "utf8"));
    if (typeof content === "object" && content !== null) return content;
  } catch (error) {
    throw new CommandError(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
  throw new CommandError(`${path} is neither a list of incidents nor lists by file`);
}

function spansOf(value: unknown, where: string): Span[] {
  const isEnd = (end: unknown) => typeof end === "number" || typeof end === "string";
  if (Array.isArray(value) && value.every((span) => Array.isArray(span) && span.length === 2 && span.every(isEnd))) return value as Span[];
  throw new CommandError(`${where} must be a list of [from, to], rows from 0 or moments`);
}
