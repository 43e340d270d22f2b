// The ledger as whoever reads it wants it: with the decisions that wait for their commit.
import { StoreError } from "../../adapters/storage/key-value-store.ts";
import type { Using } from "../queries/query-context.ts";
import type { AlertBooks } from "./alerts-context.ts";

/** Stores decisions that wait; where the store refuses, the ledger is read as it is. */
export async function settleLedger({ state, edit }: Using<"edit", AlertBooks>): Promise<void> {
  const { ledger } = state.alerts;
  if (!ledger.isWaiting) return;
  try {
    await edit(() => ledger.store());
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
  }
}
