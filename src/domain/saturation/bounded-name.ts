// What a metric's name, unit and range say of its bounds: whether it fills or drains, and where it ends. Names are read by whole words, so
// that `downloads` is no load; a name of both kinds (free_percent) is one of what remains.

import { BoundedMap } from "../../core/collections/bounded-map.ts";
import { nameTerms } from "../series/metric-family.ts";

export type BoundedKind = "utilization" | "remaining";

/** Limit by declaration (contract 4.7), already chosen: the service's before the tenant's. */
export interface DeclaredLimit {
  readonly value: number;
  readonly unit: string;
}

/** Values seen so far, for series whose unit nobody tells. */
export interface ObservedRange {
  readonly max: number;
  readonly minutes: number;
}

/** Where a series ends. `capacity` is what 100 % is: of a utilization its limit; of what remains the most there can be, null where unknown. */
export interface Bounds {
  readonly kind: BoundedKind;
  readonly capacity: number | null;
  readonly unit: string;
  readonly declared: boolean;
}

const REMAINING = terms("free avail available remaining remain left headroom credit credits balance idle unused");
/** Memory that caches have not taken yet: they take all of it in time, and give it back. What is left is said by another metric, as available. */
const UNCACHED = /MemFree|(?:^|[._])mem[._]free$/;
/** Say by themselves that 100 % is the end. */
const PERCENT = terms("percent pct percentage");
const SHARE = terms("ratio fraction util utilization utilisation saturation occupancy fill fullness");
/** Mean a share only of a resource: `connections.used` is a number of connections. */
const USE = terms("usage used load busy");
const RESOURCE = terms("cpu memory mem ram swap heap disk filesystem fs volume storage inode inodes partition gpu pool quota");
/** Shares that are no resource: good or bad when high, never full. */
const NO_RESOURCE = terms(
  "error errors success failure failures failed hit hits miss misses availability apdex rate loss conversion slo sli burn average",
);
const UNITS: ReadonlyMap<string, number> = new Map([
  ["%", 100],
  ["percent", 100],
  ["1", 1],
  ["ratio", 1],
]);
/** A share may be measured a little over its end, once and again; what goes beyond this counts something else. */
const OVERSHOOT = 1.1;
/** So much must have been seen before a range tells the unit. */
const RANGE_MINUTES_MIN = 60;

/** Facts that a name tells, read once: series of one name come again and again. */
interface NameFacts {
  readonly terms: readonly string[];
  readonly kind: BoundedKind | null;
}

/** Names of bounded series are few, and 0.3 KiB each here. */
const FACTS_CACHED_MAX = 10_000;
const facts = new BoundedMap<string, NameFacts>(FACTS_CACHED_MAX);

function factsOf(metricName: string): NameFacts {
  return facts.obtain(metricName, () => {
    const of = nameTerms(metricName);
    return { terms: of, kind: UNCACHED.test(metricName) ? null : kindOfText(of) };
  });
}

/** Kind by the name alone; null for a name of neither kind, which a declared limit still makes a utilization. */
export function kindOfName(metricName: string): BoundedKind | null {
  return factsOf(metricName).kind;
}

function kindOfText(of: readonly string[]): BoundedKind | null {
  if (has(of, NO_RESOURCE)) return null;
  if (has(of, REMAINING)) return "remaining";
  return has(of, PERCENT) || has(of, SHARE) || (has(of, USE) && has(of, RESOURCE)) ? "utilization" : null;
}

/**
 * Bounds of a series, or null where the rules of saturation do not look at it: no such name and no declaration, or a raw unit without one.
 * What remains ends at zero whatever its unit.
 */
export function boundsOf(metricName: string, unit: string | null, range: ObservedRange, declared: DeclaredLimit | null): Bounds | null {
  const kind = kindOfName(metricName);
  if (declared !== null) {
    return declared.value > 0 ? { kind: kind ?? "utilization", capacity: declared.value, unit: declared.unit, declared: true } : null;
  }
  if (kind === null) return null;
  const capacity = capacityOf(metricName, unit, range);
  if (kind === "remaining") return { kind, capacity, unit: unitText(unit, capacity), declared: false };
  return capacity === null ? null : { kind, capacity, unit: unitText(unit, capacity), declared: false };
}

function capacityOf(metricName: string, unit: string | null, range: ObservedRange): number | null {
  const byUnit = unit === null || unit === "" ? undefined : (UNITS.get(unit.toLowerCase()) ?? null);
  const of = factsOf(metricName).terms;
  // A raw unit is believed, whatever the name says.
  if (byUnit === null) return null;
  // 240 % of a processor is that of several: what 100 % is then has to be declared.
  if (byUnit !== undefined) return range.max > OVERSHOOT * byUnit ? null : byUnit;
  if (has(of, PERCENT)) return range.max > OVERSHOOT * 100 ? null : 100;
  const share = has(of, SHARE) || has(of, RESOURCE);
  if (!share || range.minutes < RANGE_MINUTES_MIN || range.max > OVERSHOOT * 100) return null;
  if (range.max <= 1) return 1;
  return has(of, REMAINING) && !has(of, SHARE) && !has(of, USE) && !of.includes("cpu") ? null : 100;
}

function unitText(unit: string | null, capacity: number | null): string {
  if (capacity === 100) return "%";
  return capacity === 1 ? "" : (unit ?? "");
}

function has(of: readonly string[], set: ReadonlySet<string>): boolean {
  return of.some((word) => set.has(word));
}

function terms(text: string): ReadonlySet<string> {
  return new Set(text.split(" "));
}
