// `vedette alerts ack`, `resolve`, `accept`, `snooze`: what people do about alerts of a running server.
import { SNOOZE_DAYS_MAX } from "../../core/config/alert-limits.ts";
import { DAY_MS } from "../../core/time/durations.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import { EXIT, UsageError } from "../../server/exit-code.ts";
import { writeLine } from "../../server/terminal.ts";
import type { CommandArguments } from "../command-arguments.ts";
import { readLength } from "./label-operand.ts";
import { ask, connectTo, type Environment } from "./server-connection.ts";
import { plain, writeJson } from "./table-text.ts";

const SNOOZED = "1h";

/** Body of the request, without its ids. */
interface AlertAction {
  readonly action: string;
  readonly note?: string;
  readonly comment?: string;
  readonly until?: string | null;
}

interface ActionResult {
  readonly alert_id: string;
  readonly status: number;
  readonly error: string | null;
}

/** Acknowledges each of the ids. */
export function acknowledgeAlerts(input: CommandArguments, environment: Environment): Promise<number> {
  const note = input.text("comment");
  return act(input, environment, { action: "acknowledge", ...(note !== undefined && { note }) });
}

/** Ends each of them. */
export function resolveAlerts(input: CommandArguments, environment: Environment): Promise<number> {
  return act(input, environment, { action: "resolve", ...commentOf(input) });
}

/** Takes the level of each of them for the usual one. */
export function acceptAlerts(line: CommandArguments, environment: Environment): Promise<number> {
  return act(line, environment, { action: "accept", ...commentOf(line) });
}

/** Snoozes each of them, or ends their snooze. */
export function snoozeAlerts(input: CommandArguments, environment: Environment, nowMs: number): Promise<number> {
  const length = input.text("for") ?? SNOOZED;
  const lengthMs = readLength("for", length);
  if (lengthMs > SNOOZE_DAYS_MAX * DAY_MS)
    throw new UsageError(`--for takes ${SNOOZE_DAYS_MAX}d at most, got ${JSON.stringify(length)}; vedette silence add holds for longer`);
  const until = input.has("end") ? null : formatRfc3339(nowMs + lengthMs);
  return act(input, environment, { action: "snooze", until, ...commentOf(input) });
}

function commentOf(input: CommandArguments) {
  const comment = input.text("comment");
  return comment === undefined ? {} : { comment };
}

async function act(input: CommandArguments, environment: Environment, action: AlertAction): Promise<number> {
  const alert_ids = input.operands;
  if (alert_ids.length === 0) throw new UsageError("vedette alerts needs the ID of an alert; vedette alerts list shows them");
  const answer = await ask<{ results: readonly ActionResult[] }>(connectTo(input, environment), "/api/v1/alerts/actions", {
    alert_ids,
    ...action,
  });
  if (input.has("json")) writeJson(answer);
  else for (const { alert_id, error } of answer.results) writeLine(plain(`${alert_id} ${error ?? "done"}`));
  return answer.results.every(({ error }) => error === null) ? EXIT.ok : EXIT.problems;
}
