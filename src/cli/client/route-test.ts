// `vedette routes test`: where an alert would go.
import { EXIT, UsageError } from "../../server/exit-code.ts";
import { writeLine } from "../../server/terminal.ts";
import type { CommandArguments } from "../command-arguments.ts";
import { readLabel } from "./label-operand.ts";
import { ask, connectTo, type Environment } from "./server-connection.ts";
import { plain, writeJson } from "./table-text.ts";

interface RouteAnswer {
  readonly rule: { readonly id: string; readonly name: string } | null;
  readonly resolved: ReadonlyArray<{ readonly channel: string; readonly target: string | null; readonly fallback: boolean }>;
  readonly skipped: ReadonlyArray<{ readonly rule_id: string; readonly failed_matcher: string }>;
}

/** Asks and shows; exit code 1 where the alert would reach nobody. */
export async function testRoute(input: CommandArguments, environment: Environment): Promise<number> {
  const answer = await ask<RouteAnswer>(connectTo(input, environment), "/api/v1/routing/test", testBody(input));
  if (input.has("json")) writeJson(answer);
  else for (const line of routeLines(answer)) writeLine(line);
  return answer.resolved.some(({ target }) => target !== null) ? EXIT.ok : EXIT.problems;
}

function testBody(input: CommandArguments) {
  const labels = input.operands.map(readLabel);
  const other = labels.find(({ operator }) => operator !== "=");
  if (other !== undefined) throw new UsageError(`vedette routes test takes LABEL=VALUE, not ${other.operator}`);
  const byName = Object.fromEntries(labels.map(({ name, value }) => [name, value]));
  const { service_id: operand, environment: operandEnvironment, ...rest } = byName;
  const service_id = input.text("service") ?? operand;
  if (service_id === undefined) throw new UsageError("vedette routes test needs --service ID");
  const environment = input.text("environment") ?? operandEnvironment;
  const severity = input.text("severity");
  return { service_id, labels: rest, ...(environment !== undefined && { environment }), ...(severity !== undefined && { severity }) };
}

/** What an answer says, in lines. */
export function routeLines({ rule, resolved, skipped }: RouteAnswer): string[] {
  const channels = resolved.map(({ channel, target, fallback }) => {
    if (target === null) return `  ${channel}: leads nowhere, its notifier is not configured`;
    return `  ${channel}${fallback ? ": its target is not configured, the notifier's default is told" : ""}`;
  });
  return [
    rule === null ? "no rule" : `rule ${plain(rule.name)} (${rule.id})`,
    ...(channels.length > 0
      ? channels
      : ["  it names no channel that leads anywhere: nobody would be told (docs/notifications.md says how channels are configured)"]),
    ...skipped.map(({ rule_id, failed_matcher }) => `  passed over: ${rule_id}, its ${failed_matcher} does not match`),
  ];
}
