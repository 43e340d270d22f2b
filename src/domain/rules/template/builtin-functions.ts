// Functions that every template of Go has (text/template/funcs.go); `and` and `or` are of the expansion, as they leave out what they need not.
import { ownMember } from "../../../core/collections/own-member.ts";
import { equalsAny, FunctionError, isLess } from "./go-comparison.ts";
import { sprint, sprintf } from "./go-printf.ts";
import { type GoValue, goText, goType, isGoList, isGoMap, isTrue } from "./go-value.ts";
import { queryEscape } from "./host-text.ts";
import type { TemplateFunction } from "./template-function.ts";

const HTML: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&#34;", "'": "&#39;", "\0": "\ufffd" };
const SCRIPT: Readonly<Record<string, string>> = {
  "\\": "\\\\",
  "'": "\\'",
  '"': '\\"',
  "<": "\\u003C",
  ">": "\\u003E",
  "&": "\\u0026",
  "=": "\\u003D",
};

function escaped(values: readonly GoValue[], pattern: RegExp, signs: Readonly<Record<string, string>>): string {
  return sprint(values).replace(pattern, (sign) => ownMember(signs, sign) ?? controlText(sign));
}

function controlText(sign: string): string {
  return `\\u${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
}

function lengthOf(value: GoValue): bigint {
  if (typeof value === "string") return BigInt(new TextEncoder().encode(value).length);
  if (isGoList(value)) return BigInt(value.length);
  if (isGoMap(value)) return BigInt(value.size);
  throw new FunctionError(value === null ? "len of nil pointer" : `len of type ${goType(value)}`);
}

function position(value: GoValue, most: number): number {
  if (value === null || value === undefined) throw new FunctionError("cannot index slice/array with nil");
  if (typeof value !== "bigint") throw new FunctionError(`cannot index slice/array with type ${goType(value)}`);
  if (value < 0n || value > BigInt(most)) throw new FunctionError(`index out of range: ${value}`);
  return Number(value);
}

function member(value: GoValue, index: GoValue): GoValue {
  if (isGoMap(value)) {
    if (typeof index !== "string") throw new FunctionError(`value has type ${goType(index)}; should be string`);
    return value.get(index) ?? "";
  }
  if (isGoList(value)) return value[position(index, value.length - 1)];
  if (typeof value === "string") return BigInt(new TextEncoder().encode(value)[position(index, value.length - 1)] ?? 0);
  throw new FunctionError(value === null ? "index of nil pointer" : `can't index item of type ${goType(value)}`);
}

function slice(value: GoValue, from: GoValue, to: GoValue): GoValue {
  if (typeof value !== "string" && !isGoList(value)) throw new FunctionError(`can't slice item of type ${goType(value)}`);
  const start = from === undefined ? 0 : position(from, value.length);
  const end = to === undefined ? value.length : position(to, value.length);
  if (start > end) throw new FunctionError(`invalid slice index: ${start} > ${end}`);
  return value.slice(start, end);
}

/** Functions of every template by their names. */
export const BUILTIN_FUNCTIONS: Readonly<Record<string, TemplateFunction>> = {
  not: { least: 1, most: 1, call: ([value]) => !isTrue(value) },
  len: { least: 1, most: 1, call: ([value]) => lengthOf(value) },
  index: { least: 1, most: Number.POSITIVE_INFINITY, call: ([value, ...indices]) => indices.reduce(member, value) },
  slice: { least: 1, most: 3, call: ([value, from, to]) => slice(value, from, to) },
  print: { least: 0, most: Number.POSITIVE_INFINITY, call: sprint },
  println: { least: 0, most: Number.POSITIVE_INFINITY, call: (values) => `${values.map(goText).join(" ")}\n` },
  printf: {
    least: 1,
    most: Number.POSITIVE_INFINITY,
    texts: 1,
    call: ([format, ...values]) => sprintf(format as string, values),
  },
  html: { least: 0, most: Number.POSITIVE_INFINITY, call: (values) => escaped(values, /[&<>"'\0]/g, HTML) },
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is escaped
  js: { least: 0, most: Number.POSITIVE_INFINITY, call: (values) => escaped(values, /[\\'"<>&=\u0000-\u001f]/g, SCRIPT) },
  urlquery: { least: 0, most: Number.POSITIVE_INFINITY, call: (values) => queryEscape(sprint(values)) },
  eq: { least: 1, most: Number.POSITIVE_INFINITY, call: ([first, ...others]) => equalsAny(first, others) },
  ne: { least: 2, most: 2, call: ([a, b]) => !equalsAny(a, [b]) },
  lt: { least: 2, most: 2, call: ([a, b]) => isLess(a, b) },
  le: { least: 2, most: 2, call: ([a, b]) => isLess(a, b) || equalsAny(a, [b]) },
  gt: { least: 2, most: 2, call: ([a, b]) => !isLess(a, b) && !equalsAny(a, [b]) },
  ge: { least: 2, most: 2, call: ([a, b]) => !isLess(a, b) },
};
