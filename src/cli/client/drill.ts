// `vedette drill`: a planted spike on its way to people, and how far it came.
import type { CommandArguments } from "../command-arguments.ts";
import { EXIT } from "../exit-code.ts";
import { writeLine } from "../terminal.ts";
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
export async function runDrill(given: CommandArguments, environment: Environment): Promise<number> {
  const drill = await ask<DrillAnswer>(connectTo(given, environment), "/api/v1/drill", {}, "POST", DRILL_MS_MAX);
  if (given.has("json")) writeJson(drill);
  else for (const line of drillLines(drill)) writeLine(line);
  return drill.result === "passed" ? EXIT.ok : EXIT.problems;
}

function drillLines({ result, failed_stage, reason, stages, deliveries }: DrillAnswer): string[] {
  const stageRows = stages.map(({ stage, state, after_ms }) => [stage, state, after_ms === null ? "" : `${after_ms} ms`]);
  const told = deliveries.map(({ channel, state, error }) => [plain(channel), state, plain(error ?? "")]);
  return [
    result === "passed" ? "passed" : plain(`failed at ${failed_stage ?? "?"}: ${reason ?? ""}`),
    ...tableLines(["STAGE", "STATE", "AFTER"], stageRows),
    ...(told.length === 0 ? ["nobody was told"] : tableLines(["CHANNEL", "STATE", "ERROR"], told)),
  ];
}
