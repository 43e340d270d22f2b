// Tokens of a query and how a message names them (promql/parser/lex.go of Prometheus). A token's kind is its own text where it has one.
import { quote } from "./quoted-text.ts";

export const AGGREGATORS = [
  "sum",
  "avg",
  "count",
  "min",
  "max",
  "group",
  "stddev",
  "stdvar",
  "topk",
  "bottomk",
  "count_values",
  "quantile",
  "limitk",
  "limit_ratio",
] as const;
/** An operator that makes one series of many. */
export type Aggregator = (typeof AGGREGATORS)[number];

const KEYWORDS = [
  "offset",
  "smoothed",
  "anchored",
  "by",
  "without",
  "on",
  "ignoring",
  "group_left",
  "group_right",
  "fill",
  "fill_left",
  "fill_right",
  "bool",
] as const;
const PREPROCESSORS = ["start", "end", "step", "range"] as const;

export const BINARY_OPERATORS = ["or", "and", "unless", "==", "!=", "<=", "<", ">=", ">", "+", "-", "*", "/", "%", "atan2", "^"] as const;
/** An operator between two expressions. */
export type BinaryOperator = (typeof BINARY_OPERATORS)[number];

type Punctuation = "(" | ")" | "{" | "}" | "[" | "]" | "," | "=" | ":";
type WordKind = Aggregator | (typeof KEYWORDS)[number] | (typeof PREPROCESSORS)[number];

/** What a token is. */
export type TokenKind =
  | "end of input"
  | "identifier"
  | "metric identifier"
  | "string"
  | "number"
  | "duration"
  | Punctuation
  | BinaryOperator
  | "=~"
  | "!~"
  | "@"
  | WordKind;

/** A token; `start` is its offset in UTF-16 units. */
export interface Token {
  readonly kind: TokenKind;
  readonly start: number;
  readonly text: string;
}

const OPERATOR_KINDS: ReadonlySet<string> = new Set([...BINARY_OPERATORS, "=~", "!~", "@"]);
const KEYWORD_KINDS: ReadonlySet<string> = new Set(KEYWORDS);
const AGGREGATOR_KINDS: ReadonlySet<string> = new Set(AGGREGATORS);

/** Words that are no identifiers, by their lower-case text. */
export const WORD_KINDS: ReadonlyMap<string, TokenKind> = new Map<string, TokenKind>([
  ...["and", "or", "unless", "atan2", ...AGGREGATORS, ...KEYWORDS, ...PREPROCESSORS].map((word) => [word, word as TokenKind] as const),
  ["inf", "number"],
  ["nan", "number"],
]);

/** Whether a kind is an aggregation operator. */
export function isAggregator(kind: TokenKind): kind is Aggregator {
  return AGGREGATOR_KINDS.has(kind);
}

/** Whether a kind may stand between two expressions. */
export function isBinaryOperator(kind: TokenKind): kind is BinaryOperator {
  return (BINARY_OPERATORS as readonly string[]).includes(kind);
}

/** Words that may also be the name of a metric. */
export function canNameMetric({ kind }: Token): boolean {
  if (kind === "identifier" || kind === "metric identifier" || isAggregator(kind)) return true;
  return NAMING_KEYWORDS.has(kind);
}

const NAMING_KEYWORDS: ReadonlySet<string> = new Set([
  ...PREPROCESSORS,
  "and",
  "or",
  "unless",
  "by",
  "offset",
  "without",
  "anchored",
  "smoothed",
  "fill",
  "fill_left",
  "fill_right",
]);

/** Whether a token may be a label's name among grouping labels. */
export function canNameLabel({ kind }: Token): boolean {
  return kind === "identifier" || kind === "metric identifier" || /^[a-z_0-9]+$/.test(kind);
}

/** How a message names a token. */
export function describeToken({ kind, text }: Token): string {
  if (kind === "end of input") return kind;
  if (kind === "identifier" || kind === "metric identifier") return `${kind} ${quote(text)}`;
  if (kind === "string" || kind === "number" || kind === "duration") return `${kind} ${shortened(text)}`;
  if (KEYWORD_KINDS.has(kind)) return `<${text}>`;
  if (OPERATOR_KINDS.has(kind)) return `<op:${text}>`;
  return AGGREGATOR_KINDS.has(kind) ? `<aggr:${text}>` : quote(text);
}

function shortened(text: string): string {
  return text.length > 10 ? `${quote([...text].slice(0, 10).join(""))}...` : quote(text);
}
