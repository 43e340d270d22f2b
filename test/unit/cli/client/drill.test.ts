import { expect, it } from "vitest";
import { runDrill } from "../../../../src/cli/client/drill.ts";
import { readCommandLine } from "../../../../src/cli/command-arguments.ts";

const drill = (...argv: string[]) => runDrill(readCommandLine(["drill", ...argv]).arguments, { VEDETTE_URL: "http://127.0.0.1:1" });

it("a drill wakes nobody without a question: where nobody can be asked it wants --yes", async () => {
  await expect(drill()).rejects.toThrow(/--yes/);
  await expect(drill("--channel", "pager", "--rule", "r", "--yes")).rejects.toThrow(/not both/);
  // With it, the server is asked.
  await expect(drill("--yes", "--channel", "pager")).rejects.toThrow(/no server answers/);
});
