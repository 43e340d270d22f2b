// CPU before and after a change, in alternating pairs: `node native-bench/before-after.mjs FOLDER [--pairs 9] [--only name,name]`, FOLDER being another checkout with a
// build; prints only.
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createPairContext } from "./pair-context.mjs";
import { comparePairs, ROWS } from "./pairs.mjs";

async function main() {
  const { values, positionals } = parseArgs({
    options: { pairs: { type: "string", default: "9" }, only: { type: "string" } },
    allowPositionals: true,
  });
  const [before] = positionals;
  if (before === undefined) throw new Error("which checkout stands for before? node native-bench/before-after.mjs FOLDER");
  const context = createPairContext();
  const sides = { before, after: join(import.meta.dirname, ".."), pairs: Number(values.pairs) };
  for (const name of values.only?.split(",") ?? Object.keys(ROWS)) console.log((await comparePairs(context, name, sides)).line);
}

await main();
