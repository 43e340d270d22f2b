// From the text of a body to the typed body of an endpoint.

import type { z } from "zod";
import { ownMember } from "../core/base/own-member.ts";
import { type BodyOf, type EndpointName, endpointNamed } from "./endpoints.ts";
import { issueText } from "./issue-text.ts";
import { readJsonObject } from "./json-object.ts";
import { firstIssue } from "./query-parsing.ts";
import { done, type ErrorCode, type Outcome, type Refusal, shown } from "./refusal.ts";

/** Parses a body by its endpoint's schema; the refusal names the first member at fault. An endpoint without a schema gets null. */
export function parseBody<N extends EndpointName>(name: N, text: string | null): Outcome<BodyOf<N>> {
  const { body: schema, bodyTypes, bodyArrayMember, bodyOptional } = endpointNamed(name);
  if (schema === undefined) return done(null as BodyOf<N>);
  if (bodyOptional === true && (text ?? "") === "") return parseValue(schema, {}) as Outcome<BodyOf<N>>;
  return (bodyTypes === undefined ? parseJson(schema, text, bodyArrayMember) : parseValue(schema, text)) as Outcome<BodyOf<N>>;
}

/** Parses a text that must be a JSON object of this schema. */
export function parseJson<S extends z.ZodType>(schema: S, text: string | null, arrayMember?: string): Outcome<z.output<S>> {
  const read = readJsonObject(text, arrayMember);
  return read.ok ? parseValue(schema, read.value) : read;
}

function parseValue<S extends z.ZodType>(schema: S, value: unknown): Outcome<z.output<S>> {
  const parsed = schema.safeParse(value, { error: issueText });
  return parsed.success ? done(parsed.data) : { ok: false, refusal: refusalOf(value, firstIssue(parsed.error)) };
}

function refusalOf(body: unknown, issue: z.core.$ZodIssue): Refusal {
  const index = issue.path.find((part): part is number => typeof part === "number");
  const place = index === undefined ? {} : { index };
  if (issue.code === "unrecognized_keys") {
    const field = [...issue.path, issue.keys[0] ?? ""].join(".");
    return { code: "unknown_field", message: `${shown(field)} is not a member of this body; leave it out`, field, ...place };
  }
  const field = issue.path.join(".");
  if (field === "") return { code: "bad_request", message: issue.message };
  if (isAbsent(body, issue.path)) return { code: "missing_field", message: `${field} is absent; the body needs it`, field, ...place };
  const code = issue.code === "custom" ? (issue.params?.code as ErrorCode | undefined) : undefined;
  return { code: code ?? "invalid_field", message: `${field}: ${issue.message}`, field, ...place };
}

function isAbsent(body: unknown, path: readonly PropertyKey[]): boolean {
  let value = body;
  for (const name of path) {
    if (typeof value !== "object" || value === null) return false;
    if (!Object.hasOwn(value, name)) return true;
    value = ownMember(value as Record<string, unknown>, name as string);
  }
  return false;
}
