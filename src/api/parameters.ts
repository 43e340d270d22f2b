// The query parameters that endpoints share, as schemas from text to value. An issue carries the error code in `params.code`.
import { z } from "zod";
import { isObject, ownMember } from "../core/collections/own-member.ts";
import { COUNT_BUCKETS_MAX } from "../core/config/interface-limits.ts";
import { IDENTITY_BYTES_MAX, JSON_DEPTH_MAX, NAME_BYTES_MAX, PAGE_ROWS_DEFAULT, PAGE_ROWS_MAX } from "../core/config/limits.ts";
import type { Attributes } from "../core/protocol/coordinator-frame.ts";
import { isLongerThan } from "../core/text/utf8.ts";
import { parseRfc3339 } from "../core/time/rfc3339.ts";
import { parseMonth } from "../domain/access/billing-month.ts";
import { decodeJson } from "../domain/codec/json-body.ts";
import { isName, nameFlaw } from "../domain/series/name-rule.ts";
import { canonicalAttributes } from "../domain/series/stream-identity.ts";
import { type ErrorCode, shown } from "./refusal.ts";

const DECIMAL = /^-?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?$/;
const WHOLE = /^\d{1,9}$/;
const RANGE_ENDS: Readonly<Record<string, string>> = { since: "inclusive", until: "exclusive" };

/** Makes a schema of a reader that gives the value, or undefined when the text is not one. */
function textTo<T>(read: (text: string) => T | undefined, code: ErrorCode, message: (text: string) => string) {
  return z.string().transform((text, context): T => {
    const value = read(text);
    if (value !== undefined) return value;
    context.issues.push({ code: "custom", input: text, message: message(text), params: { code } });
    return z.NEVER;
  });
}

/** A name or an opaque text: not empty, at most as long as a name may be. */
export function textParameter(name: string, bytesMax: number = NAME_BYTES_MAX) {
  const read = (text: string) => (isName(text, bytesMax) ? text : undefined);
  return textTo(
    read,
    "invalid_parameter",
    (text) => `${name} must have 1 to ${bytesMax} bytes and no control characters, got ${shown(text)}; leave it out to select all`,
  ).meta({ minLength: 1, maxLength: bytesMax });
}

/** A part of a name, whatever its case. */
export function partParameter() {
  return textParameter("q").meta({
    minLength: 1,
    maxLength: NAME_BYTES_MAX,
    description: "a part of the name of service or metric, in any case",
  });
}

/** Bars of a count over time. */
export function bucketsParameter() {
  return wholeParameter("buckets", 1, COUNT_BUCKETS_MAX, "equal parts of the range that severities are counted in; needs since");
}

/** A whole number of [least, most]. */
export function wholeParameter(name: string, least: number, most: number, description: string) {
  const read = (text: string) => (WHOLE.test(text) && Number(text) >= least && Number(text) <= most ? Number(text) : undefined);
  return textTo(read, "invalid_parameter", (text) => `${name} must be a whole number from ${least} to ${most}, got ${shown(text)}`).meta({
    type: "integer",
    minimum: least,
    maximum: most,
    description,
  });
}

/** An environment; empty selects what names none. */
export function environmentParameter() {
  const read = (text: string) => (nameFlaw(text) === undefined ? text : undefined);
  const message = (text: string) => `environment may have ${NAME_BYTES_MAX} bytes and no control characters, got ${shown(text)}`;
  return textTo(read, "invalid_parameter", message).meta({
    maxLength: NAME_BYTES_MAX,
    description: "empty selects what names none",
  });
}

/** A moment. A plus sign that was not escaped in the query has become a space, which RFC 3339 readers would take as a separator. */
export function timeParameter(name: string) {
  return textTo(parseRfc3339, "invalid_timestamp", (text) => {
    const advice = text.includes(" ") ? "; a + in a query must be written as %2B" : "";
    return `${name} must be RFC 3339 such as 2026-01-31T12:00:00Z, got ${shown(text)}${advice}`;
  }).meta({ format: "date-time", ...(Object.hasOwn(RANGE_ENDS, name) && { description: ownMember(RANGE_ENDS, name) }) });
}

/** A moment in a body. */
export function timeField() {
  return textTo(parseRfc3339, "invalid_timestamp", (text) => `must be RFC 3339 such as 2026-01-31T12:00:00Z, got ${shown(text)}`).meta({
    format: "date-time",
  });
}

/** A moment in a body that stays the text that it came as; an empty one is none, as in Alertmanager's older forms. */
export function timeText() {
  const read = (text: string) => (text === "" || parseRfc3339(text) !== undefined ? text : undefined);
  return textTo(read, "invalid_timestamp", (text) => `must be RFC 3339 such as 2026-01-31T12:00:00Z, got ${shown(text)}`).meta({
    format: "date-time",
  });
}

