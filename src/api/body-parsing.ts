// From the text of a body to the typed body of an endpoint.

import type { z } from "zod";
import { ownMember } from "../core/collections/own-member.ts";
import { finished } from "../core/fairness/steps.ts";
import { boundsOf } from "./body-bounds.ts";
import { type BodyOf, type EndpointName, endpointNamed } from "./endpoints.ts";
import { type BodyForm, jsonObjectSteps } from "./json-object.ts";
import { done, type ErrorCode, type Outcome, type Refusal, shown } from "./refusal.ts";
import { readSteps } from "./schema-steps.ts";

/**
 * Reads a body by its endpoint's schema; the refusal names the first member at fault. An endpoint without a schema gets null. Yields every few ms at most, so that
 * others may have their turn: however long a body is, it is scanned, parsed and looked at in parts.
 */
export function* bodySteps<N extends EndpointName>(name: N, text: string | null): Generator<void, Outcome<BodyOf<N>>> {
  const { body: schema, bodyTypes, bodyArrayMember: arrayMember, bodyHalves: halves, bodyOptional } = endpointNamed(name);
  if (schema === undefined) return done(null as BodyOf<N>);
  if (bodyOptional === true && (text ?? "") === "") return (yield* valueSteps(schema, {})) as Outcome<BodyOf<N>>;
  const steps = bodyTypes === undefined ? jsonSteps(schema, text, { arrayMember, halves: halves === true }) : valueSteps(schema, text);
  return (yield* steps) as Outcome<BodyOf<N>>;
}

/** The same in one go, for what is short. */
export function parseBody<N extends EndpointName>(name: N, text: string | null): Outcome<BodyOf<N>> {
  return finished(bodySteps(name, text));
}

/** Parses a text that must be a JSON object of this schema. */
export function parseJson<S extends z.ZodType>(schema: S, text: string | null): Outcome<z.output<S>> {
  return finished(jsonSteps(schema, text));
}

function* jsonSteps<S extends z.ZodType>(schema: S, text: string | null, form?: BodyForm): Generator<void, Outcome<z.output<S>>> {
  const object = yield* jsonObjectSteps(text, boundsOf(schema), form);
  return object.ok ? yield* valueSteps(schema, object.value) : object;
}

function* valueSteps<S extends z.ZodType>(schema: S, value: unknown): Generator<void, Outcome<z.output<S>>> {
  const read = yield* readSteps(schema, value);
  return read.ok ? done(read.value as z.output<S>) : { ok: false, refusal: refusalOf(value, read.issue) };
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
  return { code: code ?? "invalid_field", message: named(field, issue.message), field, ...place };
}

/** The message with the field's name, once: some begin with it. */
function named(field: string, message: string): string {
  const last = field.slice(field.lastIndexOf(".") + 1);
  return message.startsWith(`${last} `) || message.startsWith(`${field}:`) ? message : `${field}: ${message}`;
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
