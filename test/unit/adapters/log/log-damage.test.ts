// Logs that were damaged after they had been written: what is whole is read, what is missing is counted in blocks and rows, and a write that a kill cut off is no damage.
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LogFlaws } from "../../../../src/actors/front/log-flaws.ts";
import { type LogPosition, writeBlockHeader } from "../../../../src/adapters/log/block-format.ts";
import { keepingDamaged } from "../../../../src/adapters/log/damaged-bytes.ts";
import { nodeFileSystem } from "../../../../src/adapters/log/log-file-system.ts";
import { mergeBlocks, writerKey } from "../../../../src/adapters/log/log-merge.ts";
import { listSegments, segmentPath } from "../../../../src/adapters/log/log-segment.ts";
import { openLogWriter } from "../../../../src/adapters/log/log-writer.ts";
import { crc32 } from "../../../../src/core/hashing/crc32.ts";
import type { LogFlaw } from "../../../../src/core/protocol/data-fault.ts";
import { MemoryDisk } from "../../../support/memory-log.ts";

const DISK = "/data/log";
/** Bytes of a block of these tests: a header and 40 of payload. */
const BLOCK = 88;
/** Of a segment: five blocks. */
const SEGMENT = 5 * BLOCK;

/** A log of `blocks` blocks, block i of i + 1 rows and admission i. */
function written(blocks: number, segmentBytes = SEGMENT): MemoryDisk {
  const disk = new MemoryDisk();
  const writer = openLogWriter({ directory: DISK, dataDir: "/data", epoch: 1, writer: 0, syncEach: false, segmentBytes }, disk);
  for (let i = 0; i < blocks; i++) writer.append({ admission: i, baseMs: 0, kinds: 0, rows: i + 1 }, [new Uint8Array(40).fill(i)]);
  disk.kill();
  return disk;
}

function read(disk: MemoryDisk, from: ReadonlyMap<string, LogPosition> = new Map(), flushed?: ReadonlyMap<string, number>) {
  const blocks = mergeBlocks(listSegments(DISK, disk), from, disk, flushed);
  const admissions: number[] = [];
  let step = blocks.next();
  for (; !step.done; step = blocks.next()) {
    expect(step.value.payload.every((byte) => byte === (step.value as { header: { admission: number } }).header.admission)).toBe(true);
    admissions.push(step.value.header.admission);
  }
  expect(disk.openDescriptors).toBe(0);
  return { admissions, flaws: step.value };
}

function change(disk: MemoryDisk, segment: number, how: (bytes: Uint8Array) => Uint8Array): void {
  const path = segmentPath(DISK, 1, 0, segment);
  disk.overwrite(path, how(disk.contents(path)));
}

const flip = (at: number) => (bytes: Uint8Array) => bytes.with(at, (bytes[at] as number) ^ 1) as Uint8Array;
const all = (count: number) => Array.from({ length: count }, (_, i) => i);
const rowsOf = (blocks: readonly number[]) => blocks.reduce((sum, i) => sum + i + 1, 0);
const counted = (flaws: readonly LogFlaw[]) => {
  const damages = flaws.filter(({ kind }) => kind === "damaged");
  return [damages.reduce((sum, { blocks }) => sum + (blocks ?? 0), 0), damages.reduce((sum, { rows }) => sum + (rows ?? 0), 0)];
};

