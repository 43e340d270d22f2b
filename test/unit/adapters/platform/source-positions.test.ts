import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { expect, it } from "vitest";

const built = (path: string) => new URL(`../../../../dist/${path}`, import.meta.url);

/** What a process of its own prints: the hook is of the whole thread. */
function print(program: string): string {
  const lines = [
    `import { nameSources } from ${JSON.stringify(built("adapters/platform/source-positions.js").href)};`,
    "nameSources();",
    program,
  ];
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", lines.join("\n")], { encoding: "utf8" });
  expect(stderr).toBe("");
  return stdout;
}

it("a trace names the source of a built file, and leaves others as they are", () => {
  const trace = print(`
    import { flagsKnownTo } from ${JSON.stringify(built("adapters/platform/v8-policy.js").href)};
    try { flagsKnownTo("99.9", () => { throw new RangeError("asked"); }); } catch (error) { console.log(error.stack); }`);
  expect(trace).toMatch(/^RangeError: asked\n {4}at file:.*\n {4}at flagsKnownTo \(src\/adapters\/platform\/v8-policy\.ts:\d+:\d+\)\n/);
});

it("an error whose name cannot be read has a trace", () => {
  const program = 'const error = new Error("x"); Object.defineProperty(error, "name", { get() { throw 1; } }); console.log(error.stack);';
  expect(print(program)).toMatch(/^Error\n {4}at /);
});

it("the joined files have maps that lead to sources", () => {
  const text = readFileSync(built("actors/engine/worker.js"), "utf8").split("\n");
  const line = text.findIndex((each) => /^function stepAll\(/.test(each));
  const entry = new SourceMap(JSON.parse(readFileSync(built("actors/engine/worker.js.map"), "utf8"))).findEntry(line, 0);
  const sources = readFileSync("src/actors/engine/worker.ts", "utf8").split("\n");
  expect(entry).toMatchObject({ originalSource: expect.stringMatching(/\/src\/actors\/engine\/worker\.ts$/) });
  expect(sources["originalLine" in entry ? entry.originalLine : -1]).toMatch(/^function stepAll\(/);
});
