// `make promql-test`: plays the promqltest scripts of a folder and prints how many evals pass, a line a file; reads alerting rules too. Exit code 1 where one fails.
// usage: PROMQL_TESTS=folder [PROMQL_RULES=folder] [PROMQL_VERBOSE=1] make promql-test
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { MemoryStorage } from "../../src/domain/promql/memory-storage.ts";
import { QueryBudget } from "../../src/domain/promql/query-budget.ts";
import { queryInstant } from "../../src/domain/promql/query-engine.ts";
import { type Outcome, playScript } from "./script-run.ts";

const ADVICE = `make promql-test needs PROMQL_TESTS=folder: the scripts (*.test) of Prometheus, which are not of this repository.
They are promql/promqltest/testdata of https://github.com/prometheus/prometheus, of version 3.14.
With PROMQL_RULES=folder the expressions of its rule files (*.yml) are read and evaluated too; PROMQL_VERBOSE=1 prints each failure.`;

function files(folder: string, ending: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(ending))
    .sort();
}

function playFile(folder: string, name: string, verbose: boolean): Outcome[] {
  const outcomes = playScript(readFileSync(join(folder, name), "utf8"));
  const stable = outcomes.filter((outcome) => outcome.class === "stable");
  const failed = stable.filter(({ problem }) => problem !== undefined);
  const left = outcomes.length - stable.length;
  console.log(
    `${name.padEnd(32)} ${String(stable.length - failed.length).padStart(4)} passed ${String(failed.length).padStart(4)} failed ${String(left).padStart(4)} left out`,
  );
  for (const { line, expression, problem, note } of verbose ? stable : []) {
    if (problem !== undefined) console.log(`  ${name}:${line} ${expression}\n    ${problem}`);
    if (note !== undefined) console.log(`  ${name}:${line} ${expression}\n    message: ${note}`);
  }
  return outcomes;
}

function playAll(folder: string, verbose: boolean): boolean {
  const outcomes = files(folder, ".test").flatMap((name) => playFile(folder, name, verbose));
  const stable = outcomes.filter((outcome) => outcome.class === "stable");
  const passed = stable.filter(({ problem }) => problem === undefined).length;
  const noted = stable.filter(({ hasNote }) => hasNote);
  const told = noted.filter(({ note }) => note === undefined).length;
  const count = (kind: Outcome["class"]) => outcomes.filter((outcome) => outcome.class === kind).length;
  console.log(`${passed} of ${stable.length} evals pass; messages, warnings and infos: ${told} of ${noted.length}`);
  console.log(`left out: ${count("native")} of native histograms, ${count("flagged")} behind a flag`);
  return passed === stable.length && stable.length > 0;
}

/** Expressions of rules are read and evaluated over nothing. */
function readRules(folder: string): boolean {
  const failures: string[] = [];
  let count = 0;
  const visit = (node: unknown): void => {
    if (typeof node !== "object" || node === null) return;
    for (const [key, value] of Object.entries(node)) {
      if (key !== "expr" || typeof value !== "string") visit(value);
      else {
        count++;
        try {
          queryInstant(value, 0, { storage: new MemoryStorage(), budget: new QueryBudget(() => 0) });
        } catch (error) {
          failures.push(`${value}: ${error instanceof Error ? error.message : error}`);
        }
      }
    }
  };
  for (const name of files(folder, ".yml")) visit(parse(readFileSync(join(folder, name), "utf8")));
  for (const failure of failures) console.log(failure);
  console.log(`${count - failures.length} of ${count} expressions of rules are read and evaluated`);
  return failures.length === 0;
}

const { PROMQL_TESTS, PROMQL_RULES, PROMQL_VERBOSE } = process.env;
if (PROMQL_TESTS === undefined) {
  console.error(ADVICE);
  process.exitCode = 1;
} else {
  const passes = playAll(PROMQL_TESTS, PROMQL_VERBOSE !== undefined);
  const reads = PROMQL_RULES === undefined || readRules(PROMQL_RULES);
  process.exitCode = passes && reads ? 0 : 1;
}
