// A runbook out of the body of a request, and what is wrong with it.
import type { BodyOf } from "../../../api/endpoints.ts";
import { refused, shown } from "../../../api/refusal.ts";
import { RUNBOOK_TIMEOUT_SECONDS_DEFAULT } from "../../../core/config/runbook-limits.ts";
import { RESERVED_IDS, type Runbook, type RunbookMatch, type RunbookStep } from "../../../domain/runbooks/runbook.ts";
import { unknownPlaceholder } from "../../../domain/runbooks/template.ts";
import { searched } from "../../../domain/webhooks/webhook.ts";
import { HIDDEN } from "./runbook-view.ts";
import type { RunbooksContext } from "./runbooks-context.ts";

type RunbookBody = BodyOf<"createRunbook">;
type StepBody = RunbookBody["steps"][number];
type RunbookFields = Omit<Runbook, "id" | "tenant" | "revision" | "createdAtMs" | "updatedAtMs">;

/** Defaults of a step of type http where its body does not say it. */
export const HTTP_STEP = { method: "POST", headers: {}, timeout_seconds: RUNBOOK_TIMEOUT_SECONDS_DEFAULT, idempotent: false } as const;
/** Stands for a placeholder where a URL is looked at. */
const PLACEHOLDER = /\{\{[^}]*\}\}/g;

/** The fields, with what `before` hides where `***` stands for it. To be called once `runbookProblem` has none. */
export function fieldsOf(body: RunbookBody, before: Runbook | undefined): RunbookFields {
  const known = (name: string) => before?.steps.find((step) => step.name === name);
  return {
    name: body.name,
    match: matchOf(body.match),
    dryRun: body.dry_run,
    approvalRequired: body.approval_required,
    auto: body.auto,
    steps: body.steps.map((step, place) => stepOf(step, stepName(step, place), known(stepName(step, place)))),
    secrets: kept(body.secrets, before?.secrets ?? {}),
  };
}

function matchOf(match: RunbookBody["match"]): RunbookMatch {
  return {
    serviceIdRegex: match.service_id_regex,
    metricNameRegex: match.metric_name_regex,
    minAnomalyScore: match.min_anomaly_score,
    rootCauseCategory: match.root_cause_category,
    environments: match.environments,
    severities: match.severity,
  };
}

export function stepName({ name }: StepBody, place: number): string {
  return name ?? `step-${place + 1}`;
}

function stepOf(step: StepBody, name: string, known: RunbookStep | undefined): RunbookStep {
  const head = { name, approvalRequired: step.approval_required };
  switch (step.type) {
    case "http":
      return {
        ...head,
        type: "http",
        method: step.method ?? HTTP_STEP.method,
        url: step.url ?? "",
        headers: kept(step.headers ?? HTTP_STEP.headers, known?.type === "http" ? known.headers : {}),
        body: step.body ?? null,
        timeoutSeconds: step.timeout_seconds ?? HTTP_STEP.timeout_seconds,
        idempotent: step.idempotent ?? HTTP_STEP.idempotent,
      };
    case "notify":
      return { ...head, type: "notify", channels: step.channels ?? [], message: step.message ?? "" };
    case "wait":
      return { ...head, type: "wait", seconds: step.seconds ?? 1 };
    case "annotate":
      return { ...head, type: "annotate", text: step.text ?? "" };
    default:
      return { ...head, type: "silence", seconds: step.seconds ?? 1, comment: step.comment ?? "" };
  }
}

function kept(given: Readonly<Record<string, string>>, before: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, value === HIDDEN ? (before[name] as string) : value]));
}

/** Why a runbook cannot be kept; undefined where it can. */
export async function runbookProblem(context: RunbooksContext, body: RunbookBody, before: Runbook | undefined) {
  if (body.id !== undefined && RESERVED_IDS.includes(body.id)) {
    return refused("invalid_field", `${shown(body.id)} is the name of a path of its own; give another`, "id");
  }
  const names = body.steps.map(stepName);
  const twice = names.find((name, place) => names.indexOf(name) !== place);
  if (twice !== undefined)
    return refused("invalid_field", `two steps have the name ${shown(twice)}: approvals could not tell them apart`, "steps");
  for (const [name, value] of Object.entries(body.secrets)) {
    if (value === HIDDEN && before?.secrets[name] === undefined)
      return refused("invalid_field", `there is no secret ${shown(name)} that *** could stand for`, `secrets.${name}`);
  }
  for (const name of ["service_id_regex", "metric_name_regex"] as const) {
    const regex = body.match[name];
    const { patterns } = context.state.configured;
    const problem = regex === null ? null : (patterns.problem(regex) ?? patterns.problem(searched(regex)));
    if (problem !== null) return refused("invalid_field", problem, `match.${name}`);
  }
  for (const [place, step] of body.steps.entries()) {
    const problem = stepProblem(step, place, names[place] as string, body, before) ?? (await urlProblem(context, step, place));
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function stepProblem(step: StepBody, place: number, name: string, body: RunbookBody, before: Runbook | undefined) {
  const known = before?.steps.find((one) => one.name === name);
  for (const [header, value] of Object.entries(step.headers ?? {})) {
    const isThere = known?.type === "http" && known.headers[header] !== undefined;
    if (value === HIDDEN && !isThere)
      return refused("invalid_field", `there is no header ${shown(header)} that *** could stand for`, `steps[${place}].headers.${header}`);
  }
  const { url = "", message = "", text = "", comment = "", headers = {} } = step;
  const secrets = Object.keys(body.secrets);
  const texts = { url, body: step.body ?? "", message, text, comment, ...headers };
  for (const [member, value] of Object.entries(texts)) {
    const isSent = member === "url" || member === "body" || member in headers;
    const unknown = unknownPlaceholder(value, isSent ? secrets : []);
    const why = isSent ? "" : "; secrets are for urls, headers and bodies of http steps";
    if (unknown !== undefined)
      return refused("invalid_field", `nothing is known of the placeholder {{${unknown}}}${why}`, `steps[${place}].${member}`);
  }
  return undefined;
}

async function urlProblem({ forbiddenTarget }: RunbooksContext, { url }: StepBody, place: number) {
  if (url === undefined) return undefined;
  const field = `steps[${place}].url`;
  const origin = /^[a-z]+:\/\/[^/?#]*/i.exec(url)?.[0] ?? "";
  if (origin === "" || origin.includes("{{") || origin.includes("@")) {
    return refused("invalid_field", "a URL begins with its protocol and host, without placeholders or a user in them", field);
  }
  const problem = await forbiddenTarget(url.replace(PLACEHOLDER, "x"));
  return problem === null ? undefined : refused("invalid_field", `the URL may not be asked for: ${problem}`, field);
}
