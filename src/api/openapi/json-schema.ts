// From the schemas that validate to JSON Schema 2020-12 as OpenAPI 3.1 has it.

import { z } from "zod";
import { ownMember, setMember } from "../../core/collections/own-member.ts";

/** A JSON Schema, or any part of an OpenAPI document. */
export type JsonObject = { [name: string]: unknown };

/** `#/$defs/` of one schema, where components are in the whole document. */
const LOCAL = "#/$defs/";
const COMPONENTS = "#/components/schemas/";

/** Collects the schemas that have a name (`.meta({ id })`), each once. */
export class SchemaCollector {
  readonly components: JsonObject = {};
  /** Answers of errors stand in every endpoint. */
  readonly #converted = { input: new Map<z.ZodType, JsonObject>(), output: new Map<z.ZodType, JsonObject>() };

  /** Schema of what a client may send: defaults and transforms by what they take. */
  input(schema: z.ZodType): JsonObject {
    return this.#convert(schema, "input");
  }

  /** Schema of what a client gets. Members that are not known are left open: later versions of the server may send more. */
  output(schema: z.ZodType): JsonObject {
    return this.#convert(schema, "output");
  }

  #convert(schema: z.ZodType, io: "input" | "output"): JsonObject {
    const known = this.#converted[io].get(schema) ?? this.#convertAnew(schema, io);
    this.#converted[io].set(schema, known);
    return known;
  }

  #convertAnew(schema: z.ZodType, io: "input" | "output"): JsonObject {
    const {
      $schema: _,
      $defs = {},
      ...converted
    } = z.toJSONSchema(schema, {
      io,
      unrepresentable: "any",
      override: ({ jsonSchema }) => tidy(jsonSchema, io),
    }) as JsonObject & { $defs?: JsonObject };
    for (const [name, definition] of Object.entries($defs)) this.#keep(name, relocated(definition) as JsonObject);
    return relocated(converted) as JsonObject;
  }

  #keep(name: string, definition: JsonObject): void {
    const { id: _, ...content } = definition;
    const known = ownMember(this.components, name);
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(content)) throw new Error(`two schemas have the name ${name}`);
    setMember(this.components, name, content);
  }
}

/** Defaults of transforms stand as `x-default` in api/parameters.ts: zod leaves `default` out there, as it would be of the other side. */
function tidy(schema: JsonObject, io: "input" | "output"): void {
  if (io === "output" && schema.additionalProperties === false) delete schema.additionalProperties;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.format === "date-time") delete schema.pattern;
  if (schema["x-default"] !== undefined) schema.default = schema["x-default"];
  delete schema["x-default"];
  delete schema.id;
}

/** The same with references to the components. */
function relocated(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(relocated);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const isReference = name === "$ref" && typeof member === "string" && member.startsWith(LOCAL);
      return [name, isReference ? COMPONENTS + member.slice(LOCAL.length) : relocated(member)];
    }),
  );
}
