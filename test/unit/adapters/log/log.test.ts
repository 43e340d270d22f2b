import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { LogPosition } from "../../../../src/adapters/log/block-format.ts";
import { BLOCK_PAYLOAD_BYTES_MAX } from "../../../../src/adapters/log/block-format.ts";
import type { LogFileSystem } from "../../../../src/adapters/log/log-file-system.ts";
import { nodeFileSystem } from "../../../../src/adapters/log/log-file-system.ts";
import { mergeBlocks, writerKey } from "../../../../src/adapters/log/log-merge.ts";
import { readBlocks } from "../../../../src/adapters/log/log-reader.ts";
import { listSegments, segmentPath } from "../../../../src/adapters/log/log-segment.ts";
import type { LogWriter, LogWriterOptions } from "../../../../src/adapters/log/log-writer.ts";
import { LogWriteError, openLogWriter } from "../../../../src/adapters/log/log-writer.ts";
import { deleteCoveredSegments } from "../../../support/covered-segments.ts";
import { MemoryDisk } from "../../../support/memory-log.ts";

const DISK = "/data/log";

function open(files: LogFileSystem, directory: string, options: Partial<LogWriterOptions> = {}): LogWriter {
  return openLogWriter({ directory, dataDir: dirname(directory), epoch: 1, writer: 0, syncEach: false, ...options }, files);
}

function append(writer: LogWriter, admission: number, bytes = 20): LogPosition {
  return writer.append({ admission, baseMs: 1e12 + admission, kinds: 3, rows: 10 }, [new Uint8Array(bytes).fill(admission)]);
}

function read(path: string, from = 0, files: LogFileSystem = nodeFileSystem) {
  const blocks = readBlocks(path, from, files);
  const admissions: number[] = [];
  let step = blocks.next();
  for (; !step.done; step = blocks.next()) {
    const { header, payload } = step.value;
    expect(payload.every((byte) => byte === header.admission % 256)).toBe(true);
    expect(payload.byteOffset % 8).toBe(0);
    admissions.push(header.admission);
  }
  return { admissions, ...step.value };
}

function merge(files: LogFileSystem, from: ReadonlyMap<string, LogPosition> = new Map(), directory = DISK) {
  const blocks = mergeBlocks(listSegments(directory, files), from, files);
  const admissions: number[] = [];
  let step = blocks.next();
  for (; !step.done; step = blocks.next()) admissions.push(step.value.header.admission);
  return { admissions, torn: step.value };
}

