// Logs and spans of the labelled data, as the engines would have counted them: templates of masked texts, self times, gaps of calls.
import { maskedText } from "../../../src/domain/logs/masked-text.ts";
import { severityOf } from "../../../src/domain/logs/severity.ts";
import { type Template, TemplateTree } from "../../../src/domain/logs/template-tree.ts";
import { cellsOf, gzipLines } from "./csv.ts";

/** A log line as it is counted. */
export interface Line {
  readonly atMs: number;
  readonly serviceId: string;
  readonly template: Template;
  readonly severity: number;
}

/** A span as it is counted. */
export interface TimedSpan {
  readonly endMs: number;
  readonly serviceId: string;
  readonly operation: string;
  readonly durationMs: number;
  readonly selfMs: number;
  /** Service of the parent, "" for a root. */
  readonly caller: string;
  /** What of the parent's duration this one does not explain; NaN without a parent. */
  readonly gapMs: number;
}

export function readLines(file: string): Line[] {
  const trees = new Map<string, TemplateTree<Template>>();
  return gzipLines(file)
    .slice(1)
    .flatMap((line) => {
      const [time = "", serviceId = "", , text = ""] = cellsOf(line, 3);
      let tree = trees.get(serviceId);
      if (tree === undefined) {
        tree = new TemplateTree((words) => ({ words }));
        trees.set(serviceId, tree);
      }
      const atMs = Number(time);
      const template = Number.isFinite(atMs) ? tree.take(maskedText(text)) : undefined;
      return template === undefined ? [] : [{ atMs, serviceId, template, severity: severityOf(0, severityWord(text)) }];
    });
}

/** A severity that stands among the first words of a line. */
function severityWord(text: string): string {
  return /\b(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL)\b/.exec(text.slice(0, 60))?.[0] ?? "";
}

interface RawSpan {
  readonly startUs: number;
  readonly durationUs: number;
  readonly serviceId: string;
  readonly operation: string;
  readonly parentKey: string;
}

export function readSpans(file: string): TimedSpan[] {
  const spans = new Map<string, RawSpan>();
  for (const line of gzipLines(file).slice(1)) {
    const [start, duration, serviceId = "", operation = "", trace = "", span = "", parent = ""] = cellsOf(line, 6);
    spans.set(`${trace}/${span}`, {
      startUs: Number(start),
      durationUs: Number(duration),
      serviceId,
      operation,
      parentKey: parent === "" ? "" : `${trace}/${parent}`,
    });
  }
  const covered = childTimes(spans);
  return [...spans].map(([key, span]) => timedSpan(span, spans.get(span.parentKey), covered.get(key) ?? 0));
}

function timedSpan({ startUs, durationUs, serviceId, operation }: RawSpan, parent: RawSpan | undefined, coveredUs: number): TimedSpan {
  return {
    endMs: (startUs + durationUs) / 1000,
    serviceId,
    operation,
    durationMs: durationUs / 1000,
    selfMs: Math.max(0, durationUs - coveredUs) / 1000,
    caller: parent?.serviceId ?? "",
    gapMs: parent === undefined ? Number.NaN : Math.max(0, parent.durationUs - durationUs) / 1000,
  };
}

/** By span how much of it its children cover, overlaps once. */
function childTimes(spans: ReadonlyMap<string, RawSpan>): Map<string, number> {
  const children = new Map<string, Array<readonly [number, number]>>();
  for (const { parentKey, startUs, durationUs } of spans.values()) {
    const parent = spans.get(parentKey);
    if (parent === undefined) continue;
    const from = Math.max(startUs, parent.startUs);
    const to = Math.min(startUs + durationUs, parent.startUs + parent.durationUs);
    if (to <= from) continue;
    const list = children.get(parentKey);
    if (list === undefined) children.set(parentKey, [[from, to]]);
    else list.push([from, to]);
  }
  return new Map([...children].map(([key, list]) => [key, unionLength(list)]));
}

function unionLength(intervals: Array<readonly [number, number]>): number {
  intervals.sort((a, b) => a[0] - b[0]);
  let length = 0;
  let end = Number.NEGATIVE_INFINITY;
  for (const [from, to] of intervals) {
    length += Math.max(0, to - Math.max(from, end));
    end = Math.max(end, to);
  }
  return length;
}
