// How many patterns a tenant has in force, over silences and inhibitions, and whether there is room for more. Each alert may be matched against all of them.
import {
  PATTERN_MATCHERS_PER_TENANT_MAX,
  PATTERN_MATCHERS_STORED_MAX,
  PATTERN_START_VISITS_MAX,
  PATTERN_TABLE_BYTES_PER_TENANT_MAX,
} from "../../core/config/pattern-limits.ts";
import { isPattern, type LabelMatcher, matcherProblem } from "../../domain/alerting/label-matcher.ts";
import type { PatternCache } from "../../domain/alerting/pattern/pattern-cache.ts";
import { silenceState } from "../../domain/alerting/silence.ts";
import type { InhibitionBook } from "./inhibition-book.ts";
import type { SilenceBook } from "./silence-book.ts";

/** Holder of matchers. */
export interface PatternHolders {
  readonly patterns: PatternCache;
  readonly silences: SilenceBook;
  readonly inhibitions: InhibitionBook;
}

/** A silence or a rule that is in force. */
interface Holder {
  readonly kind: "silence" | "inhibition";
  readonly id: string;
  readonly createdMs: number;
  readonly matchers: readonly LabelMatcher[];
}

/** Lines of the log that name silences and rules one by one. */
const LINES_MAX = 50;

/** Error of the first matcher that is wrong, in a sentence; null where nothing is. Others have their turn after each table that is made. */
export async function matchersProblem(
  matchers: readonly LabelMatcher[],
  patterns: PatternCache,
  yieldToLoop: () => Promise<void>,
): Promise<string | null> {
  for (const matcher of matchers) {
    const { tables } = patterns.work;
    const problem = matcherProblem(matcher, patterns);
    if (problem !== null) return problem;
    if (patterns.work.tables > tables) await yieldToLoop();
  }
  return null;
}

/** Why a tenant has no room for these matchers besides what is in force, in a sentence; null where there is room. Their patterns can be matched. */
export function patternCapacityProblem(
  holders: PatternHolders,
  tenant: string,
  added: readonly LabelMatcher[],
  nowMs: number,
): string | null {
  const present = added.some(isPattern) ? holdersOf(holders, tenant, nowMs) : [];
  return patternSumProblem(
    holders.patterns,
    present.flatMap(({ matchers }) => matchers),
    added,
  );
}

/** Why matchers are too many, or their patterns too large, to be in force together; null where they are not. */
export function patternSumProblem(patterns: PatternCache, inForce: readonly LabelMatcher[], added: readonly LabelMatcher[]): string | null {
  const present = patternsOf(inForce);
  const more = patternsOf(added);
  if (more.length === 0) return null;
  if (present.length + more.length > PATTERN_MATCHERS_PER_TENANT_MAX) {
    const what = `${present.length} matchers with =~ or !~ are in force in silences and inhibitions, and these are ${more.length} more`;
    return `${what}; there is room for ${PATTERN_MATCHERS_PER_TENANT_MAX}: put several into one such as api|web-.*, use = where a value is known, or delete some`;
  }
  const bytes = tableBytes(patterns, [...present, ...more]);
  if (bytes > PATTERN_TABLE_BYTES_PER_TENANT_MAX) {
    const what = `the patterns in force and these need ${Math.ceil(bytes / 1024)} KiB of memory together`;
    return `${what}; there are ${PATTERN_TABLE_BYTES_PER_TENANT_MAX / 1024}: give shorter patterns, with smaller numbers in {}, or delete some`;
  }
  return null;
}

/**
 * Goes through what is stored: makes its patterns ready, and withholds silences and rules of earlier versions that are beyond today's bounds. The oldest of a tenant
 * stay in force. Returns lines that name those that do not.
 */
export function admitStored(holders: PatternHolders, nowMs: number): string[] {
  const lines: string[] = [];
  for (const tenant of new Set([...holders.silences.tenants(), ...holders.inhibitions.tenants()])) {
    let count = 0;
    const inOrder = holdersOf(holders, tenant, nowMs).sort((a, b) => a.createdMs - b.createdMs);
    for (const { kind, id, matchers } of inOrder) {
      const own = patternsOf(matchers);
      count += own.length;
      const problem = own.length === 0 ? null : storedProblem(holders.patterns, own, count);
      if (problem === null) continue;
      count -= own.length;
      (kind === "silence" ? holders.silences : holders.inhibitions).withhold(tenant, id);
      lines.push(`${kind} ${id} of tenant ${tenant} is listed but holds nothing back: ${problem}; delete it and make it anew`);
    }
  }
  const more = lines.length - LINES_MAX;
  return more > 0 ? [...lines.slice(0, LINES_MAX), `${more} more silences and inhibitions hold nothing back for such reasons`] : lines;
}

function storedProblem(patterns: PatternCache, own: readonly string[], count: number): string | null {
  if (count > PATTERN_MATCHERS_STORED_MAX) {
    return `older ones of the tenant have ${PATTERN_MATCHERS_STORED_MAX} matchers with =~ or !~, and no more are matched`;
  }
  for (const pattern of own) {
    // Where very many are stored, the rest is made at its first use: a start must come to its end.
    if (patterns.work.visits >= PATTERN_START_VISITS_MAX) return null;
    const problem = patterns.problem(pattern);
    if (problem !== null) return `pattern "${pattern.slice(0, 80)}" cannot be matched: ${problem}`;
  }
  return null;
}

/** Those that are in force now or later. */
function holdersOf({ silences, inhibitions }: PatternHolders, tenant: string, nowMs: number): Holder[] {
  const inForce = silences.listOf(tenant).filter((silence) => silenceState(silence, nowMs) !== "expired");
  const rules = inhibitions.rulesOf(tenant).map(({ rule }) => rule);
  return [
    ...inForce.map(({ id, createdMs, matchers }) => ({ kind: "silence" as const, id, createdMs, matchers })),
    ...rules.map(({ id, createdMs, sourceMatchers, targetMatchers }) => {
      return { kind: "inhibition" as const, id, createdMs, matchers: [...sourceMatchers, ...targetMatchers] };
    }),
  ];
}

function patternsOf(matchers: readonly LabelMatcher[]): string[] {
  return matchers.filter(isPattern).map(({ value }) => value);
}

/** The same pattern has one table, however often it is used. */
function tableBytes(patterns: PatternCache, used: readonly string[]): number {
  return [...new Set(used)].reduce((sum, pattern) => sum + patterns.tableBytes(pattern), 0);
}
