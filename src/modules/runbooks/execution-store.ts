// Runs of runbooks in the store: read, written, and what is deleted with one.
import type { KeyValueStore, StoreOperation } from "../../adapters/storage/key-value-store.ts";
import { hash128 } from "../../core/hashing/hash128.ts";
import { type Execution, isOpen } from "../../domain/runbooks/execution.ts";
import { annotationKey } from "../anomalies/annotation-row.ts";
import { EXECUTION, executionKey } from "./runbook-row.ts";

const EMPTY = new Uint8Array(0);
const HEX_ID = /^[0-9a-f]{32}$/;

export function executionOperations(execution: Execution): StoreOperation[] {
  const key = executionKey(execution.tenant, execution.id);
  return [
    { table: "runbook_executions", key, value: EXECUTION.encode(execution) },
    { table: "runbook_open", key, value: isOpen(execution) ? EMPTY : undefined },
  ];
}

export function readExecution(control: KeyValueStore, tenant: string, id: string): Execution | undefined {
  if (!HEX_ID.test(id)) return undefined;
  const stored = control.get("runbook_executions", executionKey(tenant, id));
  return stored && EXECUTION.decode(stored);
}

/** Id under which channels know what a step tells them. */
export function noticeId(executionId: string, index: number): string {
  return hash128(JSON.stringify(["notice", executionId, index]));
}

/** Deletes a run with its notes. */
export function executionRemoval({ tenant, id, anomalyId, runbook }: Execution): StoreOperation[] {
  const key = executionKey(tenant, id);
  const notes = runbook.steps.flatMap(({ type }, index): StoreOperation[] =>
    type !== "annotate" || anomalyId === ""
      ? []
      : [{ table: "annotations", key: annotationKey(tenant, anomalyId, id, index), value: undefined }],
  );
  return [{ table: "runbook_executions", key, value: undefined }, { table: "runbook_open", key, value: undefined }, ...notes];
}
