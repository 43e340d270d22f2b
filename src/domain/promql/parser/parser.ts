// Reads a query into its tree: a Pratt parser of the grammar in promql/parser/generated_parser.y of Prometheus, with its messages. The first fault that Prometheus would tell is thrown.
// Label matchers in braces and lists of grouping labels, with Prometheus' messages (label_match_list and grouping_labels of promql/parser/generated_parser.y).
import { LabelMatcher, type MatchOperator } from "../labels/label-matcher.ts";
import { METRIC_NAME } from "../labels/labels.ts";
import { PatternError } from "../labels/pattern.ts";
import { parseNumberLiteral } from "./duration-parser.ts";
import type { AggregateExpression, BinaryExpression, Expression, VectorMatching, VectorSelector } from "./expression.ts";
import { FUNCTIONS } from "./function-table.ts";
import { parseModifiers } from "./modifier-parser.ts";
import { ParseError } from "./position.ts";
import { quote, unquote } from "./quoted-text.ts";
import { type Aggregator, type BinaryOperator, canNameLabel, canNameMetric, isAggregator, isBinaryOperator, type Token } from "./token.ts";
import { TokenReader } from "./token-reader.ts";
import { checkTypes } from "./type-check.ts";

const MATCHING = "label matching";
const GROUPING = "grouping opts";

// biome-ignore format: one row a level
const PRECEDENCE: Readonly<Record<BinaryOperator, number>> = {
  or: 1,
  and: 2, unless: 2,
  "==": 3, "!=": 3, "<=": 3, "<": 3, ">=": 3, ">": 3,
  "+": 4, "-": 4,
  "*": 5, "/": 5, "%": 5, atan2: 5,
  "^": 6,
};
/** A sign binds as a product does: -2^2 is -(2^2). */
const SIGN_PRECEDENCE = 5;
const WITH_PARAMETER: ReadonlySet<Aggregator> = new Set(["topk", "bottomk", "count_values", "quantile", "limitk", "limit_ratio"]);

/** Reads and checks a query; throws ParseError. */
export function parseExpression(query: string): Expression {
  return readWhole(query, (tokens) => {
    if (tokens.is("end of input")) throw tokens.refuse(0, "no expression found in input");
    const expression = parseBinary(tokens, 0);
    if (!tokens.is("end of input")) throw tokens.unexpected();
    if (tokens.fault === undefined) checkTypes(expression, tokens);
    return expression;
  });
}

/** Reads a selector that stands alone, such as a `match[]`; throws ParseError. */
export function parseSelector(query: string): readonly LabelMatcher[] {
  return readWhole(query, (tokens) => {
    if (!canNameMetric(tokens.ahead) && !tokens.is("{")) throw tokens.unexpected();
    const { matchers } = parseVectorSelector(tokens);
    if (!tokens.is("end of input")) throw tokens.unexpected();
    return matchers;
  });
}

function readWhole<Result>(query: string, read: (tokens: TokenReader) => Result): Result {
  const tokens = new TokenReader(query);
  let result: Result;
  try {
    result = read(tokens);
  } catch (error) {
    throw error instanceof ParseError ? (tokens.fault ?? error) : error;
  }
  if (tokens.fault !== undefined) throw tokens.fault;
  return result;
}

function parseBinary(tokens: TokenReader, least: number): Expression {
  let left = tokens.nested(() => parsePrefix(tokens));
  for (;;) {
    const { kind, start } = tokens.ahead;
    if (!isBinaryOperator(kind) || PRECEDENCE[kind] <= least) return left;
    tokens.countOperator(start);
    left = parseOperation(tokens, left);
  }
}

function parseOperation(tokens: TokenReader, left: Expression): BinaryExpression {
  const { kind, start } = tokens.take();
  const operator = kind as BinaryOperator;
  const returnsBool = tokens.accept("bool") !== undefined;
  const matching = parseMatching(tokens);
  const fill = parseFill(tokens);
  const right = parseBinary(tokens, operator === "^" ? PRECEDENCE["^"] - 1 : PRECEDENCE[operator]);
  if (fill) tokens.note(left.start, "binop fill modifiers are experimental and not enabled");
  return { kind: "binary", start: left.start, operator, operatorStart: start, left, right, returnsBool, matching };
}

function parseMatching(tokens: TokenReader): VectorMatching {
  const matching: VectorMatching = { cardinality: "one-to-one", labels: [], isOn: false, include: [] };
  const word = tokens.accept("on") ?? tokens.accept("ignoring");
  if (word === undefined) return matching;
  matching.isOn = word.kind === "on";
  matching.labels = parseGroupingLabels(tokens);
  const side = tokens.accept("group_left") ?? tokens.accept("group_right");
  if (side === undefined) return matching;
  matching.cardinality = side.kind === "group_left" ? "many-to-one" : "one-to-many";
  if (tokens.is("(")) matching.include = parseGroupingLabels(tokens);
  return matching;
}

/** Whether there are fill modifiers, which stand behind a flag. */
function parseFill(tokens: TokenReader): boolean {
  let found = false;
  while (tokens.is("fill") || tokens.is("fill_left") || tokens.is("fill_right")) {
    tokens.take();
    tokens.expect("(");
    if (tokens.is("-") || tokens.is("+")) tokens.take();
    if (!tokens.is("number") && !tokens.is("duration")) throw tokens.unexpected();
    parseNumberLiteral(tokens);
    tokens.expect(")");
    found = true;
  }
  return found;
}

