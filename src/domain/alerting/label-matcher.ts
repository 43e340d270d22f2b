// Matchers of labels as Alertmanager has them: =, !=, =~ and !~, the pattern (RE2's syntax) matched against the whole value. Comparisons come before patterns.
import { ownMember } from "../../core/collections/own-member.ts";
import { PATTERN_BYTES_MAX } from "../../core/config/pattern-limits.ts";
import { isLongerThan } from "../../core/text/utf8.ts";
import type { PatternCache } from "./pattern/pattern-cache.ts";

export type MatchOperator = "=" | "!=" | "=~" | "!~";

export interface LabelMatcher {
  readonly name: string;
  readonly operator: MatchOperator;
  readonly value: string;
}

export type Labels = Readonly<Record<string, string>>;

/** Whether all matchers hold, for many alerts. A matcher with a pattern that cannot be matched holds for nothing. */
export function compileMatchers(matchers: readonly LabelMatcher[], patterns: PatternCache): (labels: Labels) => boolean {
  const inOrder = [...matchers].sort((a, b) => Number(isPattern(a)) - Number(isPattern(b)));
  return (labels) => {
    for (const matcher of inOrder) if (!matches(matcher, labels, patterns)) return false;
    return true;
  };
}

/** Error of a matcher, in a sentence; null where there is none. Makes the table of its pattern: up to 15 ms. */
export function matcherProblem({ name, operator, value }: LabelMatcher, patterns: PatternCache): string | null {
  if (name === "") return "a matcher names no label";
  if (!isPattern({ operator })) return null;
  const what = `pattern "${value.slice(0, 80)}" of ${name}`;
  if (isLongerThan(value, PATTERN_BYTES_MAX)) {
    return `${what} has more than ${PATTERN_BYTES_MAX} bytes; give several silences or rules, or a pattern that says less`;
  }
  const problem = patterns.problem(value);
  return problem === null ? null : `${what} cannot be matched: ${problem}`;
}

/** Why matchers may hold for nearly everything: each does where its label is absent. Null where one of them wants a value, as Alertmanager asks for too. */
export function emptyMatchersProblem(matchers: readonly LabelMatcher[], patterns: PatternCache): string | null {
  if (matchers.some((matcher) => !matches(matcher, {}, patterns))) return null;
  return `each matcher also matches a label that is absent or empty, so that together they match nearly every alert; give one that does not, such as service_id="checkout" or ${matchers[0]?.name ?? "service_id"}=~".+"`;
}

/** Whether it has a pattern. */
export function isPattern({ operator }: Pick<LabelMatcher, "operator">): boolean {
  return operator === "=~" || operator === "!~";
}

/** The value of a label; one that is absent is empty. */
export function labelOf(labels: Labels, name: string): string {
  const value: unknown = ownMember(labels, name);
  return typeof value === "string" ? value : "";
}

function matches({ name, operator, value }: LabelMatcher, labels: Labels, patterns: PatternCache): boolean {
  const label = labelOf(labels, name);
  if (operator === "=") return label === value;
  if (operator === "!=") return label !== value;
  return patterns.matches(value, label) === (operator === "=~");
}
