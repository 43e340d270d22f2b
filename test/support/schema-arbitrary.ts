// Values that fit a JSON Schema, and values that do not: what the OpenAPI document says, as an input of what validates.
import fc from "fast-check";

/** The part of JSON Schema 2020-12 that schemas of requests are written in. */
export interface RequestSchema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly RequestSchema[];
  readonly oneOf?: readonly RequestSchema[];
  readonly properties?: Readonly<Record<string, RequestSchema>>;
  readonly required?: readonly string[];
  readonly dependentRequired?: Readonly<Record<string, readonly string[]>>;
  readonly additionalProperties?: boolean | RequestSchema;
  readonly propertyNames?: RequestSchema;
  readonly not?: RequestSchema;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly items?: RequestSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly contentMediaType?: string;
  readonly contentSchema?: RequestSchema;
}

/** Longer texts and lists say nothing new. */
const LENGTH_SHOWN = 40;
const ITEMS_SHOWN = 4;
const NUMBER_SHOWN = 1e9;
const DAY_MS = 86_400_000;
/** A thousand years of them, none more often than others: that two of a list are the same is rare. */
const DAYS_SHOWN = 365_000;
const DAYS = fc.noBias(fc.integer({ min: 0, max: DAYS_SHOWN }));
const YEAR_MS = 366 * 86_400_000;

/** Values that fit. Moments lie around the present, since bodies may want them in the future or not too far away. */
export function fitting(schema: RequestSchema): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.anyOf !== undefined && schema.properties === undefined) return fc.oneof(...schema.anyOf.map(fitting));
  if (schema.oneOf !== undefined && schema.type === undefined) return fc.oneof(...schema.oneOf.map(fitting));
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  switch (type) {
    case "string":
      return fittingText(schema);
    case "integer":
      return fc.integer({ min: bound(schema.minimum, -NUMBER_SHOWN), max: bound(schema.maximum, NUMBER_SHOWN) });
    case "number":
      return fittingNumber(schema);
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    case "array":
      return fittingList(schema);
    case "object":
      return fittingObject(schema);
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

function bound(given: number | undefined, shown: number): number {
  return given === undefined || Math.abs(given) > NUMBER_SHOWN ? shown : given;
}

function fittingNumber(schema: RequestSchema): fc.Arbitrary<number> {
  const min = bound(schema.minimum ?? schema.exclusiveMinimum, -NUMBER_SHOWN);
  const max = bound(schema.maximum ?? schema.exclusiveMaximum, NUMBER_SHOWN);
  const isInside = (value: number) => value !== schema.exclusiveMinimum && value !== schema.exclusiveMaximum;
  return fc
    .double({ min, max, noNaN: true, noDefaultInfinity: true })
    .map((value) => value + 0)
    .filter(isInside);
}

function fittingText(schema: RequestSchema): fc.Arbitrary<string> {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern, format, contentMediaType, contentSchema } = schema;
  if (format === "date-time") return moment();
  if (format === "date") return DAYS.map((day) => new Date(day * DAY_MS).toISOString().slice(0, 10));
  if (format === "email") return fc.emailAddress().filter((address) => pattern === undefined || new RegExp(pattern).test(address));
  if (contentSchema?.type === "array") return fitting(contentSchema).map((value) => JSON.stringify(value));
  if (contentMediaType === "application/json")
    return fc.dictionary(fc.string({ maxLength: 8 }), fc.string({ maxLength: 8 }), { maxKeys: 3 }).map((value) => JSON.stringify(value));
  const isLong = (text: string) => text.length >= minLength && text.length <= maxLength;
  // fast-check knows few of the classes behind \p: then printable ASCII has to do.
  const form = pattern === undefined ? undefined : new RegExp(pattern, "u");
  if (form !== undefined && !form.source.includes("\\p")) return fc.stringMatching(form).filter(isLong);
  // Printable ASCII: limits count bytes, a schema characters.
  const printable = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code));
  const texts = fc.string({ unit: printable, minLength, maxLength: Math.max(minLength, Math.min(maxLength, LENGTH_SHOWN)) });
  return form === undefined ? texts : texts.filter((text) => form.test(text));
}

function moment(): fc.Arbitrary<string> {
  return fc.integer({ min: Date.now() + 60_000, max: Date.now() + YEAR_MS }).map((ms) => new Date(ms).toISOString());
}

function fittingList({ items = {}, minItems = 0, maxItems = ITEMS_SHOWN }: RequestSchema): fc.Arbitrary<unknown[]> {
  return fc.array(fitting(items), { minLength: minItems, maxLength: Math.max(minItems, Math.min(maxItems, ITEMS_SHOWN)) });
}

/** Whether a member must not be there. */
function isBarred(member: RequestSchema | false): boolean {
  return member === false || (member.not !== undefined && Object.keys(member.not).length === 0);
}

