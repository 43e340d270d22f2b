// Models that somebody had trained, as they are stored: what is known of one in a row of "models", its bytes, the state of its detector and what its training
// saw in rows of "model_parts".
import type { StoreOperation } from "../../adapters/storage/key-value-store.ts";
import { MODEL_STATES, MODEL_TYPES } from "../../api/shapes/models.ts";
import { KeyBuilder } from "../../domain/codec/key.ts";
import type { VectorReference } from "../../domain/detection/multivariate/vector-reference.ts";
import { list, nullable, number, object, oneOf, StoredForm, text } from "../state/stored-json.ts";
import type { StoredKind } from "../state/stored-table.ts";
import { idBytes } from "../state/tables.ts";

export interface ModelRow {
  /** 32 hex digits. */
  readonly id: string;
  readonly tenant: string;
  readonly serviceId: string;
  readonly environment: string;
  readonly modelType: (typeof MODEL_TYPES)[number];
  readonly state: (typeof MODEL_STATES)[number];
  readonly jobId: string;
  readonly trainedMs: number;
  readonly promotedMs: number | null;
  /** The model that was in production before this one; null: one of the automatic trainings. */
  readonly previousId: string | null;
  readonly windowDays: number;
  /** Time of the oldest vector that it could learn from. */
  readonly sinceMs: number;
  /** Vectors of its training. */
  readonly rows: number;
  /** Its metrics in the order of the vector, and the hash of their names. */
  readonly names: readonly string[];
  readonly columns: string;
  /** As a shadow: vectors scored, and alerts that it would have opened. */
  readonly scored: number;
  readonly alerts: number;
}

const MODEL = new StoredForm<ModelRow>("models", {
  id: text,
  tenant: text,
  serviceId: text,
  environment: text,
  modelType: oneOf(MODEL_TYPES),
  state: oneOf(MODEL_STATES),
  jobId: text,
  trainedMs: number,
  promotedMs: nullable(number),
  previousId: nullable(text),
  windowDays: number,
  sinceMs: number,
  rows: number,
  names: list(text),
  columns: text,
  scored: number,
  alerts: number,
});

/** Models in the order of their ids. */
export const MODELS: StoredKind<ModelRow> = { table: "models", form: MODEL, key: modelKey, idOf: ({ id }) => id };
const REFERENCE = new StoredForm<VectorReference>("model_parts", {
  columns: list(object<VectorReference["columns"][number]>({ hours: list(nullable(number)), edges: list(number), counts: list(number) })),
});

/** Parts of a model. */
export interface ModelContent {
  readonly model: Uint8Array<ArrayBuffer>;
  readonly state: Float64Array<ArrayBuffer>;
  readonly reference: VectorReference;
}

const PARTS = ["model", "state", "reference"] as const;

export function contentOperations(of: Pick<ModelRow, "tenant" | "id">, { model, state, reference }: ModelContent): StoreOperation[] {
  const values = [model, new Uint8Array(state.buffer, state.byteOffset, state.byteLength), REFERENCE.encode(reference)];
  return PARTS.map((_, part) => ({ table: "model_parts", key: partKey(of, part), value: values[part] }));
}

/** Deletes the parts of a model. */
export function contentRemoval(of: Pick<ModelRow, "tenant" | "id">): StoreOperation[] {
  return PARTS.map((_, part) => ({ table: "model_parts", key: partKey(of, part), value: undefined }));
}

/** Reads a model by its parts, into bytes of its own; undefined where it is gone. */
export function readContent(
  of: Pick<ModelRow, "tenant" | "id">,
  read: (key: Uint8Array) => Uint8Array | undefined,
): ModelContent | undefined {
  const [model, state, reference] = PARTS.map((_, part) => read(partKey(of, part)));
  if (model === undefined || state === undefined || reference === undefined) return undefined;
  return { model: new Uint8Array(model), state: new Float64Array(new Uint8Array(state).buffer), reference: REFERENCE.decode(reference) };
}

function modelKey({ tenant, id }: Pick<ModelRow, "tenant" | "id">): Uint8Array {
  return new KeyBuilder().text(tenant).fixed(idBytes(id)).finish();
}

function partKey({ tenant, id }: Pick<ModelRow, "tenant" | "id">, part: number): Uint8Array {
  return new KeyBuilder().text(tenant).fixed(idBytes(id)).u16(part).finish();
}
