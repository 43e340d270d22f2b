// The JSON encoding of OTLP: lowerCamelCase names, int64 as string or number, hex ids, enums as integers (names are read too), unknown fields ignored.
// https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
import { isObject, ownMember, setMember } from "../../core/collections/own-member.ts";
import type { Attributes, AttributeValue } from "../../core/protocol/coordinator-frame.ts";
import { type AttributeLoss, addLoss, retainedAttributes } from "../series/retained-attributes.ts";
import { NAMING_ATTRIBUTES } from "../series/stream-identity.ts";
import type { OtlpSource } from "./otlp-items.ts";
import { ANY_VALUE_DEPTH_MAX } from "./otlp-limits.ts";
import { sourceOf } from "./otlp-source.ts";
import { type AttributeMap, doubleAttribute } from "./protobuf-attributes.ts";

/** An object of decoded JSON. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** A field has a value that its type does not have; the item it belongs to is refused. */
export class JsonItemError extends Error {}

/** An array, empty where absent; throws JsonItemError for anything else. */
export function listOf(value: unknown, field: string): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new JsonItemError(`${field} must be an array`);
  return value;
}

export function objectOf(value: unknown, field: string): JsonObject {
  if (!isObject(value)) throw new JsonItemError(`${field} must be an object`);
  return value;
}

export function textOf(value: unknown, field: string): string {
  if (value === undefined || value === null) return "";
  if (typeof value !== "string") throw new JsonItemError(`${field} must be a string`);
  return value;
}

const NUMBER = /^-?(?:\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|Infinity)$/;

/** A number, or its text; NaN for "NaN". Throws JsonItemError for anything else. */
export function numberOf(value: unknown, field: string): number {
  if (typeof value === "number") return value;
  if (typeof value === "string" && (value === "NaN" || NUMBER.test(value))) return Number(value);
  throw new JsonItemError(`${field} must be a number, or a string of one`);
}

/** The same, 0 where absent. */
export function countOf(value: unknown, field: string): number {
  return value === undefined || value === null ? 0 : numberOf(value, field);
}

/** An enum's number; `names` are those of the protobuf without their common beginning, by number. */
export function enumOf(value: unknown, field: string, prefix: string, names: readonly string[]): number {
  if (typeof value === "string" && value.startsWith(prefix)) return Math.max(0, names.indexOf(value.slice(prefix.length)));
  return countOf(value, field);
}

/** Nanoseconds since 1970 as whole milliseconds, exactly where they are given as digits; 0 where absent. */
export function millisecondsOf(value: unknown, field: string): number {
  return Math.floor(isDigits(value) ? Number(value.slice(0, -6)) : nanosecondsOf(value, field) / 1e6);
}

/** The same with their fraction, as near as a double is: 0.25 us. */
export function fractionalMillisecondsOf(value: unknown, field: string): number {
  return isDigits(value) ? Number(value.slice(0, -6)) + Number(value.slice(-6)) / 1e6 : nanosecondsOf(value, field) / 1e6;
}

/** Nanoseconds of a time that millisecondsOf() reads behind its millisecond. */
export function nanosecondsBehind(value: unknown): number {
  return isDigits(value) ? Number(value.slice(-6)) : Number(value ?? 0) % 1e6;
}

function isDigits(value: unknown): value is string {
  return typeof value === "string" && /^\d{7,20}$/.test(value);
}

function nanosecondsOf(value: unknown, field: string): number {
  const nanoseconds = countOf(value, field);
  if (nanoseconds >= 0 && nanoseconds < 2 ** 64) return nanoseconds;
  throw new JsonItemError(`${field} must be nanoseconds since 1970 as a string of digits`);
}

/** An id in hex of any case, as lower case, or what stands in its place. */
export function idOf(value: unknown, field: string): string {
  return textOf(value, field).toLowerCase();
}

/** Adds attributes [{key, value: AnyValue}]. */
export function addAttributes(value: unknown, into: AttributeMap, depth = 0): void {
  for (const attribute of listOf(value, "attributes")) {
    const { key, value: input } = objectOf(attribute, "an attribute");
    const name = textOf(key, "the key of an attribute");
    const value = anyValueOf(input, depth);
    const isName = typeof value === "string" && NAMING_ATTRIBUTES.has(name);
    setMember(into, name, isName ? (((input as JsonObject).stringValue as string) ?? value) : value);
  }
}

/** The value of an AnyValue; null for an empty one. */
export function anyValueOf(value: unknown, depth = 0): AttributeValue {
  if (value === undefined || value === null) return null;
  if (depth >= ANY_VALUE_DEPTH_MAX) throw new JsonItemError(`an attribute's value nests more than ${ANY_VALUE_DEPTH_MAX} levels`);
  const input = objectOf(value, "the value of an attribute");
  if (isPresent(input.stringValue)) return textOf(input.stringValue, "stringValue").toWellFormed();
  if (isPresent(input.intValue)) return integerOf(input.intValue);
  if (isPresent(input.doubleValue)) return doubleAttribute(numberOf(input.doubleValue, "doubleValue"));
  if (isPresent(input.boolValue)) return input.boolValue === true || input.boolValue === "true";
  if (isPresent(input.arrayValue)) return arrayOf(input.arrayValue, depth + 1);
  if (isPresent(input.kvlistValue)) {
    const list: AttributeMap = {};
    addAttributes(objectOf(input.kvlistValue, "kvlistValue").values, list, depth + 1);
    return list;
  }
  return isPresent(input.bytesValue) ? textOf(input.bytesValue, "bytesValue").toWellFormed() : null;
}

