// What spans say of a service by itself: operations that take longer than their children explain, errors that come from no child, and calls whose caller
// waits longer than the called service works. Times are compared by their logarithm with those of the windows before.
import type { TimeMoments } from "../trace/time-sums.ts";
import type { CallEvidence, IncidentEvidence, OperationEvidence, OperationWindow } from "./evidence.ts";

/** A time varies by this share, whatever the windows before say. */
const SPREAD_MIN = 0.15;
/** Spans of a window below which nothing is learned of it. */
export const SPANS_MIN = 3;
const WINDOWS_MIN = 4;
const SPREAD_UNKNOWN = 0.4;
/** An operation that adds this share to what a request of its service costs counts in full. */
const SHARE_FULL = 0.3;
/** Share of what a whole request costs, which a cost is at least held against: a service that costs nearly nothing adds nearly nothing. */
const COST_OF_WHOLE = 0.5;
const STRENGTH_MAX = 50;
const ERRORS_EXPECTED_MIN = 0.3;

/** Something that spans say. */
export interface SpanFinding {
  readonly serviceId: string;
  readonly kind: "self_time" | "origin_errors" | "call_gap" | "peer" | "peer_errors" | "refused_calls";
  /** An operation; of a call gap and a peer the caller. */
  readonly subject: string;
  readonly before: number;
  readonly now: number;
  readonly strength: number;
}

/** Numbers of one service's operations that take longer by themselves, and of those that are known. */
export interface SlowOperations {
  readonly slow: number;
  readonly known: number;
}

/** Findings, strongest first. */
export function spanFindings(evidence: Pick<IncidentEvidence, "operations" | "calls">): SpanFinding[] {
  const costs = requestCosts(evidence);
  return [
    ...evidence.operations.flatMap((operation) => selfTime(operation, costs)),
    ...originErrors(evidence),
    ...refusedCalls(evidence),
    ...callGaps(
      evidence.calls.filter(({ isPeer }) => !isPeer),
      costs,
    ),
    ...slowPeers(
      evidence.calls.filter(({ isPeer }) => isPeer),
      costs,
    ),
  ].sort((a, b) => b.strength - a.strength);
}

/** Number of a service's operations that became slower, and of those that are known by name. */
export function slowOperations(
  findings: readonly SpanFinding[],
  operations: readonly OperationEvidence[],
  serviceId: string,
): SlowOperations {
  const known = operations.filter(
    (operation) => operation.serviceId === serviceId && operation.operation !== "" && operation.now.spans >= SPANS_MIN,
  ).length;
  const slow = findings.filter(
    (finding) => finding.serviceId === serviceId && finding.kind === "self_time" && finding.subject !== "" && finding.strength >= SPANS_MIN,
  ).length;
  return { slow, known };
}

/** Costs of a request by itself, in ms. */
interface RequestCosts {
  readonly ofService: ReadonlyMap<string, number>;
  /** At the front doors, with all that it causes. */
  readonly whole: number;
}

/** By service its self times over its entries; in all the self times over the entries of services that nobody calls. */
function requestCosts({ operations, calls }: Pick<IncidentEvidence, "operations" | "calls">): RequestCosts {
  const called = new Set(calls.map(({ callee }) => callee));
  const sums = new Map<string, { self: number; entries: number }>();
  let self = 0;
  let roots = 0;
  for (const { serviceId, isEntry, past } of operations) {
    const total = sums.get(serviceId) ?? { self: 0, entries: 0 };
    for (const { spans, self: times } of past) {
      total.self += spans * times.meanMs;
      self += spans * times.meanMs;
      if (isEntry) total.entries += spans;
      if (isEntry && !called.has(serviceId)) roots += spans;
    }
    sums.set(serviceId, total);
  }
  const costs = [...sums].map(([serviceId, of]) => [serviceId, of.entries === 0 ? 0 : of.self / of.entries] as const);
  return { ofService: new Map(costs), whole: roots === 0 ? 0 : self / roots };
}

