// Each kernel beside its slow twins, by CPU.
import { fileURLToPath } from "node:url";
import { ratioLine, takeTurns } from "../turns.mjs";

const kernelsFile = fileURLToPath(new URL("../kernels.mjs", import.meta.url));

const isKernel = (who) => who.startsWith("kernel");

/** @type {import("../turns.mjs").Row} */
export const kernels = {
  name: "kernels",
  what:
    "each kernel beside what does the same without it (npm packages, protobufjs, TypeScript), in one process on one core, with tinybench by the CPU time of the process; before a case is timed its " +
    "contestants must agree; a kernel is to take no more than its fastest twin",
  quick: false,
  async run(context) {
    const measure = async () => JSON.parse(await context.runPinned(process.execPath, [kernelsFile, "--json"]));
    const { kernels: turns } = await takeTurns(context, { kernels: measure });
    const of = (name, who) => turns.map((cases) => cases.find((each) => each.name === name).contestants[who]);
    const lines = turns[0].flatMap(({ name, unit, contestants }) => {
      const [kernel, ...others] = Object.keys(contestants);
      // A case may time parts of the kernel too, or the kernel at something like it.
      const [parts, twins] = [[kernel, ...others.filter(isKernel)], others.filter((who) => !isKernel(who))];
      const own = parts.map((who) => ({ label: `${name}: ${who}`, values: of(name, who), unit: `ns a ${unit}` }));
      return [
        ...own,
        ...twins.map((twin) =>
          ratioLine(`${name}: ${kernel} / ${twin}`, of(name, kernel), of(name, twin), { bar: 1, lowerIsBetter: true }),
        ),
      ];
    });
    return { lines, notMeasured: [] };
  },
};
