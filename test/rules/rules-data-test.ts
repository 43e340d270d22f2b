// `make rules-test`: exit codes of `vedette rules check` and `vedette rules test` over promtool's own data, and a folder of public rules, all of which are loaded
// and evaluated. Exit code 1 where one differs. usage: RULES_TESTS=folder RULES_FILES=folder make rules-test
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { NO_LABELS } from "../../src/domain/promql/labels/labels.ts";
import { MemoryStorage } from "../../src/domain/promql/memory-storage.ts";
import { QueryBudget } from "../../src/domain/promql/query-budget.ts";
import { queryInstant } from "../../src/domain/promql/query-engine.ts";
import { compileGroup, evaluateGroup } from "../../src/domain/rules/evaluation/group-evaluation.ts";
import { readRuleFile } from "../../src/domain/rules/file/rule-file.ts";

const ADVICE = `make rules-test needs RULES_TESTS=folder, cmd/promtool/testdata of https://github.com/prometheus/prometheus, of version 3.14,
and RULES_FILES=folder, files of alerting rules (*.yml); neither is of this repository.`;

// biome-ignore format: one row a code
const CODES = {
  test: {
    0: ["unittest", "long-period", "at-modifier-test", "negative-offset-test", "no-test-group-interval", "start-time-test"],
    1: ["bad-input-series", "bad-promql", "bad-rules-syntax-test", "bad-rules-error-test", "failing", "rules_run"],
  },
  check: {
    0: ["rules", "rules_duplicates", "prometheus-rules.lint", "at-modifier", "negative-offset", "bad-rules-error"],
    1: ["rules-bad", "rules_extrafields", "bad-rules-syntax", "unittest", "failing"],
  },
} as const;

/** Problems of exit codes. */
function codeProblems(folder: string): string[] {
  return Object.entries(CODES).flatMap(([command, codes]) =>
    Object.entries(codes).flatMap(([code, names]) =>
      names.flatMap((name: string) => {
        const { status } = spawnSync(process.execPath, ["dist/main.js", "rules", command, join(folder, `${name}.yml`)]);
        return status === Number(code) ? [] : [`rules ${command} ${name}.yml ends with ${status}, expected ${code}`];
      }),
    ),
  );
}

/** Problems of rules: faults of their files, and errors of their evaluation over nothing. */
function ruleProblems(folder: string): { readonly count: number; readonly problems: string[] } {
  const world = {
    externalLabels: NO_LABELS,
    externalUrl: "http://localhost",
    query: (text: string, timeMs: number) =>
      queryInstant(text, timeMs, { storage: new MemoryStorage(), budget: new QueryBudget(() => 0) }).value,
    record: () => {},
  };
  let count = 0;
  const problems: string[] = [];
  for (const name of readdirSync(folder).filter((one) => one.endsWith(".yml"))) {
    const file = readRuleFile(readFileSync(join(folder, name), "utf8"));
    problems.push(...file.problems.map((problem) => `${name}: ${problem}`));
    for (const group of file.groups) {
      const states = evaluateGroup(compileGroup(group), [], 1_500_000_000_000, world);
      count += states.length;
      problems.push(
        ...states.flatMap(({ lastError }, index) => (lastError === undefined ? [] : [`${group.rules[index]?.name}: ${lastError}`])),
      );
    }
  }
  return { count, problems };
}

const { RULES_TESTS, RULES_FILES } = process.env;
if (RULES_TESTS === undefined || RULES_FILES === undefined) {
  console.error(ADVICE);
  process.exitCode = 1;
} else {
  const codes = codeProblems(RULES_TESTS);
  const { count, problems } = ruleProblems(RULES_FILES);
  for (const problem of [...codes, ...problems]) console.log(problem);
  console.log(`exit codes: ${codes.length} of 23 differ; ${count} rules loaded and evaluated, ${problems.length} problems`);
  process.exitCode = codes.length + problems.length > 0 || count === 0 ? 1 : 0;
}
