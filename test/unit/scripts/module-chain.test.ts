/** The longest chain of modules is counted by what their files import. */
import { expect, it } from "vitest";
// @ts-expect-error: scripts are JavaScript without declarations
import { importedModules, longestChain } from "../../../scripts/module-chain.mjs";

const file = (module: string, ...imported: readonly string[]) => ({
  path: `src/modules/${module}/${module}-module.ts`,
  text: imported.map((other) => `import type { A } from "../${other}/a.ts";\n`).join(""),
});

it.each([
  { what: "none without modules", files: [{ path: "src/main.ts", text: 'import "./modules/alerts/a.ts";' }], chain: [] },
  { what: "of one module that imports itself alone", files: [file("alerts", "alerts")], chain: ["alerts"] },
  {
    what: "the longest of several ways down",
    files: [file("rules", "alerts", "state"), file("alerts", "labels"), file("labels", "state"), file("state")],
    chain: ["rules", "alerts", "labels", "state"],
  },
])("is $what", ({ files, chain }) => {
  expect(longestChain(importedModules(files))).toEqual(chain);
});
