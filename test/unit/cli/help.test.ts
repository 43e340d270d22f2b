import { describe, expect, it } from "vitest";
import { helpFor } from "../../../src/cli/help.ts";

describe("help", () => {
  it("is the whole text, or a command's own lines", () => {
    for (const whole of ["--help", "-h", "help"]) expect(helpFor(whole, [])).toMatch(/vedette demo[\s\S]*PORT/);
    const replay = helpFor("replay", ["--help"]);
    expect(replay).toMatch(/^ {2}vedette replay FILE [\s\S]*--train FILE/);
    expect(replay).not.toMatch(/vedette backtest|PORT/);
    for (const command of ["demo", "import", "token", "backtest"]) {
      expect(
        helpFor(command, ["-h"])
          ?.split("\n")
          .every((line, i) => line.startsWith(i === 0 ? `  vedette ${command} ` : "    ")),
      ).toBe(true);
    }
    expect(helpFor("serve", ["--help"])).toBe(helpFor("--help", []));
  });

  it("is not what arguments are taken for", () => {
    expect(helpFor("replay", ["a.csv"])).toBeUndefined();
    expect(helpFor("replay", ["--", "--help"])).toBeUndefined();
    expect(helpFor("serve", [])).toBeUndefined();
  });
});
