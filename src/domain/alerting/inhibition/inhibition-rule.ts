// Rules by which people have one alert keep others quiet while it fires, as Alertmanager's inhibit rules: source matchers say which alert does, target matchers
// which are kept quiet, and both must have the same values in the `equal` labels.
import { hash128 } from "../../../core/hashing/hash128.ts";
import { compileMatchers, type LabelMatcher, type Labels, labelOf } from "../label-matcher.ts";
import type { PatternCache } from "../pattern/pattern-cache.ts";

export interface InhibitionRule {
  /** 32 hex digits. */
  readonly id: string;
  readonly tenant: string;
  /** All must hold. */
  readonly sourceMatchers: readonly LabelMatcher[];
  readonly targetMatchers: readonly LabelMatcher[];
  /** A label that both lack is equal. */
  readonly equal: readonly string[];
  readonly comment: string;
}

/** A rule made ready for many alerts. */
export interface CompiledInhibition {
  readonly rule: InhibitionRule;
  isSource(labels: Labels): boolean;
  isTarget(labels: Labels): boolean;
  /** The values of the equal labels: the same text where all of them are the same. */
  scopeOf(labels: Labels): string;
}

/** The rules in force, in the order in which they were made. */
export interface InhibitionRules {
  rulesOf(tenant: string): readonly CompiledInhibition[];
}

export const NO_INHIBITION_RULES: InhibitionRules = { rulesOf: () => [] };

export function compileInhibition(rule: InhibitionRule, patterns: PatternCache): CompiledInhibition {
  return {
    rule,
    isSource: compileMatchers(rule.sourceMatchers, patterns),
    isTarget: compileMatchers(rule.targetMatchers, patterns),
    scopeOf: (labels) => rule.equal.map((name) => valueText(labels, name)).join(""),
  };
}

/** Values that are longer are compared by their hash, made once for an alert: rules may name the same long value a hundred times. */
const VALUE_CHARACTERS_MAX = 64;
const hashes = new WeakMap<Labels, Map<string, string>>();

function valueText(labels: Labels, name: string): string {
  const value = labelOf(labels, name);
  return value.length <= VALUE_CHARACTERS_MAX ? `${value.length} ${value}` : `#${hashText(labels, name, value)}`;
}

function hashText(labels: Labels, name: string, value: string): string {
  const known = hashes.get(labels) ?? new Map<string, string>();
  hashes.set(labels, known);
  const hash = known.get(name) ?? hash128(value);
  known.set(name, hash);
  return hash;
}
