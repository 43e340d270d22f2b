// Ledgers for what is built without an engine or a coordinator around it.
import { ShareLedger } from "../../src/core/fairness/share-ledger.ts";

/** One that has room for everything. */
export function openLedger(): ShareLedger {
  return new ShareLedger({ most: Number.MAX_SAFE_INTEGER, tenants: () => 1 });
}
