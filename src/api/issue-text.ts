// What is wrong with a member of a body, said kindly: what it must be, and what was got. For schemas that bring no words of their own.

import type { z } from "zod";
import { ownMember } from "../core/collections/own-member.ts";
import { shown } from "./refusal.ts";

const TYPES: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  object: "an object",
  record: "an object",
  array: "a list",
  null: "null",
};
const UNITS: Readonly<Record<string, readonly [one: string, many: string]>> = {
  string: ["character", "characters"],
  array: ["entry", "entries"],
  object: ["member", "members"],
  record: ["member", "members"],
  map: ["member", "members"],
};

/** The words for an issue; undefined leaves them to zod. */
export function issueText(issue: z.core.$ZodRawIssue): string | undefined {
  const { input } = issue;
  switch (issue.code) {
    case "invalid_type":
      return `must be ${TYPES[issue.expected] ?? issue.expected}, got ${gotText(input)}`;
    case "too_small":
      return boundText(issue.origin, issue.inclusive === false ? "more than" : "at least", issue.minimum, input);
    case "too_big":
      return boundText(issue.origin, issue.inclusive === false ? "less than" : "at most", issue.maximum, input);
    case "invalid_value":
      return `must be ${choices(issue.values)}, got ${gotText(input)}`;
    case "invalid_format":
      return formatText(issue.format, issue.pattern, input);
    case "invalid_union":
      return `has none of the forms that are taken here, got ${gotText(input)}`;
    case "invalid_key":
      return `has a name that is not taken: ${issue.issues[0]?.message ?? "see the documentation"}`;
    case "not_multiple_of":
      return `must be a multiple of ${issue.divisor}, got ${gotText(input)}`;
    default:
      return undefined;
  }
}

function choices(values: readonly unknown[]): string {
  return values.length === 1 ? JSON.stringify(values[0]) : `one of ${values.join(", ")}`;
}

function formatText(format: string, pattern: string | undefined, input: unknown): string {
  const forms: Readonly<Record<string, string>> = {
    email: "an e-mail address",
    url: "a URL",
    datetime: "RFC 3339 such as 2026-01-31T12:00:00Z",
  };
  const wanted = ownMember(forms, format) ?? (pattern === undefined ? `a ${format}` : `text that matches ${pattern}`);
  return `must be ${wanted}, got ${gotText(input)}`;
}

/** Numbers are compared themselves; of others their characters, entries or members are counted. */
function boundText(origin: string, relation: string, bound: number | bigint, input: unknown): string {
  const units = ownMember(UNITS, origin);
  if (units === undefined) return `must be ${relation} ${bound}, got ${gotText(input)}`;
  return `must have ${relation} ${bound} ${units[Number(bound) === 1 ? 0 : 1]}, got ${sizeOf(input)}`;
}

function sizeOf(input: unknown): number {
  if (typeof input === "string" || Array.isArray(input)) return input.length;
  return Object.keys(input as object).length;
}

/** A value in few characters. */
function gotText(value: unknown): string {
  if (value === undefined) return "nothing";
  if (typeof value === "string") return shown(value);
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" && value !== null ? "an object" : String(value);
}
