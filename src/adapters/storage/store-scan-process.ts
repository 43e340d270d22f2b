// The process that scans a store's file for store-check.ts: one order as its argument; on standard output rows, where they are wanted, and last a report (scan-frames.ts).
import { writeSync } from "node:fs";
import { FrameWriter, type ScanOrder } from "./scan-frames.ts";
import { openLiveSnapshot } from "./store-copy.ts";
import { scanStore } from "./store-scan.ts";

const { file, tables, isThorough, sendsRows, isLive } = JSON.parse(process.argv[2] as string) as ScanOrder;
const writer = new FrameWriter(tables, (bytes) => writeSync(1, bytes));
const snapshot = isLive ? openLiveSnapshot(file) : undefined;
const scan = scanStore(file, { tables, isThorough, ...(sendsRows && { takeRow: (table, key, value) => writer.row(table, key, value) }) });
writer.report({ findings: scan.findings, findingCount: scan.findingCount, tables: [...scan.tables] });
snapshot?.close();
