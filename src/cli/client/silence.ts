// `vedette silence add`, `list`, `end`: silences of a running server.
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import { EXIT, UsageError } from "../../server/exit-code.ts";
import { writeLine } from "../../server/terminal.ts";
import type { CommandArguments } from "../command-arguments.ts";
import { readLabel, readLength } from "./label-operand.ts";
import { ask, connectTo, type Environment } from "./server-connection.ts";
import { plain, tableLines, writeJson } from "./table-text.ts";

interface Silence {
  readonly silence_id: string;
  readonly state: string;
  readonly matchers: ReadonlyArray<{ readonly name: string; readonly operator: string; readonly value: string }>;
  readonly ends_at: string | null;
  readonly comment: string;
  readonly created_by: string;
}

const LENGTH = "1h";

/** Makes a silence that begins now and prints its id. */
export async function addSilence(input: CommandArguments, environment: Environment, nowMs: number): Promise<number> {
  const matchers = input.operands.map(readLabel);
  if (matchers.length === 0) throw new UsageError("vedette silence add needs LABEL=VALUE, such as service_id=checkout");
  const endMs = nowMs + readLength("for", input.text("for") ?? LENGTH);
  const body = { matchers, ends_at: formatRfc3339(endMs), comment: input.text("comment") ?? "" };
  const silence = await ask<Silence>(connectTo(input, environment), "/api/v1/silences", body);
  if (input.has("json")) writeJson(silence);
  else writeLine(silence.silence_id);
  return EXIT.ok;
}

/** Lists them. */
export async function listSilences(input: CommandArguments, environment: Environment): Promise<number> {
  const state = input.text("state") ?? "active";
  const query = state === "all" ? "limit=1000" : `limit=1000&state=${state}`;
  const page = await ask<{ silences: readonly Silence[] }>(connectTo(input, environment), `/api/v1/silences?${query}`);
  if (input.has("json")) writeJson(page);
  else for (const line of silenceLines(page.silences)) writeLine(line);
  return EXIT.ok;
}

/** Ends each of the ids. */
export async function endSilences(input: CommandArguments, environment: Environment): Promise<number> {
  if (input.operands.length === 0) throw new UsageError("vedette silence end needs the ID of a silence; vedette silence list shows them");
  const connection = connectTo(input, environment);
  for (const id of input.operands) await ask(connection, `/api/v1/silences/${encodeURIComponent(id)}`, undefined, "DELETE");
  if (input.has("json")) writeJson({ ended: input.operands });
  return EXIT.ok;
}

function silenceLines(silences: readonly Silence[]): string[] {
  if (silences.length === 0) return ["no silences"];
  const rows = silences.map(({ silence_id, state, matchers, ends_at, comment, created_by }) => [
    silence_id,
    state,
    ends_at ?? "recurring",
    plain(matchers.map(({ name, operator, value }) => `${name}${operator}${value}`).join(" ")),
    plain(comment === "" ? created_by : `${comment} (${created_by})`),
  ]);
  return tableLines(["ID", "STATE", "ENDS", "MATCHERS", "COMMENT"], rows);
}
