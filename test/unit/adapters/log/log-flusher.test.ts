import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

const flushed = vi.hoisted(() => [] as string[]);
vi.mock("node:fs/promises", async (original) => {
  const real = await original<typeof import("node:fs/promises")>();
  const open = (path: string, flags: string) => {
    flushed.push(path.slice(-12));
    return real.open(path, flags);
  };
  return { ...real, open };
});

import { LogFlusher } from "../../../../src/adapters/log/log-flusher.ts";

describe("log flusher", () => {
  let folder: string;
  const segment = (number: number) => join(folder, `e0000000001-0000-${String(number).padStart(8, "0")}.log`);
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "vedette-flusher-"));
    flushed.length = 0;
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it("flushes what has grown, once, and forgets what is gone", async () => {
    const flusher = new LogFlusher(folder);
    await flusher.flush();
    writeFileSync(segment(0), "a block");
    writeFileSync(segment(1), "");
    await flusher.flush();
    await flusher.flush();
    expect(flushed).toEqual(["00000000.log"]);
    appendFileSync(segment(1), "another");
    rmSync(segment(0));
    await flusher.flush();
    expect(flushed).toEqual(["00000000.log", "00000001.log"]);
  });

  it("does not begin a round while one is under way", async () => {
    writeFileSync(segment(0), "a block");
    const flusher = new LogFlusher(folder);
    await Promise.all([flusher.flush(), flusher.flush()]);
    expect(flushed).toHaveLength(1);
  });

  it("says what the last whole round found while one is under way, so that nobody takes a part for all", async () => {
    writeFileSync(segment(0), "a block");
    const flusher = new LogFlusher(folder);
    await flusher.flush();
    const round = flusher.flush();
    expect([...flusher.flushed.values()]).toEqual([7]);
    await round;
  });
});
