// Segments that the log no longer needs: kept while a backup reads and up to a bound, else gone at once.
import { mkdirSync, mkdtempSync, rmSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { archiveDirectory, LogArchive } from "../../../../src/adapters/log/log-archive.ts";
import { listSegments, segmentPath } from "../../../../src/adapters/log/log-segment.ts";
import { logDirectory } from "../../../../src/adapters/log/meta-file.ts";

const BYTES = 1_000;

describe("the archive of the log", () => {
  let dataDir: string;
  let freed: string[];
  /** Frees as the server's own does, and says what. */
  const remover = {
    discard: (path: string) => {
      rmSync(path);
      freed.push(basename(path));
      return true;
    },
  };
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), "vedette-archive-"));
    mkdirSync(logDirectory(dataDir));
    freed = [];
  });
  afterEach(() => rmSync(dataDir, { recursive: true }));

  const segment = (number: number) => {
    const path = segmentPath(logDirectory(dataDir), 1, 0, number);
    writeFileSync(path, "");
    truncateSync(path, BYTES);
    utimesSync(path, number + 1, number + 1);
    return path;
  };
  const kept = () => listSegments(archiveDirectory(dataDir)).map(({ segment: number }) => number);
  const retire = (archive: LogArchive, ...numbers: number[]) => {
    for (const number of numbers) archive.retire(segment(number));
  };

  it("keeps nothing without a bound, but all of it while a backup is made", () => {
    const archive = new LogArchive(dataDir, 0, remover);
    retire(archive, 0);
    expect(kept()).toEqual([]);
    archive.lock();
    retire(archive, 1, 2);
    expect([kept(), freed.length]).toEqual([[1, 2], 1]);
    archive.release(() => false);
    expect([kept(), freed.length]).toEqual([[], 3]);
  });

  it("keeps the newest up to its bound, and those behind a backup", () => {
    const archive = new LogArchive(dataDir, 3 * BYTES, remover);
    retire(archive, 0, 1, 2, 3, 4);
    expect(kept()).toEqual([2, 3, 4]);
    archive.lock();
    retire(archive, 5, 6);
    expect(kept()).toEqual([2, 3, 4, 5, 6]);
    archive.release(({ segment: number }) => number < 5);
    expect([kept(), archive.bytes]).toEqual([[5, 6], 2 * BYTES]);
  });

  it("frees at the start what a setting no longer keeps, and passes over a segment that has gone", () => {
    retire(new LogArchive(dataDir, 3 * BYTES, remover), 0, 1);
    const archive = new LogArchive(dataDir, 0, remover);
    expect(kept()).toEqual([]);
    archive.lock();
    archive.retire(segmentPath(logDirectory(dataDir), 1, 0, 9));
    expect(kept()).toEqual([]);
  });
});
