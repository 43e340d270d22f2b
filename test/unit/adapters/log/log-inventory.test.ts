// A start knows of every segment that somebody was answered for, from its first block on, whatever of the log is gone; a segment that holds none stops no start.
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FlushCycles } from "../../../../src/adapters/log/flush-cycles.ts";
import { InventoryKeeper, notedSegments, readInventory } from "../../../../src/adapters/log/log-inventory.ts";
import { listSegments, segmentPath } from "../../../../src/adapters/log/log-segment.ts";
import { LogWriteError, type LogWriter, openLogWriter } from "../../../../src/adapters/log/log-writer.ts";
import { logDirectory, type Meta } from "../../../../src/adapters/log/meta-file.ts";
import { closeFolder } from "../../../../src/adapters/log/private-folder.ts";
import { lostLog } from "../../../../src/modules/state/log-coverage.ts";
import { findData } from "../../../../src/server/found-data.ts";
import { MemoryDisk } from "../../../support/memory-log.ts";
import { until } from "../../../support/until.ts";

const META: Meta = { version: 1, epoch: 2, hasStores: false, seed: "0".repeat(64) };
const name = (segment: number) => basename(segmentPath("", 1, 0, segment));
const append = (writer: LogWriter) => writer.append({ admission: 1, baseMs: 0, kinds: 0, rows: 1 }, [new Uint8Array(40)]);

describe("a segment", () => {
  let dataDir: string;
  let writer: LogWriter;
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), "vedette-inventory-"));
    writer = openLogWriter({ directory: logDirectory(dataDir), dataDir, epoch: 1, writer: 0, syncEach: false });
    for (const store of ["control", "series"]) {
      mkdirSync(join(dataDir, store));
      writeFileSync(join(dataDir, store, "data.mdb"), "");
    }
  });
  afterEach(() => {
    writer.close();
    rmSync(dataDir, { recursive: true, force: true });
  });
  const remove = (segment: number) => rmSync(segmentPath(logDirectory(dataDir), 1, 0, segment));
  /** What a start that has no checkpoints says is lost. */
  const lost = () => lostLog(findData(dataDir, META, false), [], []);
  const noteAll = async (inventory: InventoryKeeper = new InventoryKeeper(dataDir, 1)) => {
    const sizes = listSegments(logDirectory(dataDir)).map(({ path }): [string, number] => [path, statSync(path).size]);
    await inventory.note(new Map(sizes), [writer.position]);
  };

  it("is missed from its first block on, the log's folder with it", () => {
    append(writer);
    remove(0);
    expect(lost()).toEqual([name(0)]);
    rmSync(logDirectory(dataDir), { recursive: true });
    expect(lost()).toEqual([name(0)]);
  });

  it("is missed from its first block on where the inventory knows older ones", async () => {
    append(writer);
    await noteAll();
    writer.endSegment();
    append(writer);
    remove(1);
    expect(lost()).toEqual([name(1)]);
  });

  it("without a block is not missed, whoever has seen it", async () => {
    await noteAll();
    remove(0);
    expect(lost()).toBeNull();
  });

  it("has a note of its own until the inventory has it, and none when it was deleted", async () => {
    const inventory = new InventoryKeeper(dataDir, 1);
    append(writer);
    expect(notedSegments(dataDir)).toEqual([name(0)]);
    expect(closeFolder(dataDir)).toEqual({ failed: [], strange: [], exposed: [] });
    await inventory.note(new Map(), []);
    expect(notedSegments(dataDir)).toEqual([name(0)]);
    await noteAll(inventory);
    expect([notedSegments(dataDir), [...(readInventory(dataDir) ?? [])]]).toEqual([[], [[name(0), 88]]]);
    writer.endSegment();
    append(writer);
    expect(notedSegments(dataDir)).toEqual([name(1)]);
    writer.endSegment();
    remove(1);
    await noteAll(inventory);
    expect([notedSegments(dataDir), [...(readInventory(dataDir) ?? [])]]).toEqual([[], [[name(0), 88]]]);
    expect(readdirSync(dataDir).sort()).toEqual(["control", "log", "log-inventory.json", "series"]);
  });

  it("is noted with its growth in each round", async () => {
    const inventory = new InventoryKeeper(dataDir, 1);
    for (let blocks = 1; blocks <= 3; blocks++) {
      append(writer);
      await noteAll(inventory);
      expect(readInventory(dataDir)?.get(name(0))).toBe(88 * blocks);
    }
  });

  it("of an earlier start is noted up to its last whole block, once that is known", async () => {
    append(writer);
    await noteAll();
    append(writer);
    appendFileSync(segmentPath(logDirectory(dataDir), 1, 0, 0), new Uint8Array(50));
    const next = new InventoryKeeper(dataDir, 2);
    await noteAll(next);
    expect(readInventory(dataDir)?.get(name(0))).toBe(88);
    next.takeRead(new Map([[name(0), 176]]));
    await noteAll(next);
    expect(readInventory(dataDir)?.get(name(0))).toBe(176);
    const third = new InventoryKeeper(dataDir, 3);
    third.takeRead(new Map());
    await noteAll(third);
    expect(readInventory(dataDir)?.get(name(0))).toBe(226);
  });

  it("is there before its note, and its note before its block", () => {
    const disk = new MemoryDisk();
    const options = { directory: "/data/log", dataDir: "/data", epoch: 1, writer: 0, syncEach: true };
    const own = openLogWriter(options, disk);
    const notes = () => disk.readdirSync("/data").filter((each) => each.startsWith("noted."));
    expect([listSegments(options.directory, disk).length, notes()]).toEqual([1, []]);
    disk.failNext("openSync", "ENOSPC");
    expect(() => append(own)).toThrow(LogWriteError);
    expect([own.bytesWritten, disk.usedBytes]).toEqual([0, 0]);
    disk.failNext("writevSync", "ENOSPC");
    expect(() => append(own)).toThrow(LogWriteError);
    expect([notes(), disk.usedBytes]).toEqual([[`noted.${name(0)}`], 0]);
    append(own);
    expect(disk.usedBytes).toBe(88);
    own.close();
    expect(disk.openDescriptors).toBe(0);
  });
});

describe("rounds of flushes", () => {
  it("are one at a time, go on after a failure, and are over when they are stopped", async () => {
    let [begun, running, most] = [0, 0, 0];
    const ends: Array<() => void> = [];
    const rounds = new FlushCycles(async () => {
      begun++;
      most = Math.max(most, ++running);
      await new Promise<void>((resolve) => ends.push(resolve));
      running--;
      throw new Error("a full disk");
    }, 1);
    rounds.start();
    for (let round = 1; round <= 3; round++) {
      await until("a flush", () => ends.length > 0);
      await new Promise((resolve) => setTimeout(resolve, 5));
      expect(begun).toBe(round);
      ends.shift()?.();
    }
    await until("another flush", () => ends.length > 0);
    const stopped = rounds.stop();
    ends.shift()?.();
    await stopped;
    expect([running, most]).toEqual([0, 1]);
  });
});