/** One of the choices, with the members that it bars left out and those that it needs put in. */
function fittingChoice(schema: RequestSchema, choices: readonly RequestSchema[]): fc.Arbitrary<unknown> {
  const { oneOf: _, ...whole } = schema;
  const of = ({ properties = {}, required = [] }: RequestSchema) => {
    const members = { ...whole.properties };
    for (const [name, member] of Object.entries(properties))
      members[name] = isBarred(member) ? (member as RequestSchema) : { ...members[name], ...member };
    return fittingObject({ ...whole, properties: members, required: [...new Set([...(whole.required ?? []), ...required])] });
  };
  return fc.oneof(...choices.map(of)).filter((value) => choices.filter((choice) => isChosen(choice, value as object)).length === 1);
}

function fittingObject(schema: RequestSchema): fc.Arbitrary<unknown> {
  if (schema.oneOf !== undefined) return fittingChoice(schema, schema.oneOf);
  const { properties = {}, required = [], additionalProperties, propertyNames = { type: "string", minLength: 1 }, anyOf } = schema;
  const known = Object.entries(properties).filter(([, member]) => !isBarred(member));
  const members = Object.fromEntries(known.map(([name, member]) => [name, fitting(member)]));
  const own = fc.record(members, { requiredKeys: [...required] });
  const isAny = (value: object) => anyOf === undefined || anyOf.some((choice) => hasRequired(choice, value));
  const isComplete = (value: object) =>
    Object.entries(schema.dependentRequired ?? {}).every(
      ([name, needed]) => !Object.hasOwn(value, name) || hasRequired({ required: needed }, value),
    );
  const isFree = (value: object) => schema.not?.required === undefined || !hasRequired(schema.not, value);
  const isMap = typeof additionalProperties === "object" && Object.keys(properties).length === 0;
  if (!isMap) return own.filter((value) => isAny(value) && isComplete(value) && isFree(value));
  const limits = {
    minKeys: schema.minProperties ?? 0,
    maxKeys: Math.max(schema.minProperties ?? 0, Math.min(schema.maxProperties ?? ITEMS_SHOWN, ITEMS_SHOWN)),
  };
  return fc.dictionary(fitting(propertyNames) as fc.Arbitrary<string>, fitting(additionalProperties), limits);
}

/** Whether an object is what a choice asks for: members that it must and must not have, and those of one value or of a few. */
function isChosen(choice: RequestSchema, value: object): boolean {
  const members = Object.entries(choice.properties ?? {}).every(([name, member]) => {
    if (isBarred(member)) return !Object.hasOwn(value, name);
    const { const: one, enum: some } = member;
    const given = (value as Readonly<Record<string, unknown>>)[name];
    return (one === undefined || given === one) && (some === undefined || (some as readonly unknown[]).includes(given));
  });
  return members && hasRequired(choice, value) && (choice.not === undefined || !hasRequired(choice.not, value));
}

function hasRequired({ required = [] }: RequestSchema, value: object): boolean {
  return required.every((name) => Object.hasOwn(value, name));
}

/** Values that break one rule of the schema, each with what it breaks; empty where any value fits. */
export function breaking(schema: RequestSchema): ReadonlyArray<readonly [rule: string, value: unknown]> {
  const broken: Array<readonly [string, unknown]> = [];
  if (schema.enum !== undefined) return [["enum", "none of these"]];
  if ((schema.anyOf !== undefined && schema.properties === undefined) || schema.type === undefined || Array.isArray(schema.type))
    return broken;
  const { type, minLength, maxLength, minimum, maximum, minItems, maxItems, pattern, format } = schema;
  broken.push(["type", type === "object" || type === "array" ? 5 : { object: true }]);
  if (type === "string") {
    if (minLength !== undefined && minLength > 0) broken.push(["minLength", ""]);
    if (maxLength !== undefined) broken.push(["maxLength", "x".repeat(maxLength + 1)]);
    if (pattern !== undefined) broken.push(["pattern", "\u0000 \n"]);
    if (format === "date") broken.push(["format", "yesterday"], ["format", "2026-02-30"]);
    if (format === "date-time") broken.push(["format", "yesterday"], ["format", "2026-02-30T00:00:00Z"]);
  }
  if (minimum !== undefined && Number.isSafeInteger(minimum - 1)) broken.push(["minimum", minimum - 1]);
  if (maximum !== undefined && Number.isSafeInteger(Math.ceil(maximum) + 1)) broken.push(["maximum", Math.ceil(maximum) + 1]);
  if (type === "integer") broken.push(["integer", (minimum ?? 0) + 0.5]);
  if (type === "array" && minItems !== undefined && minItems > 0) broken.push(["minItems", []]);
  if (type === "array" && maxItems !== undefined) {
    const [item] = fc.sample(fitting(schema.items ?? {}), { numRuns: 1, seed: 1 });
    broken.push(["maxItems", Array(maxItems + 1).fill(item)]);
  }
  return broken;
}
