// `vedette drill`: a planted spike on its way to people, and how far it came. It asks before it wakes them.
import { createInterface } from "node:readline/promises";
import { EXIT, UsageError } from "../../server/exit-code.ts";
import { writeLine } from "../../server/terminal.ts";
import type { CommandArguments } from "../command-arguments.ts";
import { ask, connectTo, DRILL_MS_MAX, type Environment } from "./server-connection.ts";
import { plain, tableLines, writeJson } from "./table-text.ts";

interface DrillAnswer {
  readonly result: string;
  readonly failed_stage: string | null;
  readonly reason: string | null;
  readonly stages: ReadonlyArray<{ readonly stage: string; readonly state: string; readonly after_ms: number | null }>;
  readonly deliveries: ReadonlyArray<{ readonly channel: string; readonly state: string; readonly error: string | null }>;
}

/** Runs one and shows its stages and who was told; resolves with the exit code. */
export async function runDrill(input: CommandArguments, environment: Environment): Promise<number> {
  const [channel, rule] = [input.text("channel"), input.text("rule")];
  if (channel !== undefined && rule !== undefined) throw new UsageError("give --channel or --rule, not both");
  const connection = connectTo(input, environment);
  const whom = channel ?? (rule === undefined ? "everybody whom the rules name" : `the channels of rule ${rule}`);
  if (!input.has("yes") && !(await isMeant(`This tells ${whom}, and wakes people. Go on? [y/N] `))) return EXIT.problems;
  const choice = { ...(channel !== undefined && { channel }), ...(rule !== undefined && { rule_id: rule }) };
  const drill = await ask<DrillAnswer>(connection, "/api/v1/drill", choice, "POST", DRILL_MS_MAX);
  if (input.has("json")) writeJson(drill);
  else for (const line of drillLines(drill)) writeLine(line);
  return drill.result === "passed" ? EXIT.ok : EXIT.problems;
}

/** Asks at a terminal; where there is none nobody can answer. */
async function isMeant(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) throw new UsageError("a drill wakes people: give --yes where nobody can be asked");
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question(question).finally(() => terminal.close());
  return /^y(es)?$/i.test(answer.trim());
}

function drillLines({ result, failed_stage, reason, stages, deliveries }: DrillAnswer): string[] {
  const stageRows = stages.map(({ stage, state, after_ms }) => [stage, state, after_ms === null ? "" : `${after_ms} ms`]);
  const rows = deliveries.map(({ channel, state, error }) => [plain(channel), state, plain(error ?? "")]);
  return [
    result === "passed" ? "passed" : plain(`failed at ${failed_stage ?? "?"}: ${reason ?? ""}`),
    ...tableLines(["STAGE", "STATE", "AFTER"], stageRows),
    ...(rows.length === 0 ? ["nobody was told"] : tableLines(["CHANNEL", "STATE", "ERROR"], rows)),
  ];
}
