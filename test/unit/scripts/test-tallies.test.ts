/** A run of tests is bounded by its silence, not by its length. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
// @ts-expect-error: scripts are JavaScript without declarations
import { openFiles, readTallies, SilenceWatch } from "../../../scripts/test-tallies.mjs";

const MINUTE_MS = 60_000;
const SILENCE_MS_MAX = 5 * MINUTE_MS;

it("goes on for as long as tests end, however long that is", () => {
  const watch = new SilenceWatch(SILENCE_MS_MAX, 0);
  const tallies: object[] = [{ kind: "file-start", where: "a.test.ts" }];
  for (let minute = 4; minute < 240; minute += 4) {
    tallies.push({ kind: "test", where: "a.test.ts:1" });
    expect(watch.hanging(tallies, minute * MINUTE_MS)).toBeUndefined();
  }
});

it("stops once no test has ended for the whole time, and names the files that are open", () => {
  const watch = new SilenceWatch(SILENCE_MS_MAX, 0);
  const tallies = [
    { kind: "file-start", where: "a.test.ts" },
    { kind: "file-start", where: "b.test.ts" },
    { kind: "test", where: "a.test.ts:1" },
    { kind: "file-end", where: "a.test.ts" },
  ];
  expect(watch.hanging(tallies, MINUTE_MS)).toBeUndefined();
  const more = [...tallies, { kind: "file-start", where: "c.test.ts" }];
  expect(watch.hanging(more, MINUTE_MS + SILENCE_MS_MAX - 1)).toBeUndefined();
  expect(watch.hanging(more, MINUTE_MS + SILENCE_MS_MAX)).toEqual(["b.test.ts", "c.test.ts"]);
});

it("reads what was written before a crash cut the last line off", () => {
  const folder = mkdtempSync(join(tmpdir(), "vedette-tallies-"));
  const path = join(folder, "tallies");
  expect(readTallies(path)).toEqual([]);
  writeFileSync(path, '{"kind":"file-start","where":"a.test.ts"}\n{"kind":"te');
  expect(openFiles(readTallies(path))).toEqual(["a.test.ts"]);
  rmSync(folder, { recursive: true });
});
