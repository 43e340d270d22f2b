// A catalog as its entities: YAML of one or many documents, or JSON with an object, an array, or the page that Backstage's API answers with.
import { decodeJson } from "../codec/json-body.ts";
import { type ComponentLabel, readEntity, type SkippedEntity } from "./catalog-entity.ts";
import { readYaml, yamlTexts } from "./yaml-documents.ts";

export type CatalogFormat = "json" | "yaml";

/** An entity with its place. */
export interface PlacedEntity {
  /** From 0. */
  readonly index: number;
  /** On which its document begins, from 1; null in JSON. */
  readonly line: number | null;
  readonly entity: ComponentLabel | SkippedEntity;
}

/** A catalog whose text cannot be read at all. */
export class CatalogError extends Error {}

/** Reads the entities in order, one document of YAML at a time, so that the reader may pause between them. Throws CatalogError before the first entity. */
export function* readCatalog(text: string, format: CatalogFormat): Generator<PlacedEntity> {
  const names = new Map<string, number>();
  let index = 0;
  for (const { line, entity } of format === "json" ? jsonEntities(text) : yamlEntities(text)) {
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

type Found = Omit<PlacedEntity, "index">;

function* jsonEntities(text: string): Generator<Found> {
  const decoded = decodeJson(text);
  if (!decoded.ok) throw new CatalogError(`the body is not JSON: ${decoded.message}`);
  for (const entity of listOf(decoded.value)) yield { line: null, entity: readEntity(entity) };
}

function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  if (typeof value !== "object" || value === null) throw new CatalogError("the body must be an entity or an array of entities");
  const items = !Object.hasOwn(value, "kind") && Object.hasOwn(value, "items") ? (value as { items: unknown }).items : undefined;
  return Array.isArray(items) ? items : [value];
}

function* yamlEntities(text: string): Generator<Found> {
  for (const { text: document, line } of yamlTexts(text.replace(/^\uFEFF/, ""))) {
    const read = readYaml(document);
    if (!read.ok) yield { line, entity: { reason: read.reason, message: read.message, kind: null, name: null } };
    else if (Array.isArray(read.value)) for (const entity of read.value as readonly unknown[]) yield { line, entity: readEntity(entity) };
    else yield { line, entity: readEntity(read.value) };
  }
}
