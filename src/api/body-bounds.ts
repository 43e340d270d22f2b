// How many entries and members the body of an endpoint may have anywhere, read off its schema once: what has more is refused before it is parsed.
import { z } from "zod";
import { JSON_COUNTED_ANY, JSON_COUNTED_MIN } from "../core/config/body-limits.ts";
import { JSON_DEPTH_MAX } from "../core/config/limits.ts";
import type { JsonBounds } from "../domain/codec/json-scan.ts";

const KNOWN = new WeakMap<z.core.$ZodType, JsonBounds>();

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