function selfTime({ serviceId, operation, past, now }: OperationEvidence, costs: RequestCosts): SpanFinding[] {
  if (now.spans < SPANS_MIN) return [];
  const usual = usualTime(
    past,
    ({ spans }) => spans,
    ({ self }) => self,
  );
  if (usual === undefined || now.self.meanMs <= usual.meanMs) return [];
  const more = now.self.meanMs - usual.meanMs;
  const cost = Math.max(costs.ofService.get(serviceId) ?? 0, COST_OF_WHOLE * costs.whole);
  const strength = departure(now.self, now.spans, usual) * Math.min(1, cost === 0 ? 1 : more / cost / SHARE_FULL);
  return strength <= 0 ? [] : [{ serviceId, kind: "self_time", subject: operation, before: usual.meanMs, now: now.self.meanMs, strength }];
}

/** Times of the windows before: their mean, spread of one, and spread of the windows' means. */
interface UsualTime extends TimeMoments {
  readonly between: number;
}

function usualTime<W>(past: readonly W[], countOf: (window: W) => number, timesOf: (window: W) => TimeMoments): UsualTime | undefined {
  let count = 0;
  let total = 0;
  let logs = 0;
  let within = 0;
  for (const window of past) {
    const of = countOf(window);
    const times = timesOf(window);
    count += of;
    total += of * times.meanMs;
    logs += of * times.log;
    within += of * times.spread ** 2;
  }
  if (count < SPANS_MIN) return undefined;
  const log = logs / count;
  const known = past.filter((window) => countOf(window) >= SPANS_MIN);
  const variance = known.reduce((sum, window) => sum + (timesOf(window).log - log) ** 2, 0) / Math.max(1, known.length - 1);
  const between = known.length < WINDOWS_MIN ? SPREAD_UNKNOWN : Math.max(SPREAD_MIN, Math.sqrt(variance));
  return { meanMs: total / count, log, spread: Math.max(SPREAD_MIN, Math.sqrt(within / count)), between };
}

/** Standard deviations that times are away from what is usual. */
function departure(now: TimeMoments, count: number, usual: UsualTime): number {
  const sampling = Math.max(usual.spread, now.spread) / Math.sqrt(count);
  return Math.min(STRENGTH_MAX, (now.log - usual.log) / Math.hypot(usual.between, sampling));
}

/** Errors of entries beyond the usual rate, less those of the services that are called. */
function originErrors({ operations, calls }: Pick<IncidentEvidence, "operations" | "calls">): SpanFinding[] {
  const own = entryErrors(operations);
  const propagated = new Map<string, number>();
  for (const { caller, now } of calls) propagated.set(caller, (propagated.get(caller) ?? 0) + now.errors);
  return [...own].flatMap(([serviceId, { past, now }]) => {
    return errorFinding(serviceId, past, now, now.errors - (propagated.get(serviceId) ?? 0), "origin_errors");
  });
}

function entryErrors(operations: readonly OperationEvidence[]): Map<string, { past: ErrorCount; now: ErrorCount }> {
  const own = new Map<string, { past: ErrorCount; now: ErrorCount }>();
  for (const { serviceId, isEntry, past, now } of operations) {
    if (!isEntry) continue;
    const known = own.get(serviceId);
    const before = past.reduce(addWindows, known?.past ?? NOTHING);
    own.set(serviceId, { past: before, now: addWindows(known?.now ?? NOTHING, now) });
  }
  return own;
}

/** Calls of a service that has spans which fail at their callers and not in it: they never reach it. */
function refusedCalls({ operations, calls }: Pick<IncidentEvidence, "operations" | "calls">): SpanFinding[] {
  const own = entryErrors(operations);
  const byCallee = new Map<string, CallEvidence[]>();
  for (const call of calls)
    if (!call.isPeer && own.has(call.callee)) byCallee.set(call.callee, [...(byCallee.get(call.callee) ?? []), call]);
  return [...byCallee].flatMap(([serviceId, ofCallee]) => {
    const { past: ownPast, now: ownNow } = own.get(serviceId)!;
    const past = ofCallee.flatMap((call) => call.past.map(errorsOf)).reduce(addWindows, NOTHING);
    const now = ofCallee.map((call) => errorsOf(call.now)).reduce(addWindows, NOTHING);
    const refused = { spans: past.spans, errors: Math.max(0, past.errors - ownPast.errors) };
    return errorFinding(serviceId, refused, now, now.errors - ownNow.errors, "refused_calls");
  });
}

function errorsOf({ calls: spans, errors }: CallEvidence["now"]): ErrorCount {
  return { spans, errors };
}

