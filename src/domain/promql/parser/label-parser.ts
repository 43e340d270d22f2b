// Label matchers in braces and lists of grouping labels, with Prometheus' messages (label_match_list and grouping_labels of promql/parser/generated_parser.y).
import { LabelMatcher, type MatchOperator } from "../labels/label-matcher.ts";
import { PatternError } from "../labels/pattern.ts";
import { quote, unquote } from "./quoted-text.ts";
import { canNameLabel, type Token } from "./token.ts";
import type { TokenReader } from "./token-reader.ts";

const METRIC_NAME = "__name__";
const MATCHING = "label matching";
const GROUPING = "grouping opts";

/** A string token's text. */
export function textOf(tokens: TokenReader, { start, text }: Token): string {
  const unquoted = unquote(text);
  if (unquoted === undefined) tokens.note(start, `error unquoting string ${quote(text)}: invalid syntax`);
  return unquoted ?? "";
}

/** Matchers of `{...}`, whose opening brace is ahead. */
export function parseMatchers(tokens: TokenReader): LabelMatcher[] {
  tokens.expect("{");
  const matchers: LabelMatcher[] = [];
  if (tokens.accept("}") !== undefined) return matchers;
  for (;;) {
    const matcher = parseMatcher(tokens);
    if (matcher !== undefined) matchers.push(matcher);
    if (tokens.accept("}") !== undefined) return matchers;
    tokens.expect(",", MATCHING, '"," or "}"');
    if (tokens.accept("}") !== undefined) return matchers;
  }
}

function parseMatcher(tokens: TokenReader): LabelMatcher | undefined {
  const first = tokens.ahead;
  if (first.kind !== "identifier" && first.kind !== "string") throw tokens.unexpected(MATCHING, 'identifier or "}"');
  tokens.take();
  const name = first.kind === "string" ? textOf(tokens, first) : first.text;
  if (!isMatchOperator(tokens.ahead.kind)) {
    if (first.kind === "identifier") throw tokens.unexpected(MATCHING, "label matching operator");
    return new LabelMatcher(METRIC_NAME, "=", name);
  }
  const operator = tokens.take().kind as MatchOperator;
  const value = textOf(tokens, tokens.expect("string", MATCHING, "string"));
  return makeMatcher(tokens, first, [name, operator, value]);
}

function makeMatcher(tokens: TokenReader, { start }: Token, parts: ConstructorParameters<typeof LabelMatcher>): LabelMatcher | undefined {
  try {
    return new LabelMatcher(...parts);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    tokens.note(start, error.message);
    return undefined;
  }
}

function isMatchOperator(kind: string): boolean {
  return kind === "=" || kind === "!=" || kind === "=~" || kind === "!~";
}

/** Labels in parentheses behind by, on and the like. */
export function parseGroupingLabels(tokens: TokenReader): string[] {
  tokens.expect("(", GROUPING, '"("');
  const labels: string[] = [];
  if (tokens.accept(")") !== undefined) return labels;
  for (;;) {
    labels.push(parseGroupingLabel(tokens));
    if (tokens.accept(")") !== undefined) return labels;
    tokens.expect(",", GROUPING, '"," or ")"');
    if (tokens.accept(")") !== undefined) return labels;
  }
}

function parseGroupingLabel(tokens: TokenReader): string {
  const token = tokens.ahead;
  if (token.kind === "string") return textOf(tokens, tokens.take());
  if (!canNameLabel(token) || token.text.includes(":")) throw tokens.unexpected(GROUPING, "label");
  return tokens.take().text;
}
