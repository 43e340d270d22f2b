import { expect, it } from "vitest";
// @ts-expect-error: the benches are JavaScript without declarations
import { lastWholePage, resultFile } from "../../../native-bench/result-file.mjs";

it("a bench run writes over no page of its day", () => {
  const taken = new Set(["r/2026-11-23.md", "r/2026-11-23-2.md"]);
  const fileOf = (day: string, quick = false) => resultFile("r", new Date(day), { quick, exists: (path: string) => taken.has(path) });
  expect([fileOf("2026-11-22T23:59:59Z"), fileOf("2026-11-23T00:00:00Z"), fileOf("2026-11-23T12:00:00Z", true)]).toEqual([
    "r/2026-11-22.md",
    "r/2026-11-23-3.md",
    "r/quick-2026-11-23.md",
  ]);
});

it("the bench's guard compares with the newest page of all rows", () => {
  const said = (command: string, commit: string) =>
    `# Benches\n\n\`${command}\`, begun 04:13 UTC, took 1 min 31 s, commit ${commit} with changes.\n`;
  const pages: Record<string, string> = {
    "r/2026-11-25.md": said("node native-bench/bench.mjs", "aaaaaaaa"),
    "r/2026-11-25-9.md": said("node native-bench/bench.mjs", "bbbbbbbb"),
    "r/2026-11-25-10.md": said("node native-bench/bench.mjs --repeats 3", "cccccccc"),
    "r/2026-11-26.md": said("node native-bench/bench.mjs --only neighbours --repeats 1", "dddddddd"),
    "r/2026-11-27.md": `${said("node native-bench/bench.mjs --repeats 3", "ffffffff")}\n**Broken off behind row 27 of 41.**\n`,
    "r/quick-2026-11-27.md": said("node native-bench/bench.mjs --quick", "eeeeeeee"),
    "r/web-2026-11-27.md": "# Interface",
  };
  const last = (names: string[]) =>
    lastWholePage(
      "r",
      () => names.map((name) => name.slice(2)),
      (path: string) => pages[path],
    );
  expect(last(Object.keys(pages))).toEqual({ name: "2026-11-25-10.md", commit: "cccccccc" });
  expect(last(["r/2026-11-26.md", "r/web-2026-11-27.md"])).toBeUndefined();
});
