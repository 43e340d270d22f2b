// A runbook out of the body of a request, and what is wrong with it.
import type { BodyOf } from "../../api/endpoints.ts";
import { refused, shown } from "../../api/refusal.ts";
import { ownMember } from "../../core/collections/own-member.ts";
import { RUNBOOK_TIMEOUT_SECONDS_DEFAULT } from "../../core/config/runbook-limits.ts";
import { HIDDEN } from "../../core/text/secret.ts";
import { type HttpStep, RESERVED_IDS, type Runbook, type RunbookMatch, type RunbookStep } from "../../domain/runbooks/runbook.ts";
import { placeholdersOf, unknownPlaceholder } from "../../domain/runbooks/template.ts";
import { searched, searchedCapacityProblem } from "../../domain/webhooks/webhook.ts";
import { boundToOrigin, nameOfNothing, unhidden } from "../webhooks/hidden-values.ts";
import type { RunbooksContext } from "./runbooks-context.ts";

type RunbookBody = BodyOf<"createRunbook">;
type StepBody = RunbookBody["steps"][number];
type RunbookFields = Omit<Runbook, "id" | "tenant" | "revision" | "createdAtMs" | "updatedAtMs">;

/** Defaults of a step of type http where its body does not say it. */
export const HTTP_STEP = { method: "POST", headers: {}, timeout_seconds: RUNBOOK_TIMEOUT_SECONDS_DEFAULT, idempotent: false } as const;
/** A placeholder where a URL is looked at, and words that stand for it. */
const PLACEHOLDER = /\{\{[^}]*\}\}/g;
const STAND_INS = ["x", "y.z"] as const;

