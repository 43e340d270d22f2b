// Durations of ranges, steps and offsets: numbers of seconds, durations, and arithmetic of them (duration_expr of promql/parser/generated_parser.y).
import { parseDurationMs } from "./duration-text.ts";
import type { DurationExpression, DurationNode, NumberLiteral } from "./expression.ts";
import { parseNumber } from "./number-text.ts";
import { quote } from "./quoted-text.ts";
import type { Token, TokenKind } from "./token.ts";
import type { TokenReader } from "./token-reader.ts";

/** A signed 64 bit count of nanoseconds, in seconds. */
const SECONDS_MAX = 2 ** 63 / 1e9;
const PRECEDENCE: Partial<Record<TokenKind, number>> = { "+": 1, "-": 1, "*": 2, "/": 2, "%": 2, "^": 3 };
const SIGN_PRECEDENCE = 2;

/** A number or duration that stands alone. */
export function parseNumberLiteral(tokens: TokenReader): NumberLiteral {
  const { kind, start, text } = tokens.take();
  if (kind === "duration") {
    const ms = parseDurationMs(text);
    if (typeof ms === "string") tokens.note(start, ms);
    return { kind: "number", start, value: typeof ms === "string" ? 0 : ms / 1_000, isDuration: true };
  }
  const value = parseNumber(text);
  if (value === undefined) {
    const reason = /^[\d_.]+(?:e[+-]?\d+)?$/i.test(text) && !/[._]$|^_/.test(text) ? "value out of range" : "invalid syntax";
    tokens.note(start, `error parsing number: strconv.ParseFloat: parsing ${quote(text)}: ${reason}`);
  }
  return { kind: "number", start, value: value ?? 0, isDuration: false };
}

/** Whether a duration may begin with the next token. */
export function canStartDuration({ kind, text }: Token): boolean {
  if (["number", "duration", "step", "range", "(", "+", "-"].includes(kind)) return true;
  return kind === "identifier" && /^(?:min|max)_of$/i.test(text);
}

/** A duration between brackets, which must be more than nothing. */
export function parseRange(tokens: TokenReader): DurationNode {
  const duration = parseSum(tokens, 0);
  if (duration.kind === "number" && duration.value <= 0) tokens.note(duration.start, "duration must be greater than 0");
  return duration;
}

/** The duration of an offset: it ends with its first number, so that `x offset 5m * 2` is a product. */
export function parseOffset(tokens: TokenReader): DurationNode {
  return parseSigned(tokens, parseOperand);
}

function parseSum(tokens: TokenReader, least: number): DurationNode {
  let left = parseSigned(tokens, (reader) => parseSignedOperand(reader));
  for (;;) {
    const { kind, start } = tokens.ahead;
    const precedence = PRECEDENCE[kind] ?? -1;
    if (precedence <= least && !(kind === "^" && precedence === least)) return left;
    tokens.take();
    tokens.countOperator(start);
    const right = parseSum(tokens, kind === "^" ? precedence - 1 : precedence);
    left = { kind: "duration", start: left.start, operator: kind as DurationExpression["operator"], left, right, isWrapped: false };
  }
}

/** Behind a sign only a power binds more tightly. */
function parseSignedOperand(tokens: TokenReader): DurationNode {
  const operand = parseOperand(tokens);
  if (!tokens.is("^")) return operand;
  tokens.take();
  const right = parseSum(tokens, SIGN_PRECEDENCE);
  return { kind: "duration", start: operand.start, operator: "^", left: operand, right, isWrapped: false };
}

function parseSigned(tokens: TokenReader, parse: (tokens: TokenReader) => DurationNode): DurationNode {
  return tokens.nested(() => {
    const sign = tokens.accept("-") ?? tokens.accept("+");
    const operand = sign === undefined ? parse(tokens) : parseSigned(tokens, parse);
    if (sign === undefined) return operand;
    if (operand.kind === "number") {
      return { ...operand, start: sign.start, value: sign.kind === "-" ? -operand.value : operand.value };
    }
    if (sign.kind === "+") return operand;
    return { kind: "duration", start: sign.start, operator: "-", left: undefined, right: operand, isWrapped: false };
  });
}

function parseOperand(tokens: TokenReader): DurationNode {
  const { kind, start, text } = tokens.ahead;
  if (kind === "number" || kind === "duration") return inRange(tokens, parseNumberLiteral(tokens));
  if (kind === "(") return parseWrapped(tokens);
  if (kind === "step" || kind === "range") {
    tokens.take();
    tokens.expect("(");
    tokens.expect(")");
    return { kind: "duration", start, operator: kind, left: undefined, right: undefined, isWrapped: false };
  }
  if (kind !== "identifier" || !canStartDuration(tokens.ahead)) throw tokens.unexpected();
  tokens.take();
  tokens.expect("(");
  const left = parseSum(tokens, 0);
  tokens.expect(",");
  const right = parseSum(tokens, 0);
  tokens.expect(")");
  return { kind: "duration", start, operator: text.toLowerCase() as "min_of" | "max_of", left, right, isWrapped: false };
}

function parseWrapped(tokens: TokenReader): DurationNode {
  const { start } = tokens.expect("(");
  const inner = tokens.nested(() => parseSum(tokens, 0));
  tokens.expect(")");
  if (inner.kind === "duration") return { ...inner, start, isWrapped: true };
  return { kind: "duration", start, operator: "+", left: undefined, right: inner, isWrapped: true };
}

function inRange(tokens: TokenReader, literal: NumberLiteral): NumberLiteral {
  if (Math.abs(literal.value) <= SECONDS_MAX) return literal;
  tokens.note(literal.start, "duration out of range");
  return { ...literal, value: 0 };
}
