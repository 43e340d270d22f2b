// Logs and spans of a case as evidence, in the shape that engines give it: counts and times of windows before, and of the window from its injection on.
import type { CallEvidence, CallWindow, LineEvidence, OperationEvidence } from "../../../src/domain/rca/evidence.ts";
import { operationEvidence } from "../../../src/domain/rca/operation-packing.ts";
import { addTime, meanMoments, NO_TIME, TIME_SUM_NUMBERS } from "../../../src/domain/trace/time-sums.ts";
import type { Line, TimedSpan } from "./telemetry.ts";

/** Logs and spans of a file, in no order. */
export interface Telemetry {
  readonly lines: readonly Line[];
  readonly spans: readonly TimedSpan[];
}

export interface TelemetryEvidence {
  readonly lines: LineEvidence[];
  readonly operations: OperationEvidence[];
  readonly calls: CallEvidence[];
}

/** Telemetry farther apart than this is of two windows. */
const PAUSE_S = 30;
const MINUTE_MS = 60_000;

/** Windows before, from 0 on, and behind them the one since the onset; undefined for what is in none. */
export interface EvidenceWindows {
  readonly past: number;
  readonly of: (atMs: number) => number | undefined;
}

/** Evidence of a case; none where there is no telemetry of that time. */
export function caseEvidence(
  telemetry: Telemetry | null,
  isNormal: (time: number) => boolean,
  [from, to]: readonly [number, number],
): TelemetryEvidence {
  const isNow = (time: number) => time >= from && time <= to;
  if (telemetry?.lines.some(({ atMs }) => isNow(atMs / 1000)) !== true) return { lines: [], operations: [], calls: [] };
  const normal = normalWindows(telemetry, isNormal);
  const of = (atMs: number) => normal.of(atMs / 1000) ?? (isNow(atMs / 1000) ? normal.count : undefined);
  return telemetryEvidence(telemetry, { past: normal.count, of });
}

/** Windows of a minute, as engines count them. */
export function minuteWindows(onsetMs: number, untilMs: number, past: number): EvidenceWindows {
  const [onset, until] = [Math.floor(onsetMs / MINUTE_MS), Math.floor(untilMs / MINUTE_MS)];
  const of = (atMs: number) => {
    const minute = Math.floor(atMs / MINUTE_MS);
    return minute < onset - past || minute > until ? undefined : Math.min(past, minute - onset + past);
  };
  return { past, of };
}

export function telemetryEvidence({ lines, spans }: Telemetry, windows: EvidenceWindows): TelemetryEvidence {
  return {
    lines: lineEvidence(lines, windows),
    operations: [...requestEvidence(spans, windows), ...selfTimeEvidence(spans, windows)],
    calls: callEvidence(spans, windows),
  };
}

/** The number of the normal window that a second is in: runs of normal seconds with telemetry. */
interface NormalWindows {
  readonly count: number;
  readonly of: (time: number) => number | undefined;
}

function normalWindows({ lines }: Telemetry, isNormal: (time: number) => boolean): NormalWindows {
  const seconds = [...new Set(lines.map(({ atMs }) => Math.floor(atMs / 1000)))].filter(isNormal).sort((a, b) => a - b);
  const numbers = new Map<number, number>();
  let window = -1;
  let last = Number.NEGATIVE_INFINITY;
  for (const second of seconds) {
    if (second - last > PAUSE_S) window++;
    numbers.set(second, window);
    last = second;
  }
  return { count: window + 1, of: (time) => numbers.get(Math.floor(time)) };
}

function lineEvidence(lines: readonly Line[], windows: EvidenceWindows): LineEvidence[] {
  const found = new Map<string, { serviceId: string; template: string; severity: number; past: Uint32Array; now: number }>();
  for (const { atMs, serviceId, template, severity } of lines) {
    const window = windows.of(atMs);
    if (window === undefined) continue;
    const text = template.tokens.join(" ");
    const key = `${serviceId} ${severity} ${text}`;
    const line = found.get(key) ?? { serviceId, template: text, severity, past: new Uint32Array(windows.past), now: 0 };
    found.set(key, line);
    if (window === windows.past) line.now++;
    else line.past[window]!++;
  }
  return [...found.values()];
}