/** The fields, with what `before` hides where `***` stands for it. To be called once `runbookProblem` has none. */
export function fieldsOf(body: RunbookBody, before: Runbook | undefined): RunbookFields {
  const known = (name: string) => before?.steps.find((step) => step.name === name);
  return {
    name: body.name,
    match: matchOf(body.match),
    dryRun: body.dry_run,
    approvalRequired: body.approval_required,
    auto: body.auto,
    steps: body.steps.map((step, index) => stepOf(step, stepName(step, index), known(stepName(step, index)))),
    secrets: unhidden(body.secrets, before?.secrets ?? {}),
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

export function stepName({ name }: StepBody, index: number): string {
  return name ?? `step-${index + 1}`;
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
        headers: unhidden(step.headers ?? HTTP_STEP.headers, known?.type === "http" ? known.headers : {}),
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

/** Why a runbook cannot be kept; undefined where it can. */
export async function runbookProblem(context: RunbooksContext, tenant: string, body: RunbookBody, before: Runbook | undefined) {
  if (body.id !== undefined && RESERVED_IDS.includes(body.id)) {
    return refused("invalid_field", `${shown(body.id)} is the name of a path of its own; give another`, "id");
  }
  const names = body.steps.map(stepName);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined)
    return refused("invalid_field", `two steps have the name ${shown(twice)}: approvals could not tell them apart`, "steps");
  const nothing = nameOfNothing(body.secrets, before?.secrets ?? {});
  if (nothing !== undefined)
    return refused("invalid_field", `there is no secret ${shown(nothing)} that *** could stand for`, `secrets.${nothing}`);
  for (const name of ["service_id_regex", "metric_name_regex"] as const) {
    const regex = body.match[name];
    const { patterns } = context.state.configured;
    const problem = regex === null ? null : (patterns.problem(regex) ?? patterns.problem(searched(regex)));
    if (problem !== null) return refused("invalid_field", problem, `match.${name}`);
  }
  const noCapacity = capacityProblem(context, tenant, body, before);
  if (noCapacity !== undefined) return noCapacity;
  for (const [index, step] of body.steps.entries()) {
    const problem = stepProblem(step, index, names[index] as string, body, before) ?? (await urlProblem(context, step, index));
    if (problem !== undefined) return problem;
  }
  return before === undefined ? undefined : boundProblem(body, before);
}

/** Patterns of the tenant's runbooks that would be too many together. */
function capacityProblem({ state }: RunbooksContext, tenant: string, { match }: RunbookBody, before: Runbook | undefined) {
  const { runbooks, patterns } = state.configured;
  const own = { serviceIdRegex: match.service_id_regex, metricNameRegex: match.metric_name_regex };
  const others = runbooks.of(tenant).filter((one) => one !== before);
  const problem = searchedCapacityProblem(patterns, [...others.map((one) => one.match), own], "runbooks");
  return problem === null ? undefined : refused("unprocessable", problem, "match");
}

/** A secret, or a header of a step, that would leave for an origin that it was not given for. */
function boundProblem(body: RunbookBody, before: Runbook) {
  for (const [index, step] of fieldsOf(body, before).steps.entries()) {
    if (step.type !== "http") continue;
    const origin = stepOrigin(step.url);
    const known = before.steps.find(({ name }) => name === step.name);
    const header = Object.entries(body.steps[index]?.headers ?? {}).find(([, value]) => value === HIDDEN)?.[0];
    if (header !== undefined && (known?.type !== "http" || stepOrigin(known.url) !== origin))
      return boundToOrigin(`header ${shown(header)}`, origin, `steps[${index}].headers.${header}`);
    const secret = Object.keys(body.secrets).find((name) => ownMember(body.secrets, name) === HIDDEN && usesSecret(step, name));
    const isBound = secret === undefined || before.steps.some((one) => usesSecret(one, secret) && stepOrigin(one.url) === origin);
    if (!isBound) return boundToOrigin(`secret ${shown(secret)}`, origin, `secrets.${secret}`);
  }
  return undefined;
}

function usesSecret(step: RunbookStep, name: string): step is HttpStep {
  if (step.type !== "http") return false;
  return [step.url, step.body ?? "", ...Object.values(step.headers)].some((text) => placeholdersOf(text).includes(`secrets.${name}`));
}

function stepProblem(step: StepBody, index: number, name: string, body: RunbookBody, before: Runbook | undefined) {
  const known = before?.steps.find((one) => one.name === name);
  const nothing = nameOfNothing(step.headers ?? {}, known?.type === "http" ? known.headers : {});
  if (nothing !== undefined)
    return refused("invalid_field", `there is no header ${shown(nothing)} that *** could stand for`, `steps[${index}].headers.${nothing}`);
  const { url = "", message = "", text = "", comment = "", headers = {} } = step;
  const secrets = Object.keys(body.secrets);
  const sent = Object.entries({ url, body: step.body ?? "" }).concat(
    Object.entries(headers).map(([name, value]) => [`headers.${name}`, value]),
  );
  const texts = Object.entries({ message, text, comment });
  for (const [member, value] of [...sent, ...texts]) {
    const isSent = sent.some(([name]) => name === member);
    const unknown = unknownPlaceholder(value, isSent ? secrets : []);
    const why = isSent ? "" : "; secrets are for urls, headers and bodies of http steps";
    if (unknown !== undefined)
      return refused("invalid_field", `nothing is known of the placeholder {{${unknown}}}${why}`, `steps[${index}].${member}`);
  }
  return undefined;
}

async function urlProblem({ forbiddenTarget }: RunbooksContext, { url }: StepBody, index: number) {
  if (url === undefined) return undefined;
  const field = `steps[${index}].url`;
  if (stepOrigin(url) === "" || /^[a-z]+:\/\/[^/?#]*@/i.test(url)) {
    return refused("invalid_field", "a URL begins with its protocol and host, without placeholders or a user in them", field);
  }
  const problem = await forbiddenTarget(url.replace(PLACEHOLDER, STAND_INS[0]));
  return problem === null ? undefined : refused("invalid_field", `the URL may not be asked for: ${problem}`, field);
}

/** Origin of a step's URL; empty where it has none that is the same whatever its placeholders stand for. */
function stepOrigin(url: string): string {
  const [one, other] = STAND_INS.map((word) => url.replace(PLACEHOLDER, word));
  if (one === undefined || other === undefined || !URL.canParse(one) || !URL.canParse(other)) return "";
  const { origin, username, password } = new URL(one);
  return origin === new URL(other).origin && origin !== "null" && username === "" && password === "" ? origin : "";
}
