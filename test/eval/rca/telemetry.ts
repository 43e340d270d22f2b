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
  readonly durationUs: number;
  /** What its children leave of it; overlaps are subtracted twice, as where only sums are known. */
  readonly selfUs: number;
  /** Service of the parent, "" for a root. */
  readonly caller: string;
  /** What of the caller's span this one does not explain; NaN without one, or where it is known to be no client's. */
  readonly gapUs: number;
  readonly isRequest: boolean;
  readonly isClient: boolean;
  readonly isError: boolean;
}

/** A span as it was sent. */
export interface SentSpan {
  readonly key: string;
  readonly parentKey: string;
  readonly endMs: number;
  readonly durationUs: number;
  readonly serviceId: string;
  readonly operation: string;
  /** As OpenTelemetry numbers them; null where nothing is known of kinds. */
  readonly kind: number | null;
  readonly isError: boolean;
}

export function readLines(file: string): Line[] {
  const trees = new Map<string, TemplateTree<Template>>();
  return gzipLines(file)
    .slice(1)
    .flatMap((line) => {
      const [time = "", serviceId = "", , text = ""] = cellsOf(line, 3);
      let tree = trees.get(serviceId);
      if (tree === undefined) {
        tree = new TemplateTree((tokens) => ({ tokens }));
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

export function readSpans(file: string): TimedSpan[] {
  const spans = gzipLines(file)
    .slice(1)
    .map((line): SentSpan => {
      const [start, duration, serviceId = "", operation = "", trace = "", span = "", parent = ""] = cellsOf(line, 6);
      return {
        key: `${trace}/${span}`,
        parentKey: parent === "" ? "" : `${trace}/${parent}`,
        endMs: (Number(start) + Number(duration)) / 1000,
        durationUs: Number(duration),
        serviceId,
        operation,
        kind: null,
        isError: false,
      };
    });
  return timedSpans(spans);
}

const [SERVER, CLIENT, CONSUMER] = [2, 3, 5];

/** Spans with what is known of them by those above and below them. */
export function timedSpans(sent: readonly SentSpan[]): TimedSpan[] {
  const spans = new Map(sent.map((span) => [span.key, span]));
  const covered = new Map<string, number>();
  for (const { parentKey, durationUs } of spans.values()) covered.set(parentKey, (covered.get(parentKey) ?? 0) + durationUs);
  return [...spans.values()].map((span) => timedSpan(span, spans.get(span.parentKey), covered.get(span.key) ?? 0));
}

function timedSpan(span: SentSpan, parent: SentSpan | undefined, coveredUs: number): TimedSpan {
  const { endMs, serviceId, operation, durationUs, kind, isError, parentKey } = span;
  const caller = parent?.serviceId ?? "";
  const hasGap = parent !== undefined && (parent.kind === null || parent.kind === CLIENT);
  return {
    endMs,
    serviceId,
    operation,
    durationUs,
    selfUs: Math.max(0, durationUs - coveredUs),
    caller,
    gapUs: hasGap ? Math.max(0, parent.durationUs - durationUs) : Number.NaN,
    isRequest: kind === null ? caller !== serviceId : kind === SERVER || kind === CONSUMER || (parentKey === "" && kind <= 1),
    isClient: kind === CLIENT,
    isError,
  };
}
