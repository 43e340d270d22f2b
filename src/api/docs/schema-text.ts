// JSON Schemas in a few words, for tables.
import { ownMember } from "../../core/collections/own-member.ts";
import type { JsonObject } from "../openapi/json-schema.ts";

/** A member of a body by its path. */
export interface Member {
  readonly path: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly note: string;
}

const DEPTH_MAX = 6;

/** Constraints of a value in words: "whole number from 1 to 1000, default 50". */
export function schemaText(schema: JsonObject): string {
  const { default: input } = schema;
  const initial = input === undefined ? "" : `, default ${typeof input === "object" ? JSON.stringify(input) : String(input)}`;
  return `${bareText(schema)}${initial}`;
}

function bareText(schema: JsonObject): string {
  if (typeof schema.$ref === "string") return schema.$ref.split("/").at(-1) as string;
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join(" or ");
  const choices = (schema.anyOf ?? (schema.type === undefined ? schema.oneOf : undefined)) as JsonObject[] | undefined;
  if (choices !== undefined) return choices.map(bareText).join(" or ");
  switch (schema.type) {
    case "string":
      return `text${formatText(schema)}${rangeText(schema.minLength, schema.maxLength, " of", "characters")}`;
    case "integer":
      return `whole number${rangeText(schema.minimum, schema.maximum)}`;
    case "number":
      return `number${rangeText(schema.minimum, schema.maximum)}`;
    case "boolean":
      return "true or false";
    case "array":
      return `list of ${bareText((schema.items ?? {}) as JsonObject)}${rangeText(schema.minItems, schema.maxItems, ",", "entries")}`;
    case "object":
      return isMap(schema) ? `map to ${bareText(schema.additionalProperties as JsonObject)}` : "object";
    default:
      return schema.type === undefined ? "any value" : String(schema.type);
  }
}

function formatText(schema: JsonObject): string {
  if (schema.format === "date-time") return ", RFC 3339";
  if (schema.contentMediaType === "application/json") return ", a JSON object";
  return typeof schema.format === "string" ? `, ${schema.format}` : "";
}

function rangeText(least: unknown, most: unknown, before = "", unit = ""): string {
  const end = unit === "" ? "" : ` ${unit}`;
  if (least !== undefined && most !== undefined) return `${before}${before === "" ? " from" : ""} ${least} to ${most}${end}`;
  if (most !== undefined) return `${before} at most ${most}${end}`;
  return least === undefined || least === 0 || least === 1 ? "" : `${before} at least ${least}${end}`;
}

function isMap({ properties, additionalProperties }: JsonObject): boolean {
  return properties === undefined && typeof additionalProperties === "object" && additionalProperties !== null;
}

/** All members of an object, those of members and of list entries too, by their paths: filter.reason, entries[].key. */
export function membersOf(schema: JsonObject, components: JsonObject, prefix = "", depth = 0): Member[] {
  const object = resolved(schema, components);
  if (depth > DEPTH_MAX) return [];
  if (object.type === "array")
    return membersOf((object.items ?? {}) as JsonObject, components, `${prefix.replace(/\.$/, "")}[].`, depth + 1);
  const required = (object.required ?? []) as string[];
  return Object.entries((object.properties ?? {}) as Record<string, JsonObject>).flatMap(([name, member]) => [
    {
      path: prefix + name,
      type: schemaText(member),
      isRequired: required.includes(name),
      note: String(member.description ?? ""),
    },
    ...membersOf(member, components, `${prefix}${name}.`, depth + 1),
  ]);
}

function resolved(schema: JsonObject, components: JsonObject): JsonObject {
  if (typeof schema.$ref === "string") return (ownMember(components, schema.$ref.split("/").at(-1) as string) ?? {}) as JsonObject;
  const choices = schema.anyOf as JsonObject[] | undefined;
  return choices === undefined ? schema : resolved(choices[0] as JsonObject, components);
}
