// `vedette rules test`: tests of rules in promtool's format. Output and exit codes are promtool's.
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { findPattern, PatternError } from "../../domain/promql/labels/pattern.ts";
import type { RuleGroup } from "../../domain/rules/file/rule-group.ts";
import { RuleFileError } from "../../domain/rules/file/yaml-tree.ts";
import { type RuleTestFile, readRuleTestFile } from "../../domain/rules/unit-test/rule-test-file.ts";
import { runRuleTest } from "../../domain/rules/unit-test/rule-test-run.ts";
import { EXIT, UsageError } from "../../server/exit-code.ts";
import { writeError, writeLine } from "../../server/terminal.ts";
import { writeJson } from "../client/table-text.ts";
import type { CommandArguments } from "../command-arguments.ts";
import { matchingPaths, PathPatternError } from "./path-pattern.ts";
import { readRules } from "./rules-check.ts";

interface TestOptions {
  readonly canIgnore: boolean;
  readonly isWanted: (name: string) => boolean;
  readonly nowMs: () => number;
}

/** Runs files of tests; exit code 1 where one fails. `nowMs` is a monotonic clock. */
export function runRulesTest(input: CommandArguments, nowMs: () => number): number {
  if (input.operands.length === 0) throw new UsageError("vedette rules test needs a FILE");
  const options = { canIgnore: input.has("ignore-unknown-fields"), isWanted: wantedNames(input.text("run")), nowMs };
  const results = input.operands.map((file) => ({ file, failures: testFile(file, options) }));
  if (input.has("json")) writeJson({ files: results });
  else for (const { file, failures } of results) writeResult(file, failures);
  return results.some(({ failures }) => failures.length > 0) ? EXIT.problems : EXIT.ok;
}

function wantedNames(pattern: string | undefined): (name: string) => boolean {
  if (pattern === undefined) return () => true;
  try {
    findPattern(pattern, "");
  } catch (error) {
    if (error instanceof PatternError) throw new UsageError(`--run must be a pattern: ${error.message}`);
    throw error;
  }
  return (name) => findPattern(pattern, name);
}

function writeResult(file: string, failures: readonly string[]): void {
  writeLine(`Unit Testing:  ${file}`);
  if (failures.length === 0) writeLine("  SUCCESS");
  else for (const line of ["  FAILED:", ...failures]) writeError(line);
  writeLine("");
}

function testFile(path: string, options: TestOptions): string[] {
  try {
    return runFile(path, readRuleTestFile(readFileSync(path, "utf8"), options.canIgnore), options);
  } catch (error) {
    if (error instanceof RuleFileError || error instanceof PathPatternError) return [error.message];
    if (error instanceof Error && "code" in error) return [error.message];
    throw error;
  }
}

function runFile(path: string, file: RuleTestFile, { canIgnore, isWanted, nowMs }: TestOptions): string[] {
  const { evaluationIntervalMs, isFuzzy } = file;
  const tests = file.tests.filter(({ name }) => isWanted(name));
  if (tests.length === 0) return [];
  const { groups, problems } = readGroups(path, file, canIgnore);
  if (problems.length > 0) return problems;
  return tests.flatMap((test) => runRuleTest(test, groups, { evaluationIntervalMs, isFuzzy, nowMs }));
}

/** Groups of the files that a test names, in the order that it wants. */
function readGroups(path: string, { rulePaths, groupOrder }: RuleTestFile, canIgnore: boolean) {
  const groups: RuleGroup[] = [];
  const problems: string[] = [];
  for (const pattern of rulePaths) {
    const paths = matchingPaths(dirname(path), pattern);
    if (paths.length === 0) writeError(`  WARNING: no file match pattern ${pattern}`);
    for (const found of paths) {
      const file = readRules(found, canIgnore);
      groups.push(...file.groups);
      problems.push(...file.problems);
    }
  }
  const order = (group: RuleGroup) => Math.max(0, groupOrder.indexOf(group.name));
  return { groups: groups.sort((a, b) => order(a) - order(b)), problems };
}
