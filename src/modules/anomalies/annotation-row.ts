// Notes at an anomaly that runs of runbooks have made: table `annotations`.
import type { KeyValueStore } from "../../adapters/storage/key-value-store.ts";
import { KeyBuilder, prefixEnd } from "../../domain/codec/key.ts";
import { number, StoredForm, text } from "../state/stored-json.ts";
import { idBytes } from "../state/tables.ts";

/** Notes that are shown of an anomaly. */
const ANNOTATIONS_SHOWN = 100;

export interface Annotation {
  readonly text: string;
  readonly atMs: number;
  readonly executionId: string;
  readonly runbookName: string;
}

export const ANNOTATION = new StoredForm<Annotation>("annotations", { text, atMs: number, executionId: text, runbookName: text });

export function annotationKey(tenant: string, anomalyId: string, executionId: string, index: number): Uint8Array {
  return annotationPrefix(tenant, anomalyId).fixed(idBytes(executionId)).u16(index).finish();
}

function annotationPrefix(tenant: string, anomalyId: string): KeyBuilder {
  return new KeyBuilder().text(tenant).fixed(idBytes(anomalyId));
}

/** Annotations of an anomaly by runs, in the order of the runs. */
export function annotationsOf(control: KeyValueStore, tenant: string, anomalyId: string): Annotation[] {
  const from = annotationPrefix(tenant, anomalyId).finish();
  const to = prefixEnd(from) as Uint8Array;
  return control.range("annotations", { from, to, limit: ANNOTATIONS_SHOWN }).map(({ value }) => ANNOTATION.decode(value));
}
