// A catalog as its entities: YAML of one or many documents, or JSON with an object, an array, or the page that Backstage's API answers with.
import { JSON_COUNTED_ANY } from "../../core/config/body-limits.ts";
import { CATALOG_ENTITIES_MAX } from "../../core/config/declaration-limits.ts";
import { JSON_DEPTH_MAX } from "../../core/config/limits.ts";
import { decodePieces } from "../codec/json-pieces.ts";
import { type JsonBounds, scanJson } from "../codec/json-scan.ts";
import { type ComponentLabel, readEntity, type SkippedEntity } from "./catalog-entity.ts";
import { readYaml, yamlTexts } from "./yaml-documents.ts";

export type CatalogFormat = "json" | "yaml";

export interface PlacedEntity {
  /** From 0. */
  readonly index: number;
  /** On which its document begins, from 1; null in JSON. */
  readonly line: number | null;
  readonly entity: ComponentLabel | SkippedEntity;
}

/** A catalog whose text cannot be read at all. */
export class CatalogError extends Error {
  /** It has more of something than it may. */
  readonly isTooLarge: boolean;

  constructor(message: string, isTooLarge = false) {
    super(message);
    this.isTooLarge = isTooLarge;
  }
}

/** Reads the entities in order, null for a step without one, so that the reader may pause between them. Throws CatalogError before the first entity. */
export function* readCatalog(text: string, format: CatalogFormat): Generator<PlacedEntity | null> {
  const names = new Map<string, number>();
  let index = 0;
  for (const found of format === "json" ? jsonEntities(text) : yamlEntities(text)) {
    if (found === null) {
      yield null;
      continue;
    }
    const { line, entity } = found;
    const before = isLabel(entity) ? names.get(entity.name) : undefined;
    if (isLabel(entity) && before === undefined) names.set(entity.name, index);
    yield { index: index++, line, entity: before === undefined ? entity : duplicate(entity as ComponentLabel, before) };
  }
}

/** Whether the entity sets a label. */
export function isLabel(entity: ComponentLabel | SkippedEntity): entity is ComponentLabel {
  return "value" in entity;
}

function duplicate({ kind, name }: ComponentLabel, before: number): SkippedEntity {
  const message = `has the name of entity ${before}, which is taken; services are known by metadata.name alone`;
  return { reason: "duplicate", message, kind, name };
}

/** A list of entities is the longest that a catalog has. */
const BOUNDS: JsonBounds = { entriesMax: CATALOG_ENTITIES_MAX, membersMax: JSON_COUNTED_ANY, depthMax: JSON_DEPTH_MAX };

type Found = Omit<PlacedEntity, "index">;

/** The steps of a reading, as nulls between the entities. */
function* stepsOf<T>(steps: Generator<void, T>): Generator<null, T> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    yield null;
  }
}

function* jsonEntities(text: string): Generator<Found | null> {
  const scan = yield* stepsOf(scanJson(text, BOUNDS));
  if (!scan.ok)
    throw new CatalogError(scan.reason === "not_json" ? `the body is not JSON: ${scan.message}` : scan.message, scan.reason === "too_much");
  const decoded = yield* stepsOf(decodePieces(text, scan.cut));
  if (!decoded.ok) throw new CatalogError(`the body is not JSON: ${decoded.message}`);
  for (const entity of listOf(decoded.value)) yield { line: null, entity: readEntity(entity) };
}

function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  if (typeof value !== "object" || value === null) throw new CatalogError("the body must be an entity or an array of entities");
  const items = !Object.hasOwn(value, "kind") && Object.hasOwn(value, "items") ? (value as { items: unknown }).items : undefined;
  return Array.isArray(items) ? items : [value];
}

function* yamlEntities(text: string): Generator<Found | null> {
  for (const found of yamlTexts(text.replace(/^\uFEFF/, ""))) {
    if (found === null) {
      yield null;
      continue;
    }
    const { text: document, line } = found;
    const read = yield* stepsOf(readYaml(document));
    if (!read.ok) yield { line, entity: { reason: read.reason, message: read.message, kind: null, name: null } };
    else if (Array.isArray(read.value)) for (const entity of read.value as readonly unknown[]) yield { line, entity: readEntity(entity) };
    else yield { line, entity: readEntity(read.value) };
  }
}