describe("a damaged log", () => {
  it("is read around one flipped bit, whose rows are counted", () => {
    const disk = written(10);
    change(disk, 0, flip(2 * BLOCK + 60));
    const path = segmentPath(DISK, 1, 0, 0);
    expect(read(disk)).toEqual({
      admissions: all(10).filter((i) => i !== 2),
      flaws: [{ kind: "damaged", path, offset: 2 * BLOCK, bytes: BLOCK, blocks: 1, rows: 3 }],
    });
  });

  it("whose first block is gone is read behind it", () => {
    const disk = written(4);
    change(disk, 0, flip(0));
    expect(read(disk)).toMatchObject({ admissions: [1, 2, 3], flaws: [{ kind: "damaged", offset: 0, blocks: 1, rows: 1 }] });
  });

  it("that is cut at the end of a segment is damage where a segment with later blocks follows", () => {
    const disk = written(10);
    change(disk, 0, (bytes) => bytes.subarray(0, 3 * BLOCK + 7));
    expect(read(disk)).toMatchObject({
      admissions: [0, 1, 2, 5, 6, 7, 8, 9],
      flaws: [{ kind: "damaged", offset: 3 * BLOCK, bytes: 7, blocks: 2, rows: 9 }],
    });
    change(disk, 0, (bytes) => bytes.subarray(0, 3 * BLOCK));
    expect(read(disk)).toMatchObject({
      flaws: [{ kind: "damaged", path: segmentPath(DISK, 1, 0, 1), offset: 0, bytes: 0, blocks: 2, rows: 9 }],
    });
  });

  it("that lacks a segment in the middle says how many rows that was", () => {
    const disk = written(15);
    disk.unlinkSync(segmentPath(DISK, 1, 0, 1));
    expect(read(disk)).toMatchObject({
      admissions: [0, 1, 2, 3, 4, 10, 11, 12, 13, 14],
      flaws: [{ kind: "damaged", blocks: 5, rows: rowsOf([5, 6, 7, 8, 9]) }],
    });
  });

  it("is a torn end at the last write", () => {
    const disk = written(5);
    for (let bytes = 4 * BLOCK + 1; bytes < 5 * BLOCK; bytes += 3) {
      change(disk, 0, (whole) => Uint8Array.from([...whole.subarray(0, 4 * BLOCK), ...new Uint8Array(bytes - 4 * BLOCK)]));
      expect(read(disk)).toMatchObject({
        admissions: [0, 1, 2, 3],
        flaws: [{ kind: "torn", offset: 4 * BLOCK, bytes: bytes - 4 * BLOCK }],
      });
    }
  });

  it("is damage at the end where that was flushed, and not where a write that failed is followed by the next block", () => {
    const disk = written(5);
    const path = segmentPath(DISK, 1, 0, 0);
    change(disk, 0, (whole) => whole.subarray(0, 4 * BLOCK + 30));
    expect(read(disk, new Map(), new Map([[basename(path), 4 * BLOCK + 1]])).flaws).toMatchObject([
      { kind: "damaged", offset: 4 * BLOCK, blocks: null },
    ]);
    expect(read(disk, new Map(), new Map([[basename(path), 4 * BLOCK]])).flaws).toMatchObject([{ kind: "torn", blocks: null }]);
    const whole = written(10);
    change(whole, 0, (bytes) => Uint8Array.from([...bytes, ...bytes.subarray(0, 30)]));
    expect(read(whole, new Map(), new Map([[basename(path), 5 * BLOCK + 30]])).flaws).toEqual([
      { kind: "torn", path, offset: 5 * BLOCK, bytes: 30, blocks: 0, rows: 0 },
    ]);
  });

  it("does not take an older block behind its end for one that was lost", () => {
    const disk = written(3);
    change(disk, 0, (bytes) => Uint8Array.from([...bytes, ...flip(60)(bytes.subarray(0, BLOCK)), ...bytes.subarray(BLOCK, 2 * BLOCK)]));
    expect(read(disk)).toMatchObject({ admissions: [0, 1, 2], flaws: [{ kind: "torn", offset: 3 * BLOCK, bytes: 2 * BLOCK }] });
  });

  it("counts from a checkpoint's position, where the blocks before tell what is missing", () => {
    const disk = written(10);
    change(disk, 0, flip(2 * BLOCK + 60));
    const from = new Map([[writerKey(1, 0), { segment: 0, offset: 2 * BLOCK }]]);
    expect(read(disk, from)).toMatchObject({ admissions: [3, 4, 5, 6, 7, 8, 9], flaws: [{ kind: "damaged", blocks: 1, rows: 3 }] });
    // Without them it is damage all the same.
    change(disk, 0, flip(60));
    expect(read(disk, from)).toMatchObject({ flaws: [{ kind: "damaged", blocks: null, rows: null }] });
  });

  it("of an earlier version is read, around damage too, which cannot be counted", () => {
    const disk = new MemoryDisk();
    const block = (admission: number) => {
      const bytes = new Uint8Array(32 + 40);
      const view = new DataView(bytes.buffer);
      bytes.set(Buffer.from("VLB2"));
      view.setUint32(8, 40, true);
      view.setFloat64(16, admission, true);
      bytes.fill(admission, 32);
      view.setUint32(4, crc32(bytes.subarray(8)), true);
      return bytes;
    };
    const path = segmentPath(DISK, 1, 0, 0);
    disk.mkdirSync(DISK);
    disk.overwrite(path, Buffer.concat([1, 2, 3].map(block)));
    expect(read(disk)).toEqual({ admissions: [1, 2, 3], flaws: [] });
    change(disk, 0, flip(72 + 40));
    expect(read(disk)).toEqual({ admissions: [1, 3], flaws: [{ kind: "damaged", path, offset: 72, bytes: 72, blocks: null, rows: null }] });
  });

  it("with 2,000 seeded damages never gives a wrong block, and misses none without saying so", () => {
    const damage = fc.oneof(
      fc.record({ kind: fc.constant("flip"), at: fc.nat({ max: 4 * SEGMENT - 1 }), bytes: fc.integer({ min: 1, max: 300 }) }),
      fc.record({ kind: fc.constant("zero"), at: fc.nat({ max: 4 * SEGMENT - 1 }), bytes: fc.integer({ min: 1, max: 2 * SEGMENT }) }),
      fc.record({ kind: fc.constant("cut"), at: fc.nat({ max: 4 * SEGMENT - 1 }), bytes: fc.constant(0) }),
      fc.record({ kind: fc.constant("delete"), at: fc.nat({ max: 4 * SEGMENT - 1 }), bytes: fc.constant(0) }),
    );
    fc.assert(
      fc.property(damage, ({ kind, at, bytes }) => {
        const disk = written(20);
        const segment = Math.floor(at / SEGMENT);
        const offset = at % SEGMENT;
        if (kind === "delete") disk.unlinkSync(segmentPath(DISK, 1, 0, segment));
        else if (kind === "cut") change(disk, segment, (whole) => whole.subarray(0, offset));
        else {
          change(disk, segment, (whole) => {
            const damaged = Uint8Array.from(whole);
            for (let i = offset; i < Math.min(offset + bytes, whole.length); i++)
              damaged[i] = kind === "zero" ? 0 : (damaged[i] as number) ^ (i % 255 || 1);
            return damaged;
          });
        }
        const { admissions, flaws } = read(disk);
        const missing = all(20).filter((i) => !admissions.includes(i));
        expect(admissions).toEqual(all(20).filter((i) => !missing.includes(i)));
        // Blocks behind which others follow are counted; at the very end they look like a write that was cut off.
        const last = admissions.at(-1) ?? -1;
        // A writer whose first segment is gone is one that checkpoints have passed, for all that the reader knows: what must be there is known to the folder (log-inventory).
        const first = kind === "delete" && segment === 0 ? (admissions[0] as number) : 0;
        const inside = missing.filter((i) => i >= first && i < last);
        expect(counted(flaws)).toEqual([inside.length, rowsOf(inside)]);
        if (kind === "flip" && missing.length > inside.length) expect(flaws.some((flaw) => flaw.kind === "torn")).toBe(true);
      }),
      { numRuns: 2_000, seed: 33 },
    );
  });

  it("does not search for ever in what looks like blocks", () => {
    const disk = new MemoryDisk();
    disk.mkdirSync(DISK);
    const claims = new Uint8Array(4 * 1024 * 1024);
    const header = new Uint8Array(48);
    writeBlockHeader(header, { admission: 1, baseMs: 0, kinds: 0, rows: 0, number: 0, rowsBefore: 0 }, []);
    new DataView(header.buffer).setUint32(8, 2 * 1024 * 1024, true);
    for (let at = 8; at + 48 < claims.length; at += 48) claims.set(header, at);
    disk.overwrite(segmentPath(DISK, 1, 0, 0), claims);
    expect(read(disk)).toMatchObject({ admissions: [], flaws: [{ kind: "torn", offset: 0, bytes: claims.length }] });
  });
});

