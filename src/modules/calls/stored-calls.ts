/**
 * The call graph as stored (edges: domain/trace/call-edges.ts).
 *
 *   call_sums      partition, since     ▶ edges that the partition has seen since its checkpoint `since`; final once a later one is stored
 *   call_minutes   tenant, minute       ▶ edges of one minute: what was final, merged
 *
 * Sums are written whole and in place of those before, and merged and deleted in one commit: a call counts once, whatever is repeated. Read are minutes that are merged, and what partitions have reported
 * since their last checkpoints.
 */
import type { KeyValueStore } from "../../adapters/storage/key-value-store.ts";
import { CALLS_HEADER_BYTES } from "../../core/protocol/coordinator-frame.ts";
import { MINUTE_MS } from "../../core/time/durations.ts";
import { KeyBuilder } from "../../domain/codec/key.ts";
import { type CallEdge, decodeCallEdges } from "../../domain/trace/call-edges.ts";
import { scan } from "../state/scan.ts";
import { tenantTimeBound } from "../state/tables.ts";

/** Rows between two turns of others. */
const ROWS_PER_SLICE = 100;

export interface StoredCallsContext {
  readonly state: { readonly series: KeyValueStore };
  /** Lets other work of the thread have its turn. */
  yieldToLoop(): Promise<void>;
}

/** Gives every edge of a tenant's minutes, and all that is not merged yet: of any tenant and time, so that `take` has to look. */
export async function readCalls(
  { state, yieldToLoop }: StoredCallsContext,
  tenant: string,
  { from, to }: { readonly from: number; readonly to: number },
  take: (edge: CallEdge) => void,
): Promise<void> {
  const rows = [
    ...state.series.range("call_minutes", { from: callMinuteKey(tenant, from), to: callMinuteKey(tenant, to) }),
    ...scan(state.series, "call_sums"),
  ];
  for (const [i, { value }] of rows.entries()) {
    for (const edge of decodeCallEdges(value)) take(edge);
    if (i % ROWS_PER_SLICE === ROWS_PER_SLICE - 1) await yieldToLoop();
  }
}

/** Key of a partition's sums; also the bound of those since later checkpoints. */
export function callSumsKey(partition: number, since: number): Uint8Array {
  return new KeyBuilder().u16(partition).u32(since).finish();
}

/** Key of a tenant's minute, counted from 1970; also a bound. */
export function callMinuteKey(tenant: string, minute: number): Uint8Array {
  return tenantTimeBound(tenant, minute * MINUTE_MS);
}

/** Reads the payload of a frame; `edges` is a copy. */
export function readCallsFrame(payload: Uint8Array): { readonly partition: number; readonly since: number; readonly edges: Uint8Array } {
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  const edges = new Uint8Array(payload.subarray(CALLS_HEADER_BYTES));
  return { partition: view.getUint32(0, true), since: view.getUint32(4, true), edges };
}
