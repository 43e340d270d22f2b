// `vedette rules test`: tests of rules in promtool's format. Output and exit codes are promtool's.
// Paths of a file that names others by patterns, as Go's filepath.Glob finds them: * and ? stand for what is within one name.

import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { findPattern, PatternError } from "../../domain/promql/labels/pattern.ts";
import type { RuleGroup } from "../../domain/rules/file/rule-group.ts";
import { RuleFileError } from "../../domain/rules/file/yaml-tree.ts";
import { type RuleTestFile, readRuleTestFile } from "../../domain/rules/unit-test/rule-test-file.ts";
import { runRuleTest } from "../../domain/rules/unit-test/rule-test-run.ts";
import { EXIT, UsageError } from "../../server/exit-code.ts";
import { writeError, writeLine } from "../../server/terminal.ts";
import { writeJson } from "../client/table-text.ts";
import type { CommandArguments } from "../command-arguments.ts";
import { readRules } from "./rules-check.ts";

const PATTERN_SIGN = /[*?[]/;

/** A character, a class of characters, or a sign of a pattern. */
const PATTERN_PART = /\[\^?(?:\\?[^\]\\-](?:-\\?[^\]\\-])?)+\]|\\?[^[\\]|\\[[\\]/gu;

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

/** Paths that a pattern finds, ascending; it counts from `folder` where it is relative. */
export function matchingPaths(folder: string, pattern: string): string[] {
  const whole = isAbsolute(pattern) ? pattern : join(folder, pattern);
  let found = [whole.startsWith("/") ? "/" : ""];
  for (const name of whole.split("/").filter(Boolean)) {
    found = found.flatMap((path) => (PATTERN_SIGN.test(name) ? namesIn(path, name) : [join(path, name)]));
  }
  return found.filter(isThere).sort();
}

/** A pattern that cannot be read, in the words of Go. */
export class PathPatternError extends Error {
  override readonly name = "PathPatternError";
}

/** The pattern as a regular expression. Throws PathPatternError where a class has no end, is empty, or nothing follows a backslash. */
function matcherOf(pattern: string): RegExp {
  const parts = pattern.match(PATTERN_PART) ?? [];
  if (parts.join("").length < pattern.length) throw new PathPatternError("syntax error in pattern");
  return new RegExp(`^${parts.map(partSource).join("")}$`, "u");
}

function partSource(part: string): string {
  if (part === "*") return "[^/]*";
  if (part === "?") return "[^/]";
  if (part.startsWith("[")) return part.replaceAll("&&", "&\\&");
  return part
    .replace(/^\\/u, "")
    .replaceAll(/[.+*?^${}()|[\]\\/-]/g, "\\$&")
    .replace("\\-", "-");
}

function namesIn(folder: string, pattern: string): string[] {
  const matcher = matcherOf(pattern);
  try {
    return readdirSync(folder === "" ? "." : folder)
      .filter((name) => matcher.test(name))
      .map((name) => join(folder, name));
  } catch {
    return [];
  }
}

function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}