/** What is summed of spans with one key, window by window. */
function sumsByKey<S>(
  spans: readonly TimedSpan[],
  windows: EvidenceWindows,
  keyOf: (span: TimedSpan) => readonly string[],
  make: () => S,
  add: (sums: S, span: TimedSpan, window: number) => void,
): Array<readonly [key: readonly string[], sums: S]> {
  const found = new Map<string, S>();
  for (const span of spans) {
    const window = windows.of(span.endMs);
    if (window === undefined) continue;
    const key = JSON.stringify(keyOf(span));
    const sums = found.get(key) ?? make();
    found.set(key, sums);
    add(sums, span, window);
  }
  return [...found].map(([key, sums]) => [JSON.parse(key) as string[], sums]);
}

/** Requests of each service, and how many of them failed. */
function requestEvidence(spans: readonly TimedSpan[], windows: EvidenceWindows): OperationEvidence[] {
  const make = () => Array.from({ length: windows.past + 1 }, () => ({ spans: 0, errors: 0, self: NO_TIME }));
  const requests = spans.filter(({ isRequest }) => isRequest);
  const found = sumsByKey(
    requests,
    windows,
    ({ serviceId }) => [serviceId],
    make,
    (sums, { isError }, window) => {
      sums[window]!.spans++;
      if (isError) sums[window]!.errors++;
    },
  );
  return found.map(([[serviceId = ""], sums]) => ({
    serviceId,
    operation: "",
    isEntry: true,
    past: sums.slice(0, -1),
    now: sums.at(-1)!,
  }));
}

/** What operations take by themselves; not calls, whose time is that of the called and of the way there. */
function selfTimeEvidence(spans: readonly TimedSpan[], windows: EvidenceWindows): OperationEvidence[] {
  const own = spans.filter(({ isClient }) => !isClient);
  const found = sumsByKey(
    own,
    windows,
    ({ serviceId, operation }) => [serviceId, operation],
    () => new Float64Array((windows.past + 1) * TIME_SUM_NUMBERS),
    (sums, { selfUs }, window) => addTime(sums, window * TIME_SUM_NUMBERS, selfUs),
  );
  return found.map(([[serviceId = "", operation = ""], sums]) => operationEvidence(serviceId, operation, sums));
}

function callEvidence(spans: readonly TimedSpan[], windows: EvidenceWindows): CallEvidence[] {
  const between = spans.filter(({ caller, serviceId }) => caller !== "" && caller !== serviceId);
  const make = () => Array.from({ length: windows.past + 1 }, () => ({ calls: 0, errors: 0, us: 0, gaps: 0, gapUs: 0 }));
  const found = sumsByKey(
    between,
    windows,
    ({ caller, serviceId }) => [caller, serviceId],
    make,
    (sums, { durationUs, gapUs, isError }, window) => {
      const sum = sums[window]!;
      sum.calls++;
      sum.us += durationUs;
      if (isError) sum.errors++;
      if (Number.isNaN(gapUs)) return;
      sum.gaps++;
      sum.gapUs += gapUs;
    },
  );
  const windowOf = ({ calls, errors, us, gaps, gapUs }: ReturnType<typeof make>[number]): CallWindow => ({
    calls,
    errors,
    duration: meanMoments(us, calls),
    gap: meanMoments(gapUs, gaps),
  });
  return found.map(([[caller = "", callee = ""], sums]) => ({
    caller,
    callee,
    isPeer: false,
    past: sums.slice(0, -1).map(windowOf),
    now: windowOf(sums.at(-1)!),
  }));
}
