// `vedette rules check`: files of rules as Prometheus reads them, what is wrong with each, and rules that make the same series. Output and exit codes are promtool's.
import { readFileSync } from "node:fs";
import { messageOf } from "../../core/text/error-text.ts";
import { duplicateRules } from "../../domain/rules/file/group-document.ts";
import { type RuleFile, readRuleFile } from "../../domain/rules/file/rule-file.ts";
import { EXIT, UsageError } from "../../server/exit-code.ts";
import { writeError, writeLine } from "../../server/terminal.ts";
import { writeJson } from "../client/table-text.ts";
import type { CommandArguments } from "../command-arguments.ts";

/** What promtool ends with where --lint-fatal is set and its lint finds something. */
const LINT_EXIT = 3;

interface CheckedFile {
  readonly file: string;
  readonly rules: number;
  readonly problems: readonly string[];
  readonly lint: readonly string[];
}

/** Checks files; exit code 1 where one has faults, 3 where only its lint has and --lint-fatal is set. */
export function runRulesCheck(input: CommandArguments): number {
  if (input.operands.length === 0) throw new UsageError("vedette rules check needs a FILE");
  const options = { canIgnore: input.has("ignore-unknown-fields"), hasLint: input.text("lint") !== "none" };
  const checked = input.operands.map((file) => checkFile(file, options));
  if (input.has("json")) writeJson({ files: checked });
  else for (const file of checked) writeChecked(file);
  if (checked.some(({ problems }) => problems.length > 0)) return EXIT.problems;
  return input.has("lint-fatal") && checked.some(({ lint }) => lint.length > 0) ? LINT_EXIT : EXIT.ok;
}

function checkFile(file: string, { canIgnore, hasLint }: { readonly canIgnore: boolean; readonly hasLint: boolean }): CheckedFile {
  const { groups, problems } = readRules(file, canIgnore);
  const rules = groups.reduce((sum, group) => sum + group.rules.length, 0);
  return { file, rules, problems, lint: problems.length === 0 && hasLint ? lintTexts(groups) : [] };
}

/** Reads a file of rules; each problem begins with the file's name. */
export function readRules(path: string, canIgnore: boolean): RuleFile {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    return { groups: [], problems: [`${path}: ${messageOf(error)}`] };
  }
  const { groups, problems } = readRuleFile(text, canIgnore);
  return { groups, problems: problems.map((problem) => `${path}: ${problem}`) };
}

function lintTexts(groups: RuleFile["groups"]): string[] {
  const duplicates = duplicateRules(groups);
  if (duplicates.length === 0) return [];
  const rules = duplicates.map(({ name, labels }) => {
    const lines = [...labels.entries()].map(([label, value]) => `\t${label}: ${value}\n`);
    return `Metric: ${name}\nLabel(s):\n${lines.join("")}`;
  });
  const head = `lint error ${duplicates.length} duplicate rule(s) found.\n`;
  return [`${head}${rules.join("")}Might cause inconsistency while recording expressions`];
}

function writeChecked({ file, rules, problems, lint }: CheckedFile): void {
  writeLine(`Checking ${file}`);
  const faults = [...problems, ...lint];
  if (faults.length === 0) writeLine(`  SUCCESS: ${rules} rules found`);
  else for (const line of ["  FAILED:", ...faults]) writeError(line);
  writeLine("");
}
