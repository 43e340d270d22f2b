// Time that services spend by themselves, from the calls between them alone: what callers wait for a service, less what it waits for those that it calls, the way there and back included where it is known. Of a
// service that nobody calls there is none. Calls that run beside each other are subtracted in full, so that a self time is at the least what is told here.
import type { OperationEvidence, OperationWindow, SeriesEvidence } from "./evidence.ts";
import { factsOf } from "./series-facts.ts";

/** Sums of the calls between two services in one minute. */
export interface CallSums {
  readonly calls: number;
  readonly microseconds: number;
  /** Time that the caller's own span took beyond the called one's, of those calls where it is known. */
  readonly gapMicroseconds: number;
}

/** Calls of one caller and callee by minute since 1970. */
export interface MinuteCalls {
  readonly caller: string;
  readonly callee: string;
  readonly minutes: ReadonlyMap<number, CallSums>;
}

/** Minutes that are looked at: windows before the onset, and from its minute on. */
export interface SelfTimeMinutes {
  readonly onset: number;
  readonly until: number;
  /** Windows of one minute before the onset. */
  readonly past: number;
}

/** One operation without a name for each service that is called. */
export function selfTimes(calls: readonly MinuteCalls[], { onset, until, past }: SelfTimeMinutes): OperationEvidence[] {
  const incoming = groupedBy(calls, ({ callee }) => callee);
  const outgoing = groupedBy(calls, ({ caller }) => caller);
  return [...incoming].map(([serviceId, received]) => {
    const sent = outgoing.get(serviceId) ?? [];
    const windowOf = (from: number, to: number): OperationWindow => {
      const asked = sumsOf(received, from, to);
      const waits = sumsOf(sent, from, to);
      const waitedUs = waits.microseconds + waits.gapMicroseconds;
      const meanMs = asked.calls === 0 ? 0 : Math.max(0, asked.microseconds - waitedUs) / 1_000 / asked.calls;
      return { spans: asked.calls, errors: 0, self: { meanMs, log: Math.log1p(meanMs), spread: 0 } };
    };
    const windows = Array.from({ length: past }, (_, i) => windowOf(onset - past + i, onset - past + i));
    return { serviceId, operation: "", isEntry: false, past: windows, now: windowOf(onset, until) };
  });
}

/** Without the times of services that measure calls to peers outside: what they wait for these need not be in a span. */
export function ownTimesOf(times: readonly OperationEvidence[], series: readonly SeriesEvidence[]): OperationEvidence[] {
  const waiting = new Set(factsOf(series).ofPeers.map(({ serviceId }) => serviceId));
  return times.filter(({ serviceId }) => !waiting.has(serviceId));
}

function groupedBy(calls: readonly MinuteCalls[], keyOf: (call: MinuteCalls) => string): Map<string, MinuteCalls[]> {
  const groups = new Map<string, MinuteCalls[]>();
  for (const call of calls) {
    if (call.caller === call.callee) continue;
    const key = keyOf(call);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [call]);
    else group.push(call);
  }
  return groups;
}

function sumsOf(calls: readonly MinuteCalls[], from: number, to: number): CallSums {
  let count = 0;
  let microseconds = 0;
  let gapMicroseconds = 0;
  for (const { minutes } of calls) {
    for (let minute = from; minute <= to; minute++) {
      const of = minutes.get(minute);
      if (of === undefined) continue;
      count += of.calls;
      microseconds += of.microseconds;
      gapMicroseconds += of.gapMicroseconds;
    }
  }
  return { calls: count, microseconds, gapMicroseconds };
}
