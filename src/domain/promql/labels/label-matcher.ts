// Matchers of a selector, as Prometheus matches (model/labels/matcher.go): a missing label is an empty one, a pattern matches the whole value.
import { quote } from "../parser/quoted-text.ts";
import { compilePattern } from "./pattern.ts";

/** How a matcher compares. */
export type MatchOperator = "=" | "!=" | "=~" | "!~";

/** One condition of a selector. */
export class LabelMatcher {
  readonly name: string;
  readonly operator: MatchOperator;
  readonly value: string;
  readonly #matchesPattern: ((value: string) => boolean) | undefined;

  /** Throws PatternError where the value is no pattern. */
  constructor(name: string, operator: MatchOperator, value: string) {
    this.name = name;
    this.operator = operator;
    this.value = value;
    this.#matchesPattern = operator === "=~" || operator === "!~" ? compilePattern(value) : undefined;
  }

  /** Whether a label's value fulfils the condition. */
  matches(value: string): boolean {
    if (this.operator === "=") return value === this.value;
    if (this.operator === "!=") return value !== this.value;
    return (this.#matchesPattern as (text: string) => boolean)(value) === (this.operator === "=~");
  }

  /** The matcher as it stands in a query. */
  toString(): string {
    return `${labelNameText(this.name)}${this.operator}${quote(this.value)}`;
  }
}

/** A label's name as it stands in a query: in quotes where it has other characters than letters, digits and underscores. */
export function labelNameText(name: string): string {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? name : quote(name);
}
