// What one alert costs a tenant's silences and inhibition rules, at their limits.
import { fileURLToPath } from "node:url";
import { takeTurns } from "../turns.mjs";

const loopFile = fileURLToPath(new URL("../clients/hold-loop.mjs", import.meta.url));
const shapes = {
  letters: "values of 1,000 characters, patterns of 256 bytes",
  long: "values of 8 KiB",
  scripts: "values of 1,000 bytes beyond Latin 1, classes of all scripts",
  windows: "1,000 maintenance windows in 20 zones",
  typical: "names and patterns as services have them",
};

/** @type {import("../turns.mjs").Row} */
export const patterns = {
  name: "patterns",
  what:
    "CPU of asking all silences and inhibition rules about one alert, at the limits of a tenant: 1,000 silences of 32 matchers that all have to be looked at to their last, " +
    "100 rules with a firing source and 16 equal labels of 1,000 characters, 300 patterns, a value that none was asked about before; the built books in a loop of their own on one core",
  quick: true,
  async run(context) {
    const alerts = String(context.quick ? 100 : 400);
    const loop = (shape) => async () => JSON.parse(await context.runPinned(process.execPath, [loopFile, shape, alerts]));
    const turns = await takeTurns(context, Object.fromEntries(Object.keys(shapes).map((shape) => [shape, loop(shape)])));
    const lines = Object.entries(shapes).flatMap(([shape, what]) => {
      const [{ evaluations, characters }] = turns[shape];
      const note = `${evaluations} patterns asked, ${Math.round(characters)} characters`;
      return [
        {
          label: `${what}, mean`,
          values: turns[shape].map(({ meanMs }) => meanMs),
          unit: "ms of CPU an alert",
          bar: 10,
          lowerIsBetter: true,
          note,
        },
        { label: `${what}, p99`, values: turns[shape].map(({ p99Ms }) => p99Ms), unit: "ms of CPU an alert" },
      ];
    });
    return { lines, notMeasured: [] };
  },
};
