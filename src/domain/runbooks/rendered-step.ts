// A step as it is done for one run: its texts with the run's facts in them. The same is shown, with *** in place of what is secret.
import { HIDDEN } from "../../core/text/secret.ts";
import { withoutSecrets } from "../../core/text/secret-mask.ts";
import type { Execution } from "./execution.ts";
import type { HttpMethod, HttpStep, RunbookStep } from "./runbook.ts";
import { anomalyPlaceholder, type Facts, keyOfBody, rendered, withSecrets } from "./template.ts";

export interface RenderedRequest {
  readonly method: HttpMethod;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

/** The request of an http step, with its secrets: for whoever sends it. Its key is the same in every attempt. */
export function requestOf(execution: Pick<Execution, "id" | "facts" | "runbook">, index: number, step: HttpStep): RenderedRequest {
  const made = requestWith(step, withSecrets(execution.facts, execution.runbook.secrets, false));
  const hasType = Object.keys(made.headers).some((name) => name.toLowerCase() === "content-type");
  const type = made.body === null || hasType ? {} : { "content-type": keyOfBody(made.body) === "json" ? "application/json" : "text/plain" };
  return { ...made, headers: { ...type, ...made.headers, "idempotency-key": `${execution.id}-${index}` } };
}

/** The request as people are shown it: no header's value, no secret. */
export function shownRequest({ facts, runbook }: Pick<Execution, "facts" | "runbook">, step: HttpStep): RenderedRequest {
  const made = requestWith(step, withSecrets(facts, runbook.secrets, true));
  return { ...made, headers: Object.fromEntries(Object.keys(made.headers).map((name) => [name, HIDDEN])) };
}

/** Action of a step, in words. */
export function shownAction(step: RunbookStep, facts: Facts): string {
  switch (step.type) {
    case "http":
      return `${step.method} a request`;
    case "notify":
      return `tells ${step.channels.join(", ")}: ${textOf(step.message, facts)}`;
    case "wait":
      return `waits ${step.seconds} s`;
    case "annotate":
      return `notes: ${textOf(step.text, facts)}`;
    default:
      return `silences ${facts.service_id ?? "the anomaly's service (this run has none)"} for ${step.seconds} s`;
  }
}

/** Why a step cannot be done in a run without an anomaly; null where it can, or where there is one. */
export function anomalyProblem(step: RunbookStep, { anomalyId }: Pick<Execution, "anomalyId">): string | null {
  if (anomalyId !== "") return null;
  if (step.type === "silence") return "it was started without an anomaly: there is no service to silence";
  const name = filledTexts(step)
    .map(anomalyPlaceholder)
    .find((one) => one !== undefined);
  return name === undefined ? null : `it was started without an anomaly: there is nothing for {{${name}}}; start it with anomaly_id`;
}

/** Texts that leave the server. A note without an anomaly is none. */
function filledTexts(step: RunbookStep): readonly string[] {
  if (step.type === "http") return [step.url, step.body ?? "", ...Object.values(step.headers)];
  return step.type === "notify" ? [step.message] : [];
}

/** Answer of a receiver without the secrets and headers that it was sent: it may say them back. */
export function shownAnswer(text: string, { facts, runbook }: Pick<Execution, "facts" | "runbook">, step: HttpStep): string {
  const { headers } = requestWith(step, withSecrets(facts, runbook.secrets, false));
  return withoutSecrets(text, [...Object.values(headers), ...Object.values(runbook.secrets)]);
}

/** A text for people. */
export function textOf(text: string, facts: Facts): string {
  return rendered(text, facts, "text");
}

function contentTypeOf(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers).find(([name]) => name.toLowerCase() === "content-type")?.[1] ?? "";
}

function requestWith({ method, url, headers, body }: HttpStep, facts: Facts): RenderedRequest {
  return {
    method,
    url: rendered(url, facts, "url"),
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, rendered(value, facts, "header")])),
    body: body === null ? null : rendered(body, facts, keyOfBody(body, contentTypeOf(headers))),
  };
}