describe("log on real files", () => {
  let directory: string;
  beforeEach(() => {
    directory = join(mkdtempSync(join(tmpdir(), "vedette-log-")), "log");
  });
  afterEach(() => rmSync(dirname(directory), { recursive: true, force: true }));
  const path = () => segmentPath(directory, 1, 0, 0);

  it("reads back what it wrote, views of shared memory and many parts among it", () => {
    const shared = new Uint8Array(new SharedArrayBuffer(64), 3, 40).fill(9);
    const writer = open(nodeFileSystem, directory, { syncEach: true });
    writer.append({ admission: 9, baseMs: 5.25, kinds: 0xffff_ffff, rows: 7 }, [shared.subarray(1, 14), new Uint8Array(0), shared]);
    writer.append(
      { admission: 2, baseMs: -1, kinds: 0, rows: 0 },
      Array.from({ length: 3000 }, () => new Uint8Array(7).fill(2)),
    );
    const end = writer.append({ admission: 4, baseMs: 0, kinds: 0, rows: 1 }, []);
    writer.close();
    const [first, second] = [...readBlocks(path())].map(({ header, payload }) => ({ ...header, bytes: payload.length }));
    expect([first, second]).toEqual([
      { admission: 9, baseMs: 5.25, kinds: 0xffff_ffff, rows: 7, position: { number: 0, rowsBefore: 0 }, bytes: 53 },
      { admission: 2, baseMs: -1, kinds: 0, rows: 0, position: { number: 1, rowsBefore: 7 }, bytes: 21_000 },
    ]);
    expect(read(path())).toEqual({ admissions: [9, 2, 4], endOffset: end.offset, cutBytes: 0 });
    expect([statSync(path()).size, writer.bytesWritten]).toEqual([end.offset, end.offset]);
    expect(() => append(writer, 1)).toThrow("closed");
  });

  it("reads into a buffer of which a slice is a copy, so that what waits for the coordinator outlives the window", () => {
    const writer = open(nodeFileSystem, directory);
    for (let admission = 1; admission <= 6; admission++) append(writer, admission, 700_000);
    writer.close();
    const kept = Array.from(readBlocks(path()), ({ payload }) => payload.slice());
    expect(kept.map((bytes, i) => bytes.every((byte) => byte === i + 1))).toEqual([true, true, true, true, true, true]);
  });

  it("stops at a last block that is cut anywhere and says how much was cut off", () => {
    const writer = open(nodeFileSystem, directory);
    append(writer, 1);
    const { offset } = append(writer, 2);
    const { offset: end } = append(writer, 3, 30);
    writer.close();
    for (let size = end - 1; size >= offset; size--) {
      truncateSync(path(), size);
      expect(read(path())).toEqual({ admissions: [1, 2], endOffset: offset, cutBytes: size - offset });
    }
  });

  it("stops at any flipped bit and at what is no block", () => {
    const writer = open(nodeFileSystem, directory);
    const { offset } = append(writer, 1);
    const { offset: end } = append(writer, 2, 24); // no padding, which no checksum covers
    writer.close();
    const whole = readFileSync(path());
    for (let bit = offset * 8; bit < end * 8; bit++) {
      const damaged = Buffer.from(whole);
      damaged[bit >> 3]! ^= 1 << (bit & 7);
      writeFileSync(path(), damaged);
      expect(read(path())).toEqual({ admissions: [1], endOffset: offset, cutBytes: end - offset });
    }
    writeFileSync(path(), whole);
    appendFileSync(path(), new Uint8Array(4096));
    expect(read(path())).toEqual({ admissions: [1, 2], endOffset: end, cutBytes: 4096 });
  });

  it("reads blocks larger than its window and from a position", () => {
    const writer = open(nodeFileSystem, directory);
    const { offset } = append(writer, 1, 900_000);
    append(writer, 2, 3_000_001);
    append(writer, 3, 900_000);
    append(writer, 4, 5);
    writer.close();
    expect(read(path()).admissions).toEqual([1, 2, 3, 4]);
    expect(read(path(), offset).admissions).toEqual([2, 3, 4]);
    expect(read(segmentPath(directory, 1, 0, 9))).toEqual({ admissions: [], endOffset: 0, cutBytes: 0 });
    expect(() => read(path(), 4)).toThrow(RangeError);
  });

  it("takes a segment's number for its own and goes on behind an earlier writer", () => {
    append(open(nodeFileSystem, directory, { segmentBytes: 100 }), 1);
    const again = open(nodeFileSystem, directory, { segmentBytes: 100 });
    expect(again.position).toEqual({ segment: 1, offset: 0 });
    expect(append(again, 2)).toEqual({ segment: 1, offset: 72 });
    expect(append(again, 3)).toEqual({ segment: 2, offset: 72 });
    expect(merge(nodeFileSystem, new Map(), directory).admissions).toEqual([1, 2, 3]);
  });

  it("deletes segments below one, missing ones or not", () => {
    const writer = open(nodeFileSystem, directory, { segmentBytes: 100 });
    for (let admission = 0; admission < 5; admission++) append(writer, admission);
    append(open(nodeFileSystem, directory, { writer: 1 }), 9);
    writeFileSync(join(directory, "notes.txt"), "");
    rmSync(segmentPath(directory, 1, 0, 1));
    const below = (belowSegment: number) => ({ epoch: 1, writers: [{ writer: 0, belowSegment }] });
    expect(deleteCoveredSegments(directory, below(3))).toBe(2);
    expect(deleteCoveredSegments(directory, below(3))).toBe(0);
    expect(deleteCoveredSegments(join(directory, "none"), below(3))).toBe(0);
    expect(readdirSync(directory).sort()).toEqual([
      "e0000000001-0000-00000003.log",
      "e0000000001-0000-00000004.log",
      "e0000000001-0001-00000000.log",
      "notes.txt",
    ]);
    expect(deleteCoveredSegments(directory, { epoch: 2, writers: [] })).toBe(3);
  });

  it("says which code opening failed with", () => {
    writeFileSync(directory, "");
    expect(() => open(nodeFileSystem, directory)).toThrow(
      expect.objectContaining({ name: "LogWriteError", code: "EEXIST", retryable: false }),
    );
  });
});

