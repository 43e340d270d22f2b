// What the coordinator folds of records.
import type { NounModule } from "../state/noun-module.ts";
import { listRecords } from "./record-handler.ts";
import { expireRecords } from "./record-retention.ts";

export const RECORDS = {
  tables: {
    series: {
      records: { key: "tenant, time, id", value: "record-row.ts" },
      span_blocks: { key: "tenant, second, block id", value: "span-block.ts (domain/trace): spans of a service that ended in that second" },
    },
  },
  expire: expireRecords,
  handlers: {
    records: listRecords,
  },
  afterCommit: ["records"],
} as const satisfies NounModule;
