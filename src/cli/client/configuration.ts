// `vedette config export` and `config import`: the configuration of a tenant as one document, and its way into a server.
import { readFileSync, writeFileSync } from "node:fs";
import { messageOf } from "../../core/text/error-text.ts";
import { CommandError, EXIT, UsageError } from "../../server/exit-code.ts";
import { writeError, writeLine } from "../../server/terminal.ts";
import type { CommandArguments } from "../command-arguments.ts";
import { ask, connectTo, type Environment } from "./server-connection.ts";
import { plain, tableLines, writeJson } from "./table-text.ts";

const PATH = "/api/v1/config";

type Counts = Readonly<Record<"created" | "changed" | "unchanged" | "refused", number>>;

interface Imported {
  readonly dry_run: boolean;
  readonly sections: Readonly<Record<string, Counts>>;
  readonly changes: ReadonlyArray<{ readonly section: string; readonly action: string; readonly key: string }>;
  readonly problems: ReadonlyArray<{ readonly section: string; readonly index: number; readonly message: string }>;
  readonly problems_total: number;
}

/** Writes the document. Throws UnreachableError, CommandError. */
export async function exportConfiguration(input: CommandArguments, environment: Environment): Promise<number> {
  const document = await ask<unknown>(connectTo(input, environment), PATH);
  const out = input.text("out");
  if (out === undefined) writeJson(document);
  else writeFileSync(out, `${JSON.stringify(document, null, 2)}\n`, { mode: 0o600 });
  return EXIT.ok;
}

/** Writes what differs, and says so by section. Throws UsageError, UnreachableError, CommandError. */
export async function importConfiguration(input: CommandArguments, environment: Environment): Promise<number> {
  const [file] = input.operands;
  if (file === undefined) throw new UsageError("name the file: vedette config import FILE [--dry-run]");
  const document = readDocument(file);
  const answer = await ask<Imported>(connectTo(input, environment), input.has("dry-run") ? `${PATH}?dry_run=true` : PATH, document);
  if (input.has("json")) writeJson(answer);
  else show(answer);
  return answer.problems_total === 0 ? EXIT.ok : EXIT.problems;
}

/** What a plan ends with where the configuration is another than the document's. */
const DIFFERS = 2;

/** Says what would change; 2 where something would. Throws UsageError, UnreachableError, CommandError. */
export async function planConfiguration(line: CommandArguments, environment: Environment): Promise<number> {
  const answer = await sendDocument(line, environment, true);
  if (answer.problems_total > 0) return EXIT.problems;
  return answer.changes.length > 0 ? DIFFERS : EXIT.ok;
}

/** Makes the configuration what the document says. Throws UsageError, UnreachableError, CommandError. */
export async function applyConfiguration(line: CommandArguments, environment: Environment): Promise<number> {
  const answer = await sendDocument(line, environment, false);
  return answer.problems_total > 0 ? EXIT.problems : EXIT.ok;
}

async function sendDocument(line: CommandArguments, environment: Environment, isDry: boolean): Promise<Imported> {
  const [file] = line.operands;
  if (file === undefined) throw new UsageError(`name the file: vedette config ${isDry ? "plan" : "apply"} FILE [--prune]`);
  const query = new URLSearchParams({ dry_run: String(isDry), prune: String(line.has("prune")) });
  const answer = await ask<Imported>(connectTo(line, environment), `${PATH}?${query}`, readDocument(file));
  if (line.has("json")) writeJson(answer);
  else showChanges(answer);
  return answer;
}

const SIGNS = new Map([
  ["create", "+"],
  ["change", "~"],
  ["delete", "-"],
]);

function showChanges({ changes, ...answer }: Imported): void {
  for (const { section, action, key } of changes) writeLine(`${SIGNS.get(action) ?? action} ${section} ${plain(key)}`);
  if (changes.length === 0) writeLine("nothing differs");
  showProblems(answer);
}

function readDocument(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new CommandError(`${file} is no document of config export: ${messageOf(error)}`);
  }
}

function show({ dry_run: isDry, sections, ...answer }: Imported): void {
  const rows = Object.entries(sections).map(([name, { created, changed, unchanged, refused }]) => [
    name,
    ...[created, changed, unchanged, refused].map(String),
  ]);
  for (const line of tableLines(["section", isDry ? "would be new" : "new", isDry ? "would change" : "changed", "same", "refused"], rows))
    writeLine(line);
  showProblems(answer);
}

function showProblems({ problems, problems_total: total }: Pick<Imported, "problems" | "problems_total">): void {
  for (const { section, index, message } of problems) writeError(`${section}[${index}]: ${plain(message)}`);
  if (total > problems.length) writeError(`... and ${total - problems.length} more`);
}
