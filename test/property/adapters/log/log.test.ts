import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { LogPosition } from "../../../../src/adapters/log/block-format.ts";
import { mergeBlocks, writerKey } from "../../../../src/adapters/log/log-merge.ts";
import { listSegments, segmentPath } from "../../../../src/adapters/log/log-segment.ts";
import { LogWriteError, openLogWriter } from "../../../../src/adapters/log/log-writer.ts";
import { deleteCoveredSegments } from "../../../support/covered-segments.ts";
import { MemoryDisk } from "../../../support/memory-log.ts";

const DISK = "/data/log";
const append = fc.record({
  writer: fc.nat({ max: 2 }),
  bytes: fc.nat({ max: 90 }),
  room: fc.oneof({ weight: 4, arbitrary: fc.constant(1e9) }, fc.nat({ max: 120 })),
});

interface Stored {
  readonly writer: number;
  readonly admission: number;
  readonly bytes: number;
  readonly end: LogPosition;
}

/** Appends what the plan says on three writers and returns what was answered for; a full disk refuses some. */
function write(disk: MemoryDisk, plan: ReadonlyArray<{ writer: number; bytes: number; room: number }>): Stored[] {
  const writers = [0, 1, 2].map((writer) =>
    openLogWriter({ directory: DISK, dataDir: "/data", epoch: 1, writer, segmentBytes: 256, syncEach: false }, disk),
  );
  const stored: Stored[] = [];
  plan.forEach(({ writer, bytes, room }, admission) => {
    disk.budgetBytes = disk.usedBytes + room;
    try {
      const end = writers[writer]!.append({ admission, baseMs: 0, kinds: 0, rows: 1 }, [new Uint8Array(bytes).fill(admission)]);
      stored.push({ writer, admission, bytes, end });
    } catch (error) {
      expect(error).toBeInstanceOf(LogWriteError);
    }
  });
  disk.kill();
  return stored;
}

function merged(disk: MemoryDisk, from = new Map<string, LogPosition>()): Stored[] {
  return [...mergeBlocks(listSegments(DISK, disk), from, disk)].map(({ writer, header, payload, end }) => ({
    writer,
    admission: header.admission,
    bytes: payload.length,
    end,
  }));
}

describe("log", () => {
  it("gives back what was answered for, in order, whatever the disk refused", () => {
    fc.assert(
      fc.property(fc.array(append, { maxLength: 40 }), (plan) => {
        const disk = new MemoryDisk();
        expect(write(disk, plan)).toEqual(merged(disk));
      }),
    );
  });

  it("goes on from any checkpoint, with the segments below it deleted or not", () => {
    fc.assert(
      fc.property(fc.array(append, { maxLength: 40 }), fc.nat(), fc.boolean(), (plan, cut, recycle) => {
        const disk = new MemoryDisk();
        const stored = write(disk, plan);
        const covered = stored.slice(0, stored.length === 0 ? 0 : cut % stored.length);
        const from = new Map(covered.map(({ writer, end }) => [writerKey(1, writer), end]));
        const writers = covered.map(({ writer, end }) => ({ writer, belowSegment: end.segment }));
        if (recycle) deleteCoveredSegments(DISK, { epoch: 1, writers }, disk);
        expect(merged(disk, from)).toEqual(stored.slice(covered.length));
      }),
    );
  });

  it("gives a prefix of each segment back when a file is cut or damaged", () => {
    fc.assert(
      fc.property(fc.array(append, { minLength: 1, maxLength: 20 }), fc.nat(), fc.integer({ min: 0, max: 255 }), (plan, at, mask) => {
        const disk = new MemoryDisk();
        const stored = write(disk, plan);
        const path = segmentPath(DISK, 1, plan[0]!.writer, 0);
        const bytes = disk.contents(path);
        if (bytes.length === 0) return;
        if (mask > 0) bytes[at % bytes.length]! ^= mask;
        disk.overwrite(path, mask > 0 ? bytes : bytes.slice(0, at % bytes.length));
        const damagedAt = at % bytes.length;
        const isInFront = (each: Stored) => each.writer !== plan[0]!.writer || each.end.segment !== 0 || each.end.offset <= damagedAt;
        const found = merged(disk);
        expect(stored.filter(isInFront).every((each) => found.some((other) => other.admission === each.admission))).toBe(true);
        expect(found.every((each) => stored.some((other) => other.admission === each.admission && other.bytes === each.bytes))).toBe(true);
      }),
    );
  });
});