/** A number of [least, most]. */
export function numberParameter(name: string, least: number, most: number) {
  const read = (text: string) => {
    const value = DECIMAL.test(text) ? Number(text) : Number.NaN;
    return value >= least && value <= most ? value : undefined;
  };
  return textTo(read, "invalid_parameter", (text) => `${name} must be a number from ${least} to ${most}, got ${shown(text)}`).meta({
    type: "number",
    minimum: least,
    maximum: most,
  });
}

/** Number of rows of a page: a number above the maximum is refused, not cut, so that nobody takes a cut page for the whole. */
export function limitParameter(initial: number = PAGE_ROWS_DEFAULT, most: number = PAGE_ROWS_MAX) {
  const read = (text: string) => {
    const value = WHOLE.test(text) ? Number(text) : 0;
    return value >= 1 && value <= most ? value : undefined;
  };
  return textTo(
    read,
    "invalid_limit",
    (text) => `limit must be a whole number from 1 to ${most}, got ${shown(text)}; read further pages with page_token`,
  )
    .meta({ type: "integer", minimum: 1, maximum: most, "x-default": initial, description: "rows of a page" })
    .optional()
    .transform((value) => value ?? initial);
}

/** A calendar month as its number (domain/access/billing-month.ts). */
export function monthParameter(name: string) {
  return textTo(parseMonth, "invalid_parameter", (text) => `${name} must be a month such as 2026-01, got ${shown(text)}`).meta({
    pattern: "^(?:19[7-9][0-9]|[2-4][0-9]{3})-(?:0[1-9]|1[0-2])$",
  });
}

/** One of a few words. */
export function choiceParameter<const T extends string>(name: string, choices: readonly T[], code: ErrorCode = "invalid_parameter") {
  const read = (text: string) => choices.find((choice) => choice === text);
  return textTo(read, code, (text) => `${name} must be one of ${choices.join(", ")}, got ${shown(text)}`).meta({ enum: [...choices] });
}

/** Some of the choices, with commas between. */
export function choicesParameter<const T extends string>(name: string, choices: readonly T[]) {
  const read = (text: string) => {
    const named = text.split(",", choices.length + 1);
    return named.every((one): one is T => choices.some((choice) => choice === one)) ? named : undefined;
  };
  const pattern = `^(${choices.join("|")})(,(${choices.join("|")})){0,${choices.length - 1}}$`;
  return textTo(read, "invalid_parameter", (text) => `${name} must be some of ${choices.join(", ")} with commas, got ${shown(text)}`).meta({
    pattern,
    description: `some of ${choices.join(", ")}, with commas between`,
  });
}

/** Names as a JSON array, `most` at most: ["a","b"]. */
export function namesParameter(name: string, most: number, description: string) {
  const read = (text: string) => {
    const decoded = isLongerThan(text, most * (NAME_BYTES_MAX + 3) + 2) ? undefined : decodeJson(text);
    const value = decoded?.ok === true ? decoded.value : undefined;
    if (!Array.isArray(value) || value.length > most) return undefined;
    return value.every((one): one is string => typeof one === "string" && isName(one)) ? value : undefined;
  };
  return textTo(
    read,
    "invalid_parameter",
    (text) => `${name} must be a JSON array of at most ${most} names such as ["a","b"], got ${shown(text)}`,
  ).meta({
    contentMediaType: "application/json",
    contentSchema: { type: "array", maxItems: most, items: { type: "string", minLength: 1, maxLength: NAME_BYTES_MAX } },
    description: `${description}: ["a","b"]`,
  });
}

/** Attributes as a JSON object, made canonical: {"zone":"a"}. */
export function attributesParameter() {
  return textTo(
    readAttributes,
    "invalid_attributes",
    (text) => `attributes must be a JSON object such as {"zone":"a"}, got ${shown(text)}`,
  ).meta({ contentMediaType: "application/json", contentSchema: { type: "object" }, description: 'the identity attributes: {"zone":"a"}' });
}

function readAttributes(text: string): string | undefined {
  if (isLongerThan(text, IDENTITY_BYTES_MAX)) return undefined;
  const decoded = decodeJson(text);
  const value = decoded.ok ? decoded.value : null;
  return isObject(value) && isShallow(value, JSON_DEPTH_MAX) ? canonicalAttributes(value as Attributes) : undefined;
}

/** Whether brackets nest at most `levels` deep; canonical JSON is made by recursion. */
function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return levels > 0 && Object.values(value).every((member) => isShallow(member, levels - 1));
}

/** The token of the page before; empty is the same as none, because that is what the last page says. */
export function pageTokenParameter() {
  return z
    .string()
    .meta({ description: "page_token of the page before; empty or absent for the first" })
    .optional()
    .transform((token) => token ?? "");
}
