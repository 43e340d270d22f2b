// Logs and spans of a case as evidence: counts and mean times of the windows of its normal ranges, and of the window from its injection on.
import type { CallEvidence, CallWindow, LineEvidence, OperationEvidence, OperationWindow } from "../../../src/domain/rca/evidence.ts";
import type { TimeMoments } from "../../../src/domain/trace/time-sums.ts";
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

/** Evidence; none where there is no telemetry of that time. */
export function telemetryEvidence(
  telemetry: Telemetry | null,
  isNormal: (time: number) => boolean,
  [from, to]: readonly [number, number],
): TelemetryEvidence {
  if (telemetry === null) return { lines: [], operations: [], calls: [] };
  const isNow = (time: number) => time >= from && time <= to;
  if (!telemetry.lines.some(({ atMs }) => isNow(atMs / 1000))) return { lines: [], operations: [], calls: [] };
  const windowOf = normalWindows(telemetry, isNormal);
  return {
    lines: lineEvidence(telemetry.lines, windowOf, isNow),
    operations: operationEvidence(telemetry.spans, windowOf, isNow),
    calls: callEvidence(telemetry.spans, windowOf, isNow),
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

function lineEvidence(lines: readonly Line[], windows: NormalWindows, isNow: (time: number) => boolean): LineEvidence[] {
  const found = new Map<string, { serviceId: string; template: string; severity: number; past: Uint32Array; now: number }>();
  for (const { atMs, serviceId, template, severity } of lines) {
    const window = windows.of(atMs / 1000);
    if (window === undefined && !isNow(atMs / 1000)) continue;
    const text = template.words.join(" ");
    const key = `${serviceId} ${severity} ${text}`;
    const line = found.get(key) ?? { serviceId, template: text, severity, past: new Uint32Array(windows.count), now: 0 };
    found.set(key, line);
    if (window === undefined) line.now++;
    else line.past[window]!++;
  }
  return [...found.values()];
}

/** Sums of times. */
class Times {
  count = 0;
  total = 0;
  logs = 0;
  squares = 0;

  add(ms: number): void {
    if (Number.isNaN(ms)) return;
    const log = Math.log1p(ms);
    this.count++;
    this.total += ms;
    this.logs += log;
    this.squares += log * log;
  }

  moments(): TimeMoments {
    const { count, total, logs, squares } = this;
    if (count === 0) return { meanMs: 0, log: 0, spread: 0 };
    const log = logs / count;
    return { meanMs: total / count, log, spread: count < 2 ? 0 : Math.sqrt(Math.max(0, (squares - count * log * log) / (count - 1))) };
  }
}

class Sums {
  readonly times = new Times();
  readonly gaps = new Times();
}

interface SumsByWindow {
  readonly past: Sums[];
  readonly now: Sums;
}

function gather(
  spans: readonly TimedSpan[],
  windows: NormalWindows,
  isNow: (time: number) => boolean,
  keyOf: (span: TimedSpan) => string,
  measure: (span: TimedSpan) => number,
): Map<string, SumsByWindow> {
  const found = new Map<string, SumsByWindow>();
  for (const span of spans) {
    const window = windows.of(span.endMs / 1000);
    if (window === undefined && !isNow(span.endMs / 1000)) continue;
    const key = keyOf(span);
    const sums = found.get(key) ?? { past: Array.from({ length: windows.count }, () => new Sums()), now: new Sums() };
    found.set(key, sums);
    const into = window === undefined ? sums.now : sums.past[window]!;
    into.times.add(measure(span));
    into.gaps.add(span.gapMs);
  }
  return found;
}

function operationEvidence(spans: readonly TimedSpan[], windows: NormalWindows, isNow: (time: number) => boolean): OperationEvidence[] {
  const keyOf = ({ serviceId, operation, caller }: TimedSpan) => JSON.stringify([serviceId, operation, caller !== serviceId]);
  const windowOf = ({ times }: Sums): OperationWindow => ({ spans: times.count, errors: 0, self: times.moments() });
  return [...gather(spans, windows, isNow, keyOf, ({ selfMs }) => selfMs)].map(([key, { past, now }]) => {
    const [serviceId, operation, isEntry] = JSON.parse(key) as [string, string, boolean];
    return { serviceId, operation, isEntry, past: past.map(windowOf), now: windowOf(now) };
  });
}

function callEvidence(spans: readonly TimedSpan[], windows: NormalWindows, isNow: (time: number) => boolean): CallEvidence[] {
  const between = spans.filter(({ caller, serviceId }) => caller !== "" && caller !== serviceId);
  const windowOf = ({ times, gaps }: Sums): CallWindow => ({
    calls: times.count,
    errors: 0,
    duration: times.moments(),
    gap: gaps.moments(),
  });
  const found = gather(
    between,
    windows,
    isNow,
    ({ caller, serviceId }) => JSON.stringify([caller, serviceId]),
    ({ durationMs }) => durationMs,
  );
  return [...found].map(([key, { past, now }]) => {
    const [caller, callee] = JSON.parse(key) as [string, string];
    return { caller, callee, isPeer: false, past: past.map(windowOf), now: windowOf(now) };
  });
}
