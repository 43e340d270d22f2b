/** What `make check` counts in the house, and that each of its guards can fail. */
import ts from "typescript";
import { describe, expect, it } from "vitest";
// @ts-expect-error: scripts are JavaScript without declarations
import { compare, lowered, raised } from "../../../scripts/house-ceilings.mjs";
// @ts-expect-error: scripts are JavaScript without declarations
import * as guards from "../../../scripts/house-guards.mjs";
// @ts-expect-error: scripts are JavaScript without declarations
import { commentsOf, namedPaths, stalePaths, Tree } from "../../../scripts/stale-paths.mjs";

const sourceOf = (text: string) => ts.createSourceFile("made-up.ts", text, ts.ScriptTarget.Latest, false);

describe("paths that prose names", () => {
  const tree = new Tree(["src/domain/series/series-page.ts", "test/unit/domain/series/series-page.test.ts", "docs/alerts.md"]);
  const stale = (text: string) => stalePaths([{ line: 7, text }], tree).map(({ path }: { path: string }) => path);

  it.each([
    "see series-page.ts and domain/series/series-page.ts",
    "`unit/domain/series/series-page`, `src/domain/series`, docs/alerts.md",
    "`domain/series/series-*.ts`, `series/{series-page,series-page}.ts`, [a page](../../../docs/alerts.md)",
    "https://example.com/src/gone.ts, dist/gone.mjs, api/v1/rules and text/plain",
  ])("takes %s", (text) => {
    expect(stale(text)).toEqual([]);
  });

  it.each([
    ["what `gone.ts` does", ["gone.ts"]],
    ["`domain/gone/` and `unit/gone`", ["domain/gone", "unit/gone"]],
    ["modules/gone, server/gone, `web/gone`, api/gone", ["modules/gone", "server/gone", "web/gone", "api/gone"]],
    ["`series/{series-page,gone}.ts`", ["series/gone.ts"]],
    ["`domain/series/gone-*.ts`, src/gone.ts.", ["domain/series/gone-*.ts", "src/gone.ts"]],
  ])("finds %s", (text, paths) => {
    expect(stale(text)).toEqual(paths);
  });

  it("looks at comments alone in sources", () => {
    expect(commentsOf('const a = "gone.ts"; // of front.ts\n/** engine.ts */\nimport "./main.ts";')).toEqual([
      { line: 1, text: " // of front.ts" },
      { line: 2, text: "/** engine.ts */" },
    ]);
    expect(namedPaths("// of front.ts")).toEqual(["front.ts"]);
  });
});

it("names what two files are called", () => {
  expect(guards.twinNames(["src/view/feed.ts", "src/pages/feed.tsx", "src/a.ts"])).toEqual(["feed"]);
});

it("counts words of declared names, however they are written, and not those of imports or uses", () => {
  const source = sourceOf(
    'import { heldRow } from "x"; const HELD_MAX = heldRow; class A { #heldRows = 1; upheld(held: number) { return held; } }',
  );
  expect(guards.refusedWords(guards.declaredNames(source))).toMatchObject({ held: 3, lane: 0 });
  expect(guards.refusedWords(["places", "isPlaced", "looked"], guards.REFUSED_FORMS)).toMatchObject({ places: 1, placed: 1, looked: 1 });
  expect(guards.refusedWords(["constructor", "toString"])).toEqual(guards.refusedWords([]));
});

it("finds doc comments that say nothing", () => {
  const text = [
    "/** A moment. */",
    "interface Moment {}",
    "/** The row of an alert, its bytes. */",
    "const alertRowBytes = 1;",
    "/** Rows of ended alerts, oldest first; the newest is shown. */",
    "const rows = 2;",
  ].join("\n");
  expect(guards.emptyComments(text)).toEqual(["A moment.", "The row of an alert, its bytes."]);
});

it("finds constants of one name and one value in two files, and not those of another value", () => {
  const constants = (text: string) => guards.constantsOf(sourceOf(text));
  const files = [
    { path: "a.ts", constants: constants("const DAY_MS = 86_400_000; const ROWS_MAX = 5; const PAUSE_MS = 60 * 1_000;") },
    { path: "b.ts", constants: constants("export const DAY_MS = 86400000; const ROWS_MAX = 6; const PAUSE_MS = 60_000;") },
  ];
  expect(guards.repeatedConstants(files)).toEqual(["DAY_MS = 86400000: a.ts, b.ts", "PAUSE_MS = 60000: a.ts, b.ts"]);
});

it("counts waits for a time in tests, and no other timers", () => {
  const pauses = (text: string) => guards.pausesOf(sourceOf(text));
  expect(pauses("for (;;) await new Promise((resolve) => setTimeout(resolve, 5));")).toBe(1);
  expect(pauses("await new Promise<void>((done) => { setTimeout(done, 5); });")).toBe(1);
  expect(pauses('import { setTimeout as pause } from "node:timers/promises"; await pause(5); await pause(9);')).toBe(2);
  expect(pauses('const late = setTimeout(stop, 9); await until("a row", look);')).toBe(0);
});

it("counts time limits of tests and hooks below the suite's, and no longer ones", () => {
  const limits = (text: string) => guards.tightLimitsOf(sourceOf(text), 360_000);
  expect(limits('it("ends", { timeout: 60_000 }, () => {}); it("ends", () => {}, 60_000); beforeAll(() => {}, 5_000);')).toBe(3);
  expect(limits('it.each([1, 2])("ends %d", () => {}, 60_000);')).toBe(1);
  expect(limits('it("ends", () => {}, 1_200_000); it("ends", () => {}); later(() => {}, 5);')).toBe(0);
});

describe("ceilings", () => {
  const ceilings = { words: 10, names: ["a", "b"], refused: { held: 2 } };

  it("takes what is at or below them", () => {
    expect(compare(ceilings, { words: 10, names: ["a"], refused: { held: 1 } })).toEqual([]);
  });

  it.each([
    [{ words: 11, names: [], refused: { held: 0 } }, "words: 11, at most 10"],
    [{ words: 1, names: ["c"], refused: { held: 0 } }, "names: c is new"],
    [{ words: 1, names: [], refused: { held: 3 } }, "refused held: 3, at most 2"],
    [{ words: 1, names: [], refused: { held: 0, lane: 1 } }, "refused lane has no ceiling"],
  ])("finds what is above: %j", (counts, finding) => {
    expect(compare(ceilings, counts)).toEqual([expect.stringContaining(finding)]);
  });

  it("may not be raised, and a new one may come", () => {
    expect(raised(ceilings, { words: 9, names: ["a"], refused: { held: 2 }, lines: 7 })).toEqual([]);
    expect(raised(ceilings, { words: 11, names: ["a", "c"], refused: { held: 3 } })).toEqual([
      expect.stringContaining("words: 11, at most 10"),
      expect.stringContaining("names: c is new"),
      expect.stringContaining("held: 3, at most 2"),
    ]);
  });

  it("only fall", () => {
    expect(lowered(ceilings, { words: 12, names: ["b", "c"], refused: { held: 1 } })).toEqual({
      words: 10,
      names: ["b"],
      refused: { held: 1 },
    });
  });
});

it("counts the words of a page as they are written", () => {
  expect(guards.pageWords("# One\n\n| two | three |\n")).toBe(7);
  expect(guards.pageWords("One<!-- bench disk: a -->\nb=2 # bench disk: a b\n")).toBe(2);
});
