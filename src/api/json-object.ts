// The JSON body of a request that the coordinator answers, before its schema.
import { JSON_PARSED_BYTES_MAX } from "../core/config/body-limits.ts";
import { decodePieces } from "../domain/codec/json-pieces.ts";
import { type JsonBounds, type JsonScan, scanJson } from "../domain/codec/json-scan.ts";
import { done, type Outcome, type Refusal, refused, shown } from "./refusal.ts";

type JsonObject = Readonly<Record<string, unknown>>;

/** What else may come than an object of whole characters. */
export interface BodyForm {
  /** An array alone stands for an object with this member. */
  readonly arrayMember?: string | undefined;
  /** Halves of surrogate pairs are let through. */
  readonly halves?: boolean;
}

/** Reads a body that must be a JSON object of whole characters within bounds; yields between pieces. */
export function* jsonObjectSteps(
  body: string | null,
  bounds: JsonBounds,
  { arrayMember, halves = false }: BodyForm = {},
): Generator<void, Outcome<JsonObject>> {
  if (body === null || isBlank(body.slice(0, JSON_PARSED_BYTES_MAX)))
    return refused("invalid_json", "the body is empty; send a JSON object");
  if (isBlank(body.slice(-JSON_PARSED_BYTES_MAX))) return refused("invalid_json", "the body ends in a long space; leave it out");
  const isList = arrayMember !== undefined && body.trimStart().startsWith("[");
  const scan = yield* scanJson(body, isList ? { ...bounds, depthMax: bounds.depthMax - 1 } : bounds);
  if (!scan.ok) return { ok: false, refusal: refusalOf(scan, isList ? arrayMember : scan.member) };
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

function refusalOf({ reason, message }: Extract<JsonScan, { ok: false }>, member: string | null): Refusal {
  if (reason === "too_deep") return { code: "invalid_json", message };
  if (reason === "not_json") return { code: "invalid_json", message: `the body is not JSON: ${message}` };
  if (member === null) return { code: "payload_too_large", message };
  return { code: "invalid_field", message: `${shown(member)}: ${message}`, field: member };
}
