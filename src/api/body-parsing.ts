// From the text of a body to the typed body of an endpoint.
import type { z } from "zod";
import { type BodyOf, type EndpointName, endpointNamed } from "./endpoints.ts";
import { readJsonObject } from "./json-object.ts";
import { done, type ErrorCode, type Outcome, refused, shown } from "./refusal.ts";

/** Parses a body by its endpoint's schema; the refusal names the first member at fault. An endpoint without a schema gets null. */
export function parseBody<N extends EndpointName>(name: N, text: string | null): Outcome<BodyOf<N>> {
  const { body: schema, bodyTypes } = endpointNamed(name);
  if (schema === undefined) return done(null as BodyOf<N>);
  const read = bodyTypes === undefined ? readJsonObject(text) : done(text);
  if (!read.ok) return read;
  const parsed = schema.safeParse(read.value);
  if (parsed.success) return done(parsed.data as BodyOf<N>);
  return refusedIssue(read.value, parsed.error.issues[0] as z.core.$ZodIssue);
}

function refusedIssue(body: unknown, issue: z.core.$ZodIssue) {
  const path = issue.path.map(String);
  if (issue.code === "unrecognized_keys") {
    const unknown = [...path, issue.keys[0] ?? ""].join(".");
    return refused("unknown_field", `${shown(unknown)} is no member of this body; leave it out`, unknown);
  }
  const field = path.join(".");
  if (field === "") return refused("bad_request", issue.message);
  if (isAbsent(body, path)) return refused("missing_field", `${field} is absent; the body needs it`, field);
  const code = issue.code === "custom" ? (issue.params?.code as ErrorCode | undefined) : undefined;
  return refused(code ?? "invalid_field", `${field}: ${issue.message}`, field);
}

function isAbsent(body: unknown, path: readonly string[]): boolean {
  let value = body;
  for (const name of path) {
    if (typeof value !== "object" || value === null) return false;
    if (!Object.hasOwn(value, name)) return true;
    value = (value as Record<string, unknown>)[name];
  }
  return false;
}
