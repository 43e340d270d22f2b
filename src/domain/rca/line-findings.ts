// Lines of logs that appear, stop or come much more often than the requests of their service explain.
// A count is held against its rate by request of the windows before: square root of the Poisson deviance, divided by how much more than Poisson it varied.
// Lines of one place in the source count as one, whatever else they say.
import { sourceLine } from "../logs/template-tree.ts";
import type { IncidentEvidence, LineEvidence } from "./evidence.ts";

/** A line that tells of a failed call is a symptom of whom it calls, and says more of that one where it names it. */
const OF_FAILED_CALL = 0.3;
const OF_NAMED_CALLEE = 0.5;
/** One that names the resource that is missing says why by itself. */
const OF_SHORTAGE = 2;
/** Places in SEVERITIES from which a line tells of a problem; fewer of them are no problem. */
const WARN = 4;
/** Expected of a line that never came. */
const EXPECTED_MIN = 0.3;
/** Lines that came so often before are known; more of them is rather another mix of requests. */
const KNOWN_COUNT = 10;
const MORE_OF_KNOWN = 0.3;
/** Windows that expect fewer say nothing of how much a line varies. */
const EXPECTED_OF_WINDOW_MIN = 1;
const WINDOWS_OF_SPREAD_MIN = 4;

/** A line that says something. */
export interface LineFinding {
  readonly serviceId: string;
  readonly template: string;
  readonly severity: number;
  readonly change: "appeared" | "more" | "fewer" | "stopped";
  readonly count: number;
  readonly expected: number;
  /** Standard deviations, lines that several services write weighted down. */
  readonly strength: number;
  /** Who writes it, where it is told of another that it names. */
  readonly writer: string | null;
}

interface LineGroup {
  readonly serviceId: string;
  readonly location: string;
  template: string;
  templateCount: number;
  readonly severity: number;
  readonly past: Float64Array;
  now: number;
}

type LinesEvidence = Pick<IncidentEvidence, "lines" | "operations" | "calls">;

/** Findings, strongest first. */
export function lineFindings(evidence: LinesEvidence): LineFinding[] {
  const groups = groupsOf(evidence.lines);
  const writers = new Map<string, Set<string>>();
  for (const { location: key, serviceId } of groups) {
    const services = writers.get(key);
    if (services === undefined) writers.set(key, new Set([serviceId]));
    else services.add(serviceId);
  }
  const loads = loadsOf(evidence, groups);
  const names = new Set(writersOf(evidence));
  return groups
    .flatMap((group) => {
      const load = loads.get(group.serviceId);
      return load === undefined ? [] : findingOf(group, load, writers.get(group.location)!.size);
    })
    .flatMap((finding) => ofCallee(finding, names))
    .sort((a, b) => b.strength - a.strength);
}

/** Services that a line may name: those that are known to write, to be asked or to be called. */
function writersOf({ lines, operations, calls }: LinesEvidence): string[] {
  return [...lines, ...operations].map(({ serviceId }) => serviceId).concat(calls.map(({ callee }) => callee));
}

/** A line of a failed call, as what it says of its writer, and of the service that it names. */
function ofCallee(finding: LineFinding, services: ReadonlySet<string>): LineFinding[] {
  const { template, severity, serviceId, strength, change } = finding;
  const isMore = change === "appeared" || change === "more";
  if (isMore && saysShortage(template)) return [{ ...finding, strength: OF_SHORTAGE * strength }];
  if (!isMore || severity < WARN || !FAILED_CALL.test(template)) return [finding];
  const symptom = { ...finding, strength: OF_FAILED_CALL * strength };
  const named = template.split(NAME_ENDS).find((word) => word !== serviceId && services.has(word));
  return named === undefined
    ? [symptom]
    : [symptom, { ...finding, serviceId: named, writer: serviceId, strength: OF_NAMED_CALLEE * strength }];
}

/** Lines that name the resource that is missing, whoever writes them. */
const SHORTAGE =
  /no space left|disk (?:is )?full|disk quota|out of memory|oom.?kill|cannot allocate|too many open files|read-only file system|i\/o error|no route to host|network is unreachable/i;

/** Whether a line names a resource that is missing. */
export function saysShortage(template: string): boolean {
  return SHORTAGE.test(template);
}

/** What callers write of a call that failed, whatever they are written in. */
const FAILED_CALL =
  /\b(?:call|connect|connection|dial|request|rpc|send)(?:ing|ed|s)?\s+(?:to|from)\b.*(?:fail|error|refus|time[d]?[ -]?out|unavailable|reset|unreachable)|deadline exceeded|connection (?:refused|reset)|econnrefused|etimedout|socket hang up|upstream|circuit.?breaker/i;
