// What the coordinator folds of backtests.
import type { NounModule } from "../state/noun-module.ts";
import { runBacktest } from "./backtest-handler.ts";

export const BACKTEST = {
  handlers: {
    backtest: runBacktest,
  },
} as const satisfies NounModule;