function parsePrefix(tokens: TokenReader): Expression {
  const { kind } = tokens.ahead;
  if (kind === "+" || kind === "-") return parseSign(tokens, tokens.take());
  return parseModifiers(tokens, parseOperand(tokens));
}

function parseSign(tokens: TokenReader, { kind, start }: Token): Expression {
  const operand = parseBinary(tokens, SIGN_PRECEDENCE);
  if (operand.kind !== "number") return { kind: "unary", start, operator: kind as "+" | "-", operand };
  return { ...operand, start, value: kind === "-" ? -operand.value : operand.value };
}

function parseOperand(tokens: TokenReader): Expression {
  const token = tokens.ahead;
  if (token.kind === "number" || token.kind === "duration") return parseNumberLiteral(tokens);
  if (token.kind === "string") {
    tokens.take();
    return { kind: "string", start: token.start, value: textOf(tokens, token), quoted: token.text };
  }
  if (token.kind === "(") return parseParens(tokens);
  if (token.kind === "{") return parseVectorSelector(tokens);
  if (canNameMetric(token)) return parseNamed(tokens, tokens.take());
  throw tokens.unexpected();
}

function parseParens(tokens: TokenReader): Expression {
  const { start } = tokens.take();
  const inner = parseBinary(tokens, 0);
  tokens.expect(")");
  return { kind: "paren", start, inner };
}

/** What begins with a word: an aggregation, a call or a selector. */
function parseNamed(tokens: TokenReader, name: Token): Expression {
  if (isAggregator(name.kind)) {
    if (tokens.is("(") || tokens.is("by") || tokens.is("without")) return parseAggregation(tokens, name);
    if (["identifier", "metric identifier", "number", "string", "duration"].includes(tokens.ahead.kind)) {
      throw tokens.unexpected("aggregation");
    }
  }
  const isCallable = name.kind === "identifier" || ["start", "end", "step", "range"].includes(name.kind);
  return isCallable && tokens.is("(") ? parseCall(tokens, name) : parseVectorSelector(tokens, name);
}

function parseVectorSelector(tokens: TokenReader, taken?: Token): VectorSelector {
  const name = taken ?? (tokens.is("{") ? undefined : tokens.take());
  const { start } = name ?? tokens.ahead;
  const matchers = tokens.is("{") ? parseMatchers(tokens) : [];
  if (name !== undefined) matchers.push(new LabelMatcher("__name__", "=", name.text));
  return { kind: "selector", start, metricName: name?.text ?? "", matchers, offset: undefined, at: undefined };
}

function parseArguments(tokens: TokenReader): Expression[] {
  tokens.expect("(");
  const args: Expression[] = [];
  if (tokens.accept(")") !== undefined) return args;
  for (;;) {
    args.push(parseBinary(tokens, 0));
    if (tokens.accept(")") !== undefined) return args;
    const comma = tokens.expect(",");
    if (!tokens.is(")")) continue;
    tokens.note(comma.start, "trailing commas not allowed in function call args");
    tokens.take();
    return args;
  }
}

function parseCall(tokens: TokenReader, { start, text }: Token): Expression {
  const args = parseArguments(tokens);
  const signature = FUNCTIONS.get(text);
  if (signature === undefined) throw noted(tokens, start, `unknown function with name ${quote(text)}`);
  if (signature.isExperimental) tokens.note(start, `function ${quote(text)} is not enabled`);
  return { kind: "call", start, signature, args };
}

/** Notes a fault behind which the tree cannot be made; what was noted before it comes first. */
function noted(tokens: TokenReader, start: number, reason: string): ParseError {
  tokens.note(start, reason);
  return tokens.fault as ParseError;
}

function parseAggregation(tokens: TokenReader, { start, kind }: Token): AggregateExpression {
  const operator = kind as Aggregator;
  const before = parseGrouping(tokens);
  const args = parseArguments(tokens);
  const { labels, isWithout } = before ?? parseGrouping(tokens) ?? { labels: [], isWithout: false };
  if (args.length === 0) throw noted(tokens, start, "no arguments for aggregate expression provided");
  const hasParameter = WITH_PARAMETER.has(operator);
  if (operator === "limitk" || operator === "limit_ratio") {
    tokens.note(start, `${operator}() is experimental and must be enabled with --enable-feature=promql-experimental-functions`);
  }
  const wanted = hasParameter ? 2 : 1;
  if (args.length !== wanted) {
    throw noted(tokens, start, `wrong number of arguments for aggregate expression provided, expected ${wanted}, got ${args.length}`);
  }
  const operand = args[wanted - 1] as Expression;
  return { kind: "aggregate", start, operator, operand, parameter: hasParameter ? args[0] : undefined, grouping: labels, isWithout };
}

function parseGrouping(tokens: TokenReader): { readonly labels: readonly string[]; readonly isWithout: boolean } | undefined {
  const word = tokens.accept("by") ?? tokens.accept("without");
  return word === undefined ? undefined : { labels: parseGroupingLabels(tokens), isWithout: word.kind === "without" };
}

/** A string token's text. */
function textOf(tokens: TokenReader, { start, text }: Token): string {
  const unquoted = unquote(text);
  if (unquoted === undefined) tokens.note(start, `error unquoting string ${quote(text)}: invalid syntax`);
  return unquoted ?? "";
}

/** Matchers of `{...}`, whose opening brace is ahead. */
function parseMatchers(tokens: TokenReader): LabelMatcher[] {
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
function parseGroupingLabels(tokens: TokenReader): string[] {
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
