// What stands behind an expression: offset, `@`, a range, a subquery, and the flagged anchored and smoothed (offset_expr to subquery_expr of promql/parser/generated_parser.y).
import { canStartDuration, parseNumberLiteral, parseOffset, parseRange } from "./duration-parser.ts";
import type { AtModifier, Expression, MatrixSelector, SubqueryExpression, VectorSelector } from "./expression.ts";
import type { TokenReader } from "./token-reader.ts";

const DURATION_FORMS = "number, duration, step(), or range()";
const TIME_MS_MAX = 2 ** 63;

/** An expression with all modifiers that follow it. */
export function parseModifiers(tokens: TokenReader, first: Expression): Expression {
  let expression = first;
  for (;;) {
    if (tokens.is("[")) expression = parseBrackets(tokens, expression);
    else if (tokens.accept("offset") !== undefined) parseOffsetModifier(tokens, expression);
    else if (tokens.accept("@") !== undefined) parseAtModifier(tokens, expression);
    else if (tokens.is("anchored") || tokens.is("smoothed")) {
      tokens.note(expression.start, `${tokens.take().kind} modifier is experimental and not enabled`);
    } else return expression;
  }
}

function parseBrackets(tokens: TokenReader, operand: Expression): Expression {
  const bracket = tokens.take();
  if (!canStartDuration(tokens.ahead)) throw tokens.unexpected("subquery or range selector", DURATION_FORMS);
  const range = parseRange(tokens);
  if (tokens.accept(":") !== undefined) {
    const step = parseStep(tokens);
    tokens.expect("]", "subquery selector", '"]"');
    return { kind: "subquery", start: operand.start, operand, range, step, offset: undefined, at: undefined };
  }
  tokens.expect("]", "subquery or range", '":" or "]"');
  const reason = rangeProblem(operand);
  if (reason !== undefined) tokens.note(bracket.start, reason);
  return { kind: "matrix", start: operand.start, selector: operand as VectorSelector, range };
}

function parseStep(tokens: TokenReader): SubqueryExpression["step"] {
  if (tokens.is("]")) return undefined;
  if (!canStartDuration(tokens.ahead)) throw tokens.unexpected("subquery selector", 'number, duration, step(), range(), or "]"');
  return parseRange(tokens);
}

function rangeProblem(operand: Expression): string | undefined {
  if (operand.kind !== "selector") return "ranges only allowed for vector selectors";
  if (operand.offset !== undefined) return "no offset modifiers allowed before range";
  return operand.at === undefined ? undefined : "no @ modifiers allowed before range";
}

type Modified = VectorSelector | SubqueryExpression;

/** The node that a modifier of an expression belongs to. */
function modifiedNode(tokens: TokenReader, expression: Expression, modifier: string): Modified | undefined {
  const node = expression.kind === "matrix" ? (expression as MatrixSelector).selector : expression;
  if (node.kind === "selector" || node.kind === "subquery") return node;
  const reason =
    expression.kind === "matrix"
      ? "ranges only allowed for vector selectors"
      : `${modifier} modifier must be preceded by an instant vector selector or range vector selector or a subquery`;
  tokens.note(expression.start, reason);
  return undefined;
}

function parseOffsetModifier(tokens: TokenReader, expression: Expression): void {
  if (!canStartDuration(tokens.ahead)) throw tokens.unexpected("offset", DURATION_FORMS);
  const offset = parseOffset(tokens);
  const node = modifiedNode(tokens, expression, "offset");
  if (node === undefined) return;
  if (node.offset !== undefined) tokens.note(expression.start, "offset may not be set multiple times");
  // An offset of nothing counts as none, so that it may be followed by a range or another.
  node.offset = offset.kind === "number" && offset.value === 0 ? undefined : offset;
}

function parseAtModifier(tokens: TokenReader, expression: Expression): void {
  const moment = tokens.is("start") || tokens.is("end") ? parseQueryEnd(tokens) : parseMoment(tokens, expression);
  const node = modifiedNode(tokens, expression, "@");
  if (node === undefined) return;
  if (node.at !== undefined) tokens.note(expression.start, "@ <timestamp> may not be set multiple times");
  node.at = moment;
}

function parseQueryEnd(tokens: TokenReader): AtModifier {
  const { kind } = tokens.take();
  tokens.expect("(", "@", "timestamp");
  tokens.expect(")", "@", "timestamp");
  return kind as "start" | "end";
}

function parseMoment(tokens: TokenReader, expression: Expression): number {
  const sign = tokens.accept("-") ?? tokens.accept("+");
  if (!tokens.is("number") && !tokens.is("duration")) throw tokens.unexpected("@", "timestamp");
  const { value } = parseNumberLiteral(tokens);
  const seconds = sign?.kind === "-" ? -value : value;
  if (!(Math.abs(seconds) < TIME_MS_MAX)) {
    const text = Number.isFinite(seconds) ? seconds.toFixed(6) : Number.isNaN(seconds) ? "NaN" : seconds > 0 ? "+Inf" : "-Inf";
    tokens.note(expression.start, `timestamp out of bounds for @ modifier: ${text}`);
  }
  return Math.round(seconds * 1_000);
}
