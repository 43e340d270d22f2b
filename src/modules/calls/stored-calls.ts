// Reading the call graph as stored (call-rows.ts): minutes that are merged, and what partitions have reported since their last checkpoints.
import type { KeyValueStore } from "../../adapters/storage/key-value-store.ts";
import { type CallEdge, decodeCallEdges } from "../../domain/trace/call-edges.ts";
import { scan } from "../state/scan.ts";
import { callMinuteKey } from "./call-rows.ts";

/** Rows between two turns of others. */
const ROWS_PER_TURN = 100;

export interface StoredCallsContext {
  readonly state: { readonly series: KeyValueStore };
  /** Lets other work of the thread have its turn. */
  yieldTurn(): Promise<void>;
}

/** Gives every edge of a tenant's minutes, and all that is not merged yet: of any tenant and time, so that `take` has to look. */
export async function readCalls(
  { state, yieldTurn }: StoredCallsContext,
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
    if (i % ROWS_PER_TURN === ROWS_PER_TURN - 1) await yieldTurn();
  }
}