/** So many errors, held against the usual rate. */
function errorFinding(
  serviceId: string,
  past: ErrorCount,
  now: ErrorCount,
  errors: number,
  kind: "origin_errors" | "peer_errors" | "refused_calls",
): SpanFinding[] {
  const usualRate = past.errors / Math.max(1, past.spans);
  const expected = Math.max(ERRORS_EXPECTED_MIN, usualRate * now.spans);
  if (errors <= expected) return [];
  const strength = Math.min(STRENGTH_MAX, Math.sqrt(2 * (errors * Math.log(errors / expected) - (errors - expected))));
  return [{ serviceId, kind, subject: "", before: usualRate, now: errors / Math.max(1, now.spans), strength }];
}

type ErrorCount = Pick<OperationWindow, "spans" | "errors">;
const NOTHING: ErrorCount = { spans: 0, errors: 0 };

function addWindows(a: ErrorCount, b: ErrorCount): ErrorCount {
  return { spans: a.spans + b.spans, errors: a.errors + b.errors };
}

/** Findings of services that all their callers wait for longer than they work: something lies between. */
function callGaps(calls: readonly CallEvidence[], { whole }: RequestCosts): SpanFinding[] {
  const byCallee = new Map<string, SpanFinding[]>();
  for (const { caller, callee, past, now } of calls) {
    if (now.calls < SPANS_MIN) continue;
    const usual = usualTime(
      past,
      ({ calls: count }) => count,
      ({ gap }) => gap,
    );
    if (usual === undefined) continue;
    const share = (now.gap.meanMs - usual.meanMs) / Math.max(1, now.duration.meanMs + usual.meanMs, COST_OF_WHOLE * whole);
    const strength = Math.max(0, departure(now.gap, now.calls, usual)) * Math.max(0, Math.min(1, share / SHARE_FULL));
    const finding: SpanFinding = {
      serviceId: callee,
      kind: "call_gap",
      subject: caller,
      before: usual.meanMs,
      now: now.gap.meanMs,
      strength,
    };
    byCallee.set(callee, [...(byCallee.get(callee) ?? []), finding]);
  }
  return [...byCallee.values()].flatMap((findings) => {
    const least = findings.reduce((weakest, finding) => (finding.strength < weakest.strength ? finding : weakest));
    return least.strength > 0 ? [least] : [];
  });
}

/** Peers that their callers wait for longer, by the mean of all callers: one that waits alone has another query, or another way there. */
function slowPeers(calls: readonly CallEvidence[], costs: RequestCosts): SpanFinding[] {
  const byPeer = new Map<string, CallEvidence[]>();
  for (const call of calls) if (call.now.calls >= SPANS_MIN) byPeer.set(call.callee, [...(byPeer.get(call.callee) ?? []), call]);
  return [...byPeer].flatMap(([serviceId, ofPeer]) => {
    const strengths = ofPeer.map((call) => waitOf(call, costs));
    const most = strengths.reduce((a, b) => (b.strength > a.strength ? b : a));
    const strength = strengths.reduce((sum, each) => sum + each.strength, 0) / strengths.length;
    const slow = strength <= 0 ? [] : [{ serviceId, kind: "peer" as const, ...most, strength }];
    return [...slow, ...failingPeer(serviceId, ofPeer)];
  });
}

/** How much longer one caller waits. */
function waitOf({ caller, past, now }: CallEvidence, { whole }: RequestCosts): Omit<SpanFinding, "serviceId" | "kind"> {
  const usual = usualTime(
    past,
    ({ calls: count }) => count,
    ({ duration }) => duration,
  );
  const before = usual?.meanMs ?? 0;
  const finding = { subject: caller, before, now: now.duration.meanMs };
  if (usual === undefined || now.duration.meanMs <= before) return { ...finding, strength: 0 };
  const share = (now.duration.meanMs - before) / Math.max(1, before, COST_OF_WHOLE * whole);
  return { ...finding, strength: Math.max(0, departure(now.duration, now.calls, usual)) * Math.min(1, share / SHARE_FULL) };
}

/** Calls of a peer that fail beyond the usual rate: nobody else can be behind them. */
function failingPeer(serviceId: string, calls: readonly CallEvidence[]): SpanFinding[] {
  const past = calls.flatMap((call) => call.past.map(errorsOf)).reduce(addWindows, NOTHING);
  const now = calls.map((call) => errorsOf(call.now)).reduce(addWindows, NOTHING);
  return errorFinding(serviceId, past, now, now.errors, "peer_errors");
}
