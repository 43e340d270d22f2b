// Commands of a promqltest script: load, clear and eval with what is expected (the README of promqltest in Prometheus). Scripts are read at run time; none is of this repository.
import { parseDurationMs } from "../../src/domain/promql/parser/duration-text.ts";
import { parseNumber } from "../../src/domain/promql/parser/number-text.ts";
import { unquote } from "../../src/domain/promql/parser/quoted-text.ts";
import {
  type DescribedSeries,
  type DescribedValue,
  parseSeriesDescription,
  parseStepMs,
  parseValues,
  SeriesDescriptionError,
} from "../../src/domain/promql/series-description.ts";

/** A text that must be there, as it is or as a pattern; anything where it has neither. */
export interface ExpectedText {
  readonly text?: string;
  readonly pattern?: string;
}

/** One `eval`. */
export interface Evaluation {
  readonly kind: "eval";
  readonly line: number;
  readonly expression: string;
  readonly range: { readonly startMs: number; readonly endMs: number; readonly stepMs: number } | undefined;
  readonly timeMs: number;
  /** Steps of an expected matrix of an instant query. */
  vectorRange: { readonly startMs: number; readonly stepMs: number } | undefined;
  failure: ExpectedText | undefined;
  readonly warnings: ExpectedText[];
  readonly infos: ExpectedText[];
  hasNoWarning: boolean;
  hasNoInfo: boolean;
  isOrdered: boolean;
  scalar: number | undefined;
  text: string | undefined;
  readonly series: DescribedSeries[];
}

/** One `load`: with_nhcb makes native histograms of classic ones beside them; start timestamps are flagged. */
export interface Load {
  readonly kind: "load";
  readonly line: number;
  readonly makesHistograms: boolean;
  readonly isFlagged: boolean;
  readonly stepMs: number;
  readonly series: readonly DescribedSeries[];
}

/** A command of a script. */
export type Command =
  | { readonly kind: "clear"; readonly line: number }
  | Load
  | { readonly kind: "unknown"; readonly line: number; readonly text: string; readonly reason: string }
  | Evaluation;

/** Reads a script. */
export function readScript(text: string): Command[] {
  const lines = text.split("\n").map((line) => line.trim().replace(/^#.*/, ""));
  const commands: Command[] = [];
  for (let at = 0; at < lines.length; at++) {
    const head = lines[at] as string;
    if (head === "") continue;
    const line = at + 1;
    const block: string[] = [];
    while (head !== "clear" && (lines[at + 1] ?? "") !== "") block.push(lines[++at] as string);
    try {
      commands.push(readCommand(head, block, line));
    } catch (error) {
      commands.push({ kind: "unknown", line, text: head, reason: error instanceof Error ? error.message : String(error) });
    }
  }
  return commands;
}

function readCommand(head: string, body: readonly string[], line: number): Command {
  if (head === "clear") return { kind: "clear", line };
  const load = /^load(_with_nhcb)?\s+(\S+)$/.exec(head);
  if (load !== null) {
    const series = body.filter((each) => !/^\S+@st\s/.test(each)).map(parseSeriesDescription);
    const [, suffix, step = ""] = load;
    return {
      kind: "load",
      line,
      makesHistograms: suffix !== undefined,
      isFlagged: series.length < body.length,
      stepMs: parseStepMs(step),
      series,
    };
  }
  const evaluation = readHead(head, line);
  if (evaluation === undefined) throw new SeriesDescriptionError("unknown command");
  for (const each of body) if (readExpectation(each, evaluation)) break;
  return evaluation;
}

function readHead(head: string, line: number): Evaluation | undefined {
  const range = /^eval(?:_(\w+))?\s+range\s+from\s+(\S+)\s+to\s+(\S+)\s+step\s+(\S+)\s+(.+)$/.exec(head);
  const instant = /^eval(?:_(\w+))?\s+instant\s+at\s+(\S+)\s+(.+)$/.exec(head);
  const found = range ?? instant;
  if (found === null) return undefined;
  const [, mode, first = ""] = found;
  return {
    kind: "eval",
    line,
    expression: found.at(-1) as string,
    range:
      range === null ? undefined : { startMs: momentMs(first), endMs: momentMs(range[3] as string), stepMs: momentMs(range[4] as string) },
    timeMs: momentMs(first),
    vectorRange: undefined,
    failure: mode === "fail" ? {} : undefined,
    warnings: mode === "warn" ? [{}] : [],
    infos: mode === "info" ? [{}] : [],
    hasNoWarning: false,
    hasNoInfo: false,
    isOrdered: mode === "ordered",
    scalar: undefined,
    text: undefined,
    series: [],
  };
}

function momentMs(text: string): number {
  const bare = text.replace(/^-/, "");
  const seconds = parseNumber(bare);
  const ms = seconds === undefined ? parseDurationMs(bare) : seconds * 1_000;
  if (typeof ms === "string") throw new SeriesDescriptionError(ms);
  return text.startsWith("-") ? -ms : ms;
}

/** Takes a line of an eval; true where it is the last. */
function readExpectation(line: string, evaluation: Evaluation): boolean {
  const old = /^expected_fail_(message|regexp)\s+(.*)$/.exec(line);
  if (old !== null) evaluation.failure = old[1] === "message" ? { text: old[2] as string } : { pattern: old[2] as string };
  const vector = /^expect range vector\s+from\s+(\S+)\s+to\s+\S+\s+step\s+(\S+)$/.exec(line);
  if (vector !== null) evaluation.vectorRange = { startMs: momentMs(vector[1] as string), stepMs: momentMs(vector[2] as string) };
  const text = /^expect string (.*)$/.exec(line);
  if (text !== null) evaluation.text = unquote(text[1] as string);
  const expect = /^expect\s+(ordered|fail|warn|no_warn|info|no_info)(?:\s+(regex|msg):(.+))?$/.exec(line);
  if (expect !== null) noteExpectation(evaluation, expect);
  if ((old ?? vector ?? text ?? expect) !== null) return old !== null;
  const [value, ...others] = scalarValues(line);
  if (typeof value === "number" && others.length === 0) {
    evaluation.scalar = value;
    return true;
  }
  evaluation.series.push(parseSeriesDescription(line));
  return false;
}

function noteExpectation(evaluation: Evaluation, [, what, kind, said]: RegExpExecArray): void {
  const wanted: ExpectedText =
    kind === undefined ? {} : kind === "msg" ? { text: (said as string).trim() } : { pattern: (said as string).trim() };
  if (what === "ordered") evaluation.isOrdered = true;
  else if (what === "fail") evaluation.failure = wanted;
  else if (what === "warn") evaluation.warnings.push(wanted);
  else if (what === "info") evaluation.infos.push(wanted);
  else if (what === "no_warn") evaluation.hasNoWarning = true;
  else evaluation.hasNoInfo = true;
}

function scalarValues(line: string): DescribedValue[] {
  if (/[{_=]/.test(line)) return [];
  try {
    return parseValues(line);
  } catch {
    return [];
  }
}