const NAME_ENDS = /[\s"'`,;()[\]{}<>|=]+|[:.](?=\s|$)|:(?=\d)/;

function groupsOf(lines: readonly LineEvidence[]): LineGroup[] {
  const groups = new Map<string, LineGroup>();
  for (const { serviceId, template, severity, past, now } of lines) {
    const location = sourceLine(template.split(" ")) ?? template;
    const key = `${severity} ${serviceId} ${location}`;
    let group = groups.get(key);
    if (group === undefined) {
      group = { serviceId, location, template, templateCount: -1, severity, past: new Float64Array(past.length), now: 0 };
      groups.set(key, group);
    }
    let count = now;
    for (let i = 0; i < past.length; i++) {
      group.past[i]! += past[i]!;
      count += past[i]!;
    }
    group.now += now;
    if (count > group.templateCount) {
      group.template = template;
      group.templateCount = count;
    }
  }
  return [...groups.values()];
}

/** Requests of a service, by window. */
interface Load {
  readonly past: Float64Array;
  readonly now: number;
}

/** Requests of a service by its spans; without spans its most frequent lines, which come with most of its requests. */
function loadsOf({ operations }: Pick<IncidentEvidence, "operations">, groups: readonly LineGroup[]): Map<string, Load> {
  const loads = new Map<string, Load>();
  for (const { serviceId, isEntry, past, now } of operations) {
    if (!isEntry) continue;
    const known = loads.get(serviceId) ?? { past: new Float64Array(past.length), now: 0 };
    loads.set(serviceId, { past: known.past.map((load, i) => load + past[i]!.spans), now: known.now + now.spans });
  }
  const spoken = new Map<string, LineGroup[]>();
  for (const group of groups) if (!loads.has(group.serviceId)) spoken.set(group.serviceId, [...(spoken.get(group.serviceId) ?? []), group]);
  for (const [serviceId, ofService] of spoken) loads.set(serviceId, loadOfLines(ofService));
  return loads;
}

/** By window the count of all lines; now the count that most lines, weighted by how often they come, have grown by. */
function loadOfLines(groups: readonly LineGroup[]): Load {
  const windows = groups[0]!.past.length;
  const past = new Float64Array(windows);
  for (const group of groups) for (let i = 0; i < windows; i++) past[i]! += group.past[i]!;
  const total = sum(past);
  const grown = groups
    .map((group) => ({ weight: sum(group.past), growth: group.now / Math.max(EXPECTED_MIN, sum(group.past)) }))
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => a.growth - b.growth);
  let before = 0;
  const middle = grown.find(({ weight }) => {
    before += weight;
    return before >= total / 2;
  });
  return { past, now: middle === undefined ? 0 : middle.growth * total };
}

function findingOf(group: LineGroup, load: Load, writers: number): LineFinding[] {
  const before = sum(group.past);
  const loadBefore = sum(load.past);
  const rate = loadBefore === 0 ? 0 : before / loadBefore;
  const expected = Math.max(EXPECTED_MIN, rate * load.now);
  const { now: count } = group;
  const isMore = count > expected;
  if (!isMore && group.severity >= WARN) return [];
  const deviance = 2 * (count === 0 ? expected : count * Math.log(count / expected) - (count - expected));
  const ofKnown = isMore && group.severity < WARN && before >= KNOWN_COUNT ? MORE_OF_KNOWN : 1;
  const strength = (Math.sqrt(Math.max(0, deviance) / variation(group.past, load.past, rate, before)) * ofKnown) / Math.sqrt(writers);
  const change = isMore ? (before === 0 ? "appeared" : "more") : count === 0 ? "stopped" : "fewer";
  const { serviceId, template, severity } = group;
  return [{ serviceId, template, severity, change, count, expected, strength, writer: null }];
}

/** Variation of a count around its rate, in multiples of Poisson's, at least 1. */
function variation(past: Float64Array, load: Float64Array, rate: number, before: number): number {
  if (before < KNOWN_COUNT) return 1;
  let chi = 0;
  let windows = 0;
  for (let i = 0; i < past.length; i++) {
    const expected = rate * load[i]!;
    if (expected < EXPECTED_OF_WINDOW_MIN) continue;
    chi += (past[i]! - expected) ** 2 / expected;
    windows++;
  }
  return windows < WINDOWS_OF_SPREAD_MIN ? 1 : Math.max(1, chi / (windows - 1));
}

function sum(values: Float64Array): number {
  let total = 0;
  for (let i = 0; i < values.length; i++) total += values[i]!;
  return total;
}
