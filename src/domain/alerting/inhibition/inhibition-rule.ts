// Rules by which people have one alert keep others quiet while it fires, as Alertmanager's inhibit rules: source matchers say which alert does, target matchers
// which are kept quiet, and both must have the same values in the `equal` labels.
import { compileMatchers, type LabelMatcher, type Labels } from "../label-matcher.ts";

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
  placeOf(labels: Labels): string;
}

/** The rules in force, in the order in which they were made. */
export interface InhibitionRules {
  rulesOf(tenant: string): readonly CompiledInhibition[];
}

export const NO_INHIBITION_RULES: InhibitionRules = { rulesOf: () => [] };

export function compileInhibition(rule: InhibitionRule): CompiledInhibition {
  return {
    rule,
    isSource: compileMatchers(rule.sourceMatchers),
    isTarget: compileMatchers(rule.targetMatchers),
    placeOf: (labels) => rule.equal.map((name) => valueText(Object.hasOwn(labels, name) ? (labels[name] as string) : "")).join(""),
  };
}

function valueText(value: string): string {
  return `${value.length} ${value}`;
}
