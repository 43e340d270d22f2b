// The process that walks a store's file for store-check.ts: one order as its argument; on standard output rows, where they are wanted, and last a report (walk-frames.ts).
import { writeSync } from "node:fs";
import { openLiveSnapshot } from "./store-copy.ts";
import { walkStore } from "./store-walk.ts";
import { FrameWriter, type WalkOrder } from "./walk-frames.ts";

const { file, tables, isThorough, sendsRows, isLive } = JSON.parse(process.argv[2] as string) as WalkOrder;
const writer = new FrameWriter(tables, (bytes) => writeSync(1, bytes));
const snapshot = isLive ? openLiveSnapshot(file) : undefined;
const walk = walkStore(file, { tables, isThorough, ...(sendsRows && { takeRow: (table, key, value) => writer.row(table, key, value) }) });
writer.report({ findings: walk.findings, findingCount: walk.findingCount, tables: [...walk.tables] });
snapshot?.close();
