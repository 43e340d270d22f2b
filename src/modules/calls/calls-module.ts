// What the coordinator folds of calls between services.
import type { NounModule } from "../state/noun-module.ts";
import type { RetentionTerms } from "../state/retention-step.ts";
import { callGraph } from "./call-graph-handler.ts";
import { type CallMinutesDependencies, expireCalls, mergeCalls } from "./call-retention.ts";

export const CALLS = {
  tables: {
    series: {
      call_sums: { key: "partition, since", value: "call-rows.ts: calls between services since a checkpoint of the partition" },
      call_minutes: { key: "tenant, minute", value: "call-rows.ts: calls between services in a minute" },
    },
  },
  expire: (sources: CallMinutesDependencies, terms: RetentionTerms) => expireCalls(sources, terms.keptFromMs, terms.rowsPerStep),
  gather: (sources: CallMinutesDependencies, terms: RetentionTerms) => mergeCalls(sources, terms.keptFromMs),
  handlers: {
    callGraph,
  },
  afterCommit: ["callGraph"],
} as const satisfies NounModule;
