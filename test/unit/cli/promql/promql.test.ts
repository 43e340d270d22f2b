import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { readCommandLine } from "../../../../src/cli/command-arguments.ts";
import { runPromqlEval } from "../../../../src/cli/promql/promql-eval.ts";
import { runPromqlFormat } from "../../../../src/cli/promql/promql-format.ts";
import { type CommandOutput, outputOf } from "../../../support/command-output.ts";

function run(...argv: string[]): CommandOutput {
  const line = readCommandLine(["promql", ...argv]);
  return outputOf(() => (argv[0] === "format" ? runPromqlFormat(line.arguments) : runPromqlEval(line.arguments, () => 0)));
}

const folder = mkdtempSync(join(tmpdir(), "vedette-promql-"));
const series = join(folder, "series.txt");
writeFileSync(series, 'load 1m\nup{job="a"} 1 0 1\nup{job="b"} 0+1x2\n');

afterEach(() => vi.restoreAllMocks());
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("vedette promql format", () => {
  it("prints the canonical form, or the fault with line and column", () => {
    expect(run("format", "SUM(up)BY(job)")).toEqual({ code: 0, out: "sum by (job) (up)\n", error: "" });
    expect(run("format", "sum(\nup")).toEqual({ code: 1, out: "", error: "2:3: parse error: unclosed left parenthesis\n" });
    expect(run("format", "--json", "up+1").out).toBe('{\n  "expression": "up + 1"\n}\n');
    expect(JSON.parse(run("format", "--json", "up+").out)).toEqual({ error: "1:4: parse error: unexpected end of input" });
    expect(() => run("format")).toThrow("needs an EXPR");
  });
});

describe("vedette promql eval", () => {
  it("prints a table of the last moment", () => {
    expect(run("eval", "--series", series, "up").out).toBe('SERIES       VALUE\nup{job="a"}  1\nup{job="b"}  2\n');
    expect(run("eval", "--series", series, "up > 9").out).toBe("no series\n");
    expect(run("eval", "--series", series, "1 + 1").out).toBe("2\n");
    expect(run("eval", "--series", series, "up[2m]").out).toContain('up{job="a"}  0 @60 1 @120');
  });

  it("prints what Prometheus' API answers, with warnings", () => {
    const { out } = run("eval", "--series", series, "--time", "1m", "--json", "rate(up[2m])");
    expect(JSON.parse(out)).toEqual({
      status: "success",
      data: {
        resultType: "vector",
        result: [
          { metric: { job: "a" }, value: [60, "0"] },
          { metric: { job: "b" }, value: [60, "0.008333333333333333"] },
        ],
      },
      warnings: [],
      infos: [expect.stringContaining("(1:6)")],
    });
  });

  it("ends with 1 where the query cannot be evaluated, and names a file that cannot be read", () => {
    expect(run("eval", "--series", series, "topk(NaN, up)")).toEqual({ code: 1, out: "", error: "Parameter value is NaN\n" });
    expect(() => run("eval", "--series", join(folder, "none"), "up")).toThrow("cannot be read");
    expect(() => run("eval", "--series", series, "--time", "soon", "up")).toThrow("--time must be");
    expect(() => run("eval", "up")).toThrow("needs --series FILE");
  });
});
