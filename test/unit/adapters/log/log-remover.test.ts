// Covered segments leave the log at once and the disk a piece at a time, those of a killed server too.
import { mkdtempSync, readdirSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LogRemover } from "../../../../src/adapters/log/log-remover.ts";
import { listSegments, segmentPath } from "../../../../src/adapters/log/log-segment.ts";
import { until } from "../../../support/until.ts";

const SEGMENT_BYTES = 64 * 1024 * 1024;

describe("the log's remover", () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "vedette-remover-"));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  /** A sparse file. */
  const segment = (number: number, bytes = SEGMENT_BYTES) => {
    const path = segmentPath(directory, 1, 0, number);
    writeFileSync(path, "");
    truncateSync(path, bytes);
    return path;
  };
  const names = () => readdirSync(directory).sort();
  const left = (count: number) => until("files that are left", names, ({ length }) => length === count, { everyMs: 5 });

  it("takes a segment out of the log at once, and frees it in steps", async () => {
    const remover = new LogRemover([directory]);
    const [first, second] = [segment(0), segment(1)];
    expect(remover.discard(first)).toBe(true);
    expect(listSegments(directory).map(({ path }) => path)).toEqual([second]);
    const sizes = new Set<number>();
    const isGone = () => {
      const left = names().find((name) => name.endsWith(".discarded"));
      // It may go between the two calls.
      const size = left === undefined ? undefined : statSync(join(directory, left), { throwIfNoEntry: false })?.size;
      if (size !== undefined) sizes.add(size);
      return left === undefined;
    };
    await until("the segment is gone", isGone, Boolean, { everyMs: 5 });
    expect(sizes.size).toBeGreaterThan(2);
    expect(statSync(second).size).toBe(SEGMENT_BYTES);
  });

  it("frees one after another what is discarded meanwhile, small and empty ones too", async () => {
    const remover = new LogRemover([directory]);
    for (const [number, bytes] of [SEGMENT_BYTES, 0, 1, 5_000_000].entries()) expect(remover.discard(segment(number, bytes))).toBe(true);
    await left(0);
    expect(remover.discard(segment(4))).toBe(true);
    await left(0);
  });

  it("says of one that has gone already that it has", () => {
    expect(new LogRemover([directory]).discard(segmentPath(directory, 1, 0, 7))).toBe(false);
  });

  it("frees what a killed server has left, and nothing else", async () => {
    const [kept, gone] = [segment(1), segment(0)];
    renameSync(gone, `${gone}.discarded`);
    new LogRemover([directory]);
    await left(1);
    expect(listSegments(directory).map(({ path }) => path)).toEqual([kept]);
    new LogRemover([join(directory, "missing")]);
  });

  it("leaves nothing when it is stopped", async () => {
    const remover = new LogRemover([directory]);
    for (let number = 0; number < 10; number++) remover.discard(segment(number));
    await remover.stop();
    expect(names()).toEqual([]);
  });
});