/** Whether a member is there: null is as good as absent (https://protobuf.dev/programming-guides/json/). */
function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function arrayOf(value: unknown, depth: number): AttributeValue {
  return listOf(objectOf(value, "arrayValue").values, "arrayValue.values").map((each) => anyValueOf(each, depth));
}

function integerOf(value: unknown): AttributeValue {
  const number = numberOf(value, "intValue");
  return Number.isSafeInteger(number) || typeof value === "number" ? number : String(value);
}

/** An item with what it came from; `source` is the message when the resource cannot be read. */
export interface JsonPlacedItem {
  readonly source: OtlpSource | string;
  /** Its scope as it was sent. */
  readonly scope: unknown;
  readonly item: unknown;
}

/** Names of the three levels of a request. */
export interface RequestNames {
  readonly resources: string;
  readonly scopes: string;
  readonly items: string;
}

/** Error of a decoded body as a request, or undefined. */
export function requestProblem(body: unknown, names: RequestNames): string | undefined {
  if (!isObject(body)) return "the body must be a JSON object";
  const wrong = (what: string) => `${what} must be an array of objects`;
  const resources = ownMember(body, names.resources) ?? [];
  if (!isListOfObjects(resources)) return wrong(names.resources);
  for (const resource of resources) {
    const scopes = ownMember(resource, names.scopes) ?? [];
    if (!isListOfObjects(scopes)) return wrong(names.scopes);
    for (const scope of scopes) if (!Array.isArray(ownMember(scope, names.items) ?? [])) return `${names.items} must be an array`;
  }
  return undefined;
}

function isListOfObjects(value: unknown): value is readonly JsonObject[] {
  return Array.isArray(value) && value.every(isObject);
}

/** Walks the items of a body that requestProblem() found nothing wrong with; `prefixes` as sourceOf() has it. */
export function* itemsOfJson(body: unknown, names: RequestNames, prefixes: boolean): Generator<JsonPlacedItem> {
  for (const resource of (ownMember(body as JsonObject, names.resources) ?? []) as readonly JsonObject[]) {
    const source = sourceOfJson(resource.resource, prefixes);
    for (const scope of (ownMember(resource, names.scopes) ?? []) as readonly JsonObject[]) {
      for (const item of (ownMember(scope, names.items) ?? []) as readonly unknown[]) yield { source, scope: scope.scope, item };
    }
  }
}

/** An item that has attributes, with what is read of it already: its attributes as they are kept, and what was lost of them and of those of its resource. */
export interface AttributedItem {
  readonly item: JsonObject;
  readonly attributes: Attributes;
  readonly loss: AttributeLoss;
  readonly source: OtlpSource;
}

/** Reads each item of a body, named `what` in messages: what `read` makes of it, or the message that says what is wrong with it. */
export function* readItems<T extends object>(
  body: unknown,
  names: RequestNames,
  what: string,
  read: (item: AttributedItem) => T,
  prefixes: boolean,
): Generator<T | string> {
  for (const { source, item } of itemsOfJson(body, names, prefixes)) {
    yield typeof source === "string" ? source : attempt(() => read(attributedItem(item, what, source)));
  }
}

function attributedItem(item: unknown, what: string, source: OtlpSource): AttributedItem {
  const input = objectOf(item, what);
  const own: AttributeMap = {};
  addAttributes(input.attributes, own);
  const { attributes, loss } = retainedAttributes(own, countOf(input.droppedAttributesCount, "droppedAttributesCount"));
  return { item: input, attributes, loss: addLoss(source.loss, loss), source };
}

/** The source that a decoded Resource describes, without the attributes that cannot be read: they are no fault of its items; what is wrong with it when it is none. */
export function sourceOfJson(resource: unknown, prefixes: boolean): OtlpSource | string {
  return attempt(() => {
    if (!isPresent(resource)) return sourceOf({}, 0, prefixes);
    const input = objectOf(resource, "resource");
    const attributes: AttributeMap = {};
    let dropped = countOf(input.droppedAttributesCount, "droppedAttributesCount");
    for (const attribute of listOf(input.attributes, "attributes")) {
      if (attempt(() => addAttributes([attribute], attributes)) !== undefined) dropped++;
    }
    return sourceOf(attributes, dropped, prefixes);
  });
}

/** Name of a scope as it was sent; "" where it has none. */
export function scopeNameOfJson(scope: unknown): string {
  const name = isObject(scope) ? scope.name : undefined;
  return typeof name === "string" ? name.toWellFormed() : "";
}

/** Result of `read`, or the message of the JsonItemError that it throws. */
export function attempt<T>(read: () => T): T | string {
  try {
    return read();
  } catch (error) {
    if (error instanceof JsonItemError) return error.message;
    throw error;
  }
}
