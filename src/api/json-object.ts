// The JSON body of a request that the coordinator answers, before its schema.
import { JSON_DEPTH_MAX } from "../core/config/limits.ts";
import { decodeJson, holdsHalfCharacter } from "../domain/codec/json-body.ts";
import { done, type Outcome, refused } from "./refusal.ts";

/**
 * Reads a body that must be a JSON object of whole characters, nested no deeper than telemetry may be. An array alone stands for an object with `arrayMember`,
 * where that is given.
 */
export function readJsonObject(body: string | null, arrayMember?: string): Outcome<Readonly<Record<string, unknown>>> {
  if (body === null || body.trim() === "") return refused("invalid_json", "the body is empty; send a JSON object");
  const decoded = decodeJson(body);
  if (!decoded.ok) return refused("invalid_json", `the body is not JSON: ${decoded.message}`);
  const value = arrayMember !== undefined && Array.isArray(decoded.value) ? { [arrayMember]: decoded.value } : decoded.value;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return refused("invalid_json", "the body must be a JSON object");
  if (!isShallow(value, JSON_DEPTH_MAX)) return refused("invalid_json", `the body nests more than ${JSON_DEPTH_MAX} levels deep`);
  if (decoded.halves && holdsHalfCharacter(value))
    return refused("invalid_json", "the body holds half of a surrogate pair, which is no character");
  return done(value as Readonly<Record<string, unknown>>);
}

function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return levels > 0 && Object.values(value).every((member) => isShallow(member, levels - 1));
}