describe("what a start does about it", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "vedette-damage-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it("keeps the bytes aside, whole and once, readable by the owner alone", () => {
    const directory = join(folder, "log");
    const writer = openLogWriter({ directory, dataDir: folder, epoch: 1, writer: 0, syncEach: false }, nodeFileSystem);
    for (let i = 0; i < 3; i++) writer.append({ admission: i, baseMs: 0, kinds: 0, rows: 1 }, [new Uint8Array(40).fill(i)]);
    writer.close();
    const path = segmentPath(directory, 1, 0, 0);
    const damaged = flip(BLOCK + 60)(readFileSync(path));
    nodeFileSystem.closeSync(nodeFileSystem.openSync(path, "w"));
    const descriptor = nodeFileSystem.openSync(path, "r+");
    nodeFileSystem.writevSync(descriptor, [damaged], 0);
    nodeFileSystem.closeSync(descriptor);
    for (const engine of [0, 1])
      expect([...keepingDamaged(mergeBlocks(listSegments(directory), new Map()), folder, engine)]).toHaveLength(2);
    const kept = join(folder, "damaged");
    expect(readdirSync(kept)).toEqual([`e0000000001-0000-00000000-${BLOCK}.bytes`]);
    expect(Buffer.compare(readFileSync(join(kept, readdirSync(kept)[0] as string)), Buffer.from(damaged.subarray(BLOCK, 2 * BLOCK)))).toBe(
      0,
    );
    expect(statSync(join(kept, readdirSync(kept)[0] as string)).mode & 0o777).toBe(0o600);
  });

  it("says it in one line, and names each place once however many engines met it", () => {
    const damage: LogFlaw = { kind: "damaged", path: "log/a.log", offset: 88, bytes: 88, blocks: 2, rows: 30 };
    const flaws = new LogFlaws();
    flaws.add([{ ...damage, blocks: null, rows: null }]);
    flaws.add([damage, { kind: "torn", path: "log/b.log", offset: 8, bytes: 5, blocks: null, rows: null }]);
    const { faults, warning, tornBytes } = flaws.findings("/data/damaged");
    expect(warning).toMatch(/^the log is damaged: 30 rows in 2 blocks cannot be read;[^\n]*kept in \/data\/damaged;[^\n]*$/);
    expect(faults).toEqual([
      {
        id: "log a.log 88",
        kind: "log_damaged",
        what: expect.stringContaining("30 rows in 2 blocks of a.log cannot be read: bytes 88 to 176"),
      },
    ]);
    expect(tornBytes).toBe(5);
    expect([...flaws.tornEnds()]).toEqual([["b.log", 8]]);
    expect(new LogFlaws().findings("x")).toEqual({ faults: [], warning: null, tornBytes: 0 });
  });
});
