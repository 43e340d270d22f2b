/** A short file that one other imports is a sliver, but for what its kind says. */
import { expect, it } from "vitest";
// @ts-expect-error: scripts are JavaScript without declarations
import { slivers } from "../../../scripts/slivers.mjs";

const short = "export const a = 1;\n";
const long = short.repeat(40);

it.each([
  {
    what: "a short file with one importer",
    files: [
      { path: "src/x/y/a.ts", text: short },
      { path: "src/x/y/b.ts", text: `import "./a.ts";\n${long}` },
    ],
    found: ["src/x/y/a.ts"],
  },
  { what: "a short file that nobody imports", files: [{ path: "src/x/y/a.ts", text: short }], found: ["src/x/y/a.ts"] },
  {
    what: "a short file that one other and a test import",
    files: [
      { path: "src/x/y/a.ts", text: short },
      { path: "src/x/y/b.ts", text: `import { a } from "./a.ts";\n${long}` },
      { path: "test/a.test.ts", text: 'import { a } from "../src/x/y/a.ts";' },
    ],
    found: ["src/x/y/a.ts"],
  },
  {
    what: "no short file that two others import",
    files: [
      { path: "src/x/y/a.ts", text: short },
      { path: "src/x/y/b.ts", text: `import { a } from "./a.ts";\n${long}` },
      { path: "src/x/y/c.ts", text: `import { a } from "./a.ts";\n${long}` },
    ],
    found: [],
  },
  {
    what: "no short file of another room than its importer",
    files: [
      { path: "src/x/y/a.ts", text: short },
      { path: "src/x/z/b.ts", text: `import { a } from "../y/a.ts";\n${long}` },
    ],
    found: [],
  },
  {
    what: "no short file whose importer is long",
    files: [
      { path: "src/x/y/a.ts", text: short },
      { path: "src/x/y/b.ts", text: `import { a } from "./a.ts";\n${short.repeat(499)}` },
    ],
    found: [],
  },
  { what: "no file of forty lines", files: [{ path: "src/x/y/a.ts", text: long }], found: [] },
  { what: "no module of a noun", files: [{ path: "src/modules/silences/silences-module.ts", text: short }], found: [] },
])("is $what", ({ files, found }) => {
  expect(slivers(files)).toEqual(found);
});
