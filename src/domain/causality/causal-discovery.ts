// Which metrics of a service lead which others: conditional Granger causality over all of them at once, so that a metric that only shares a cause with
// another, or stands at the end of a chain, is no cause of it. "Cause" means: its past foretells the other's future, given everything else that was looked at.
import { LaggedCovariance } from "./lagged-covariance.ts";
import { type Parent, selectParents } from "./parent-selection.ts";
import { preparedSeries } from "./prepared-series.ts";

/** A link from one series to another, by their indexes. */
export interface CausalLink {
  readonly cause: number;
  readonly effect: number;
  /** In steps of the series. */
  readonly lag: number;
  /** |partial correlation| given the other parents of the effect, 0..1. */
  readonly strength: number;
  /** Signed. */
  readonly partialCorrelation: number;
  /** Benjamini-Hochberg's adjusted p over all pairs and lags. */
  readonly q: number;
}

export interface DiscoveryOptions {
  readonly stepMs: number;
  /** Longest lag that is looked at, in steps. */
  readonly lagMax: number;
}

/** A link must hold at this level over all that was tried for its effect, and must explain so much: with many values anything is significant. */
const LINK_P_MAX = 0.001;
const LINK_STRENGTH_MIN = 0.18;
const PARENTS_MAX = 24;
const FALSE_DISCOVERY_RATE = 0.05;

/** Links by strength, strongest first; one a pair and direction, at its strongest lag. Series of equal length; constant ones have no links. */
export function discoverLinks(series: readonly Float64Array[], { stepMs, lagMax }: DiscoveryOptions): CausalLink[] {
  const prepared = series.map((values) => preparedSeries(values, { stepMs }));
  const places = prepared.flatMap((values, index) => (values === undefined ? [] : [index]));
  const covariance = new LaggedCovariance(
    prepared.filter((values) => values !== undefined),
    lagMax,
  );
  const limits = { logPMax: Math.log(LINK_P_MAX), correlationMin: LINK_STRENGTH_MIN, parentsMax: PARENTS_MAX };
  const found = places.flatMap((effect, target) =>
    strongestByCause(selectParents(covariance, target, limits), target).map((parent) => ({
      cause: places[parent.series] as number,
      effect,
      lag: parent.lag,
      strength: Math.abs(parent.partialCorrelation),
      partialCorrelation: parent.partialCorrelation,
      logP: parent.logP,
    })),
  );
  const tests = places.length * Math.max(0, places.length - 1) * lagMax;
  return withinFalseDiscoveryRate(found, tests).sort((a, b) => b.strength - a.strength);
}

function strongestByCause(parents: readonly Parent[], target: number): Parent[] {
  const best = new Map<number, Parent>();
  for (const parent of parents) {
    if (parent.series === target) continue;
    const known = best.get(parent.series);
    if (known === undefined || Math.abs(parent.partialCorrelation) > Math.abs(known.partialCorrelation)) best.set(parent.series, parent);
  }
  return [...best.values()];
}

/** Benjamini & Hochberg 1995 over `tests` tests, of which those that were not selected count as not significant. */
function withinFalseDiscoveryRate(found: readonly (Omit<CausalLink, "q"> & { readonly logP: number })[], tests: number): CausalLink[] {
  const ordered = [...found].sort((a, b) => a.logP - b.logP);
  let least = 1;
  const adjusted = ordered.map((link, rank) => Math.min(1, (Math.exp(link.logP) * tests) / (rank + 1)));
  const result: CausalLink[] = [];
  for (let rank = ordered.length - 1; rank >= 0; rank--) {
    least = Math.min(least, adjusted[rank] as number);
    const { logP: _, ...link } = ordered[rank] as (typeof ordered)[number];
    if (least <= FALSE_DISCOVERY_RATE) result.push({ ...link, q: least });
  }
  return result;
}
