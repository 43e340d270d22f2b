// From the text of a body to the typed body of an endpoint.
// How many entries and members the body of an endpoint may have anywhere, read off its schema once: what has more is refused before it is parsed.
// The JSON body of a request that the coordinator answers, before its schema.
import { z } from "zod";
import { ownMember } from "../core/collections/own-member.ts";
import { JSON_COUNTED_ANY, JSON_COUNTED_MIN, JSON_PARSED_BYTES_MAX } from "../core/config/body-limits.ts";
import { JSON_DEPTH_MAX } from "../core/config/limits.ts";
import { finished } from "../core/fairness/serial-work.ts";
import { decodePieces } from "../domain/codec/json-pieces.ts";
import { type JsonBounds, type JsonScan, scanJson } from "../domain/codec/json-scan.ts";
import { type BodyOf, type EndpointName, endpointNamed } from "./endpoints.ts";
import { done, type ErrorCode, type Outcome, type Refusal, refused, shown } from "./refusal.ts";
import { readSteps } from "./schema-steps.ts";

const KNOWN = new WeakMap<z.core.$ZodType, JsonBounds>();

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
export function* jsonSteps<S extends z.ZodType>(schema: S, text: string | null, form?: BodyForm): Generator<void, Outcome<z.output<S>>> {
  const object = yield* jsonObjectSteps(text, boundsOf(schema), form);
  return object.ok ? yield* valueSteps(schema, object.value) : object;
}

function* valueSteps<S extends z.ZodType>(schema: S, value: unknown): Generator<void, Outcome<z.output<S>>> {
  const read = yield* readSteps(schema, value);
  return read.ok ? done(read.value as z.output<S>) : { ok: false, refusal: refusalOf(value, read.issue) };
}

function refusalOf(body: unknown, issue: z.core.$ZodIssue): Refusal {
  const index = issue.path.find((part): part is number => typeof part === "number");
  const location = index === undefined ? {} : { index };
  if (issue.code === "unrecognized_keys") {
    const field = [...issue.path, issue.keys[0] ?? ""].join(".");
    return { code: "unknown_field", message: `${shown(field)} is not a member of this body; leave it out`, field, ...location };
  }
  const field = issue.path.join(".");
  if (field === "") return { code: "bad_request", message: issue.message };
  if (isAbsent(body, issue.path)) return { code: "missing_field", message: `${field} is absent; the body needs it`, field, ...location };
  const code = issue.code === "custom" ? (issue.params?.code as ErrorCode | undefined) : undefined;
  return { code: code ?? "invalid_field", message: named(field, issue.message), field, ...location };
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

/** The bounds of a schema: of its longest list and its largest object. */
export function boundsOf(schema: z.core.$ZodType): JsonBounds {
  const known = KNOWN.get(schema);
  if (known !== undefined) return known;
  const bounds = { entriesMax: JSON_COUNTED_MIN, membersMax: JSON_COUNTED_MIN, depthMax: JSON_DEPTH_MAX };
  for (const part of partsOf(schema)) {
    if (part instanceof z.ZodArray) bounds.entriesMax = Math.max(bounds.entriesMax, listMax(part));
    else if (part instanceof z.ZodRecord) bounds.membersMax = Math.max(bounds.membersMax, recordMax(part));
    else if (part instanceof z.ZodObject) bounds.membersMax = Math.max(bounds.membersMax, Object.keys(part.def.shape).length);
    else if (part instanceof z.ZodUnknown || part instanceof z.ZodAny) {
      bounds.entriesMax = Math.max(bounds.entriesMax, JSON_COUNTED_ANY);
      bounds.membersMax = Math.max(bounds.membersMax, JSON_COUNTED_ANY);
    }
  }
  KNOWN.set(schema, bounds);
  return bounds;
}

/** A schema and all schemas within it, those that others wrap too. */
export function* partsOf(schema: z.core.$ZodType): Generator<z.core.$ZodType> {
  yield schema;
  for (const child of childrenOf(schema)) yield* partsOf(child);
}

function childrenOf(schema: z.core.$ZodType): readonly z.core.$ZodType[] {
  if (schema instanceof z.ZodObject) return Object.values(schema.def.shape);
  if (schema instanceof z.ZodArray) return [schema.def.element];
  if (schema instanceof z.ZodRecord) return [schema.def.valueType];
  if (schema instanceof z.ZodUnion) return schema.def.options;
  if (schema instanceof z.ZodPipe) return [schema.def.in, schema.def.out];
  const { innerType } = schema._zod.def as { readonly innerType?: z.core.$ZodType };
  return innerType === undefined ? [] : [innerType];
}

/** Entries that a list may have by its schema. */
function listMax(list: z.ZodArray): number {
  const maxima = (list.def.checks ?? []).map(
    (check) => (check._zod.def as { readonly maximum?: number }).maximum ?? Number.POSITIVE_INFINITY,
  );
  const max = Math.min(...maxima);
  return Number.isFinite(max) ? max : JSON_COUNTED_ANY;
}

function recordMax(record: z.ZodRecord): number {
  const { maxProperties } = (record.meta() ?? {}) as { readonly maxProperties?: number };
  return maxProperties ?? JSON_COUNTED_ANY;
}

type JsonObject = Readonly<Record<string, unknown>>;

/** What else may come than an object of whole characters. */
interface BodyForm {
  /** An array alone stands for an object with this member. */
  readonly arrayMember?: string | undefined;
  /** Halves of surrogate pairs are let through. */
  readonly halves?: boolean;
}

/** Reads a body that must be a JSON object of whole characters within bounds; yields between pieces. */
function* jsonObjectSteps(
  body: string | null,
  bounds: JsonBounds,
  { arrayMember, halves = false }: BodyForm = {},
): Generator<void, Outcome<JsonObject>> {
  if (body === null || isBlank(body.slice(0, JSON_PARSED_BYTES_MAX)))
    return refused("invalid_json", "the body is empty; send a JSON object");
  if (isBlank(body.slice(-JSON_PARSED_BYTES_MAX))) return refused("invalid_json", "the body ends in a long space; leave it out");
  const isList = arrayMember !== undefined && body.trimStart().startsWith("[");
  const scan = yield* scanJson(body, isList ? { ...bounds, depthMax: bounds.depthMax - 1 } : bounds);
  if (!scan.ok) return { ok: false, refusal: textRefusal(scan, isList ? arrayMember : scan.member) };
  const decoded = yield* decodePieces(body, scan.cut);
  if (!decoded.ok) return refused("invalid_json", `the body is not JSON: ${decoded.message}`);
  if (decoded.halves && !halves) return refused("invalid_json", "the body holds half of a surrogate pair, which is no character");
  const value = isList ? { [arrayMember]: decoded.value } : decoded.value;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return refused("invalid_json", "the body must be a JSON object");
  return done(value as JsonObject);
}

/** Of a text up to a piece long: megabytes of space would take 20 ms. */
function isBlank(text: string): boolean {
  return text.trim() === "";
}

function textRefusal({ reason, message }: Extract<JsonScan, { ok: false }>, member: string | null): Refusal {
  if (reason === "too_deep") return { code: "invalid_json", message };
  if (reason === "not_json") return { code: "invalid_json", message: `the body is not JSON: ${message}` };
  if (member === null) return { code: "payload_too_large", message };
  return { code: "invalid_field", message: `${shown(member)}: ${message}`, field: member };
}