describe("log under failure", () => {
  let disk: MemoryDisk;
  beforeEach(() => {
    disk = new MemoryDisk();
  });

  it.each([0, 1, 31, 32, 48, 71])("goes back when the disk is full after %i bytes and works when there is room", (room) => {
    const writer = open(disk, DISK);
    const before = append(writer, 1);
    disk.budgetBytes = disk.usedBytes + room;
    expect(() => append(writer, 2)).toThrow(expect.objectContaining({ code: room === 0 ? "ENOSPC" : "ESHORT", retryable: true }));
    expect(writer.position).toEqual(before);
    expect(disk.usedBytes).toBe(before.offset);
    disk.budgetBytes = 10_000;
    append(writer, 3);
    expect(merge(disk)).toEqual({ admissions: [1, 3], torn: [] });
  });

  it("moves to a new segment when the torn block cannot be removed", () => {
    const writer = open(disk, DISK);
    const before = append(writer, 1);
    disk.budgetBytes = disk.usedBytes + 40;
    disk.failNext("ftruncateSync", "EIO");
    expect(() => append(writer, 2)).toThrow(LogWriteError);
    disk.budgetBytes = 10_000;
    expect(append(writer, 3)).toEqual({ segment: 1, offset: 72 });
    expect(merge(disk)).toEqual({
      admissions: [1, 3],
      torn: [{ kind: "torn", path: segmentPath(DISK, 1, 0, 0), offset: before.offset, bytes: 40, blocks: 0, rows: 0 }],
    });
    expect(merge(disk, new Map([[writerKey(1, 0), before]])).admissions).toEqual([3]);
  });

  it("flushes each block and never trusts a file after a failed flush", () => {
    const writer = open(disk, DISK, { syncEach: true });
    append(writer, 1);
    disk.failNext("fdatasyncSync", "EIO");
    expect(() => append(writer, 2)).toThrow(expect.objectContaining({ code: "EIO", retryable: false }));
    expect(append(writer, 3).segment).toBe(1);
    disk.losePower();
    expect(merge(disk)).toEqual({ admissions: [1, 3], torn: [] });
  });

  it("keeps everything over a kill and only the tail is lost with the power", () => {
    const writer = open(disk, DISK);
    append(writer, 1);
    disk.kill();
    expect(merge(disk).admissions).toEqual([1]);
    disk.losePower();
    expect(merge(disk)).toEqual({ admissions: [], torn: [] });
  });

  it("can roll again after a failed attempt to create a segment", () => {
    const writer = open(disk, DISK, { segmentBytes: 100, syncEach: true });
    append(writer, 1);
    disk.failNext("openSync", "EMFILE");
    expect(() => append(writer, 2)).toThrow(expect.objectContaining({ code: "EMFILE", retryable: true }));
    disk.failNext("fsyncSync", "EIO");
    disk.failNext("unlinkSync", "EIO");
    expect(() => append(writer, 2)).toThrow(expect.objectContaining({ code: "EIO", retryable: false }));
    append(writer, 2);
    expect(merge(disk)).toEqual({ admissions: [1, 2], torn: [] });
    writer.close();
    expect(disk.openDescriptors).toBe(0);
  });

  it("refuses a block above the limit and reads a header that claims more as torn", () => {
    const writer = open(disk, DISK);
    const part = new Uint8Array(BLOCK_PAYLOAD_BYTES_MAX / 4);
    expect(() => writer.append({ admission: 1, baseMs: 0, kinds: 0, rows: 1 }, [part, part, part, part, new Uint8Array(1)])).toThrow(
      RangeError,
    );
    append(writer, 1);
    const bytes = disk.contents(segmentPath(DISK, 1, 0, 0));
    new DataView(bytes.buffer).setUint32(8, 0xffff_ffff, true);
    disk.overwrite(segmentPath(DISK, 1, 0, 0), bytes);
    expect(merge(disk).torn).toMatchObject([{ kind: "torn", path: segmentPath(DISK, 1, 0, 0), offset: 0, bytes: 72 }]);
  });
});

describe("merged lanes", () => {
  it("follow admission within an epoch, epochs one after another, and close their files when left early", () => {
    const disk = new MemoryDisk();
    const writers = [0, 1, 2].map((writer) => open(disk, DISK, { writer, epoch: 2, segmentBytes: 120 }));
    [3, 4, 9, 10].forEach((admission) => append(writers[0]!, admission));
    [1, 5, 5, 12].forEach((admission) => append(writers[1]!, admission));
    [2, 5, 11].forEach((admission) => append(writers[2]!, admission));
    append(open(disk, DISK, { epoch: 1, writer: 7 }), 100);
    disk.kill();
    const seen = [...mergeBlocks(listSegments(DISK, disk), new Map(), disk)].map(
      ({ epoch, writer, header }) => `${epoch}.${writer}:${header.admission}`,
    );
    expect(seen).toEqual(["1.7:100", "2.1:1", "2.2:2", "2.0:3", "2.0:4", "2.1:5", "2.1:5", "2.2:5", "2.0:9", "2.0:10", "2.2:11", "2.1:12"]);
    expect(disk.openDescriptors).toBe(0);
    for (const block of mergeBlocks(listSegments(DISK, disk), new Map(), disk)) if (block.header.admission === 4) break;
    expect(disk.openDescriptors).toBe(0);
  });

  it("keep a writer's file order even where its admissions are out of order", () => {
    const disk = new MemoryDisk();
    const [a, b] = [open(disk, DISK), open(disk, DISK, { writer: 1 })];
    [5, 2, 6].forEach((admission) => append(a, admission));
    [1, 4, 7].forEach((admission) => append(b, admission));
    expect(merge(disk).admissions).toEqual([1, 4, 5, 2, 6, 7]);
  });
});
