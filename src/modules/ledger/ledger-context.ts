// What the ledger's handler uses.
import type { AlertBooks } from "../alerts/alerts-context.ts";
import type { MomentsContext } from "../backtest/backtest-context.ts";
import type { Using } from "../queries/query-context.ts";

export type LedgerContext = MomentsContext & Using<"edit", AlertBooks>;
