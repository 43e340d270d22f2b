// GET, POST /api/v1/webhooks, GET, PUT, DELETE /{name}, POST /test, GET /{name}/deliveries and GET /public-key.

import { secretBytes } from "../../adapters/webhooks/webhook-signature.ts";
import type { BodyOf } from "../../api/endpoints.ts";
import { listed } from "../../api/page-token.ts";
import { done, noContent, type Outcome, refused, shown } from "../../api/refusal.ts";
import { WEBHOOKS_PER_TENANT_MAX } from "../../core/config/webhook-limits.ts";
import { HIDDEN } from "../../core/text/secret.ts";
import type { PatternCache } from "../../domain/alerting/pattern/pattern-cache.ts";
import type { Transform } from "../../domain/webhooks/transform.ts";
import { RESERVED_NAMES, searched, searchedCapacityProblem, type Webhook, type WebhookPattern } from "../../domain/webhooks/webhook.ts";
import type { Change } from "../access/changes.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import { refuseOneMore } from "../state/one-more.ts";
import { newId } from "../state/tables.ts";
import { boundToOrigin, nameOfNothing, originOf, unhidden } from "./hidden-values.ts";
import { type TransformTrial, tryTransform } from "./transform-trial.ts";
import { WebhookDeliveries } from "./webhook-deliveries.ts";
import { shownUrl, webhookView } from "./webhook-view.ts";
import type { WebhooksContext } from "./webhooks-context.ts";

type WebhookBody = BodyOf<"createWebhook">;

export async function createWebhook(context: WebhooksContext, request: QueryRequest<"createWebhook">): Promise<Outcome<unknown>> {
  const { webhooks } = context.state.configured;
  const { tenant } = request.principal;
  const { body } = request;
  const problem = bodyProblem(context, tenant, body, undefined) ?? (await urlProblem(context, body.url));
  if (problem !== undefined) return problem;
  const tried = await tryTransform(context, { tenant, ...fieldsOf(body) });
  if (!tried.ok) return tried;
  const id = newId(context);
  return context.change(request, () => {
    if (webhooks.find(tenant, body.name) !== undefined) return taken(body.name);
    const full = refuseOneMore({ shares: webhooks.shares, tenant, mostOfTenant: WEBHOOKS_PER_TENANT_MAX, what: "webhooks" });
    if (full !== undefined) return full;
    const head = { id, tenant, formerSecret: null, formerSecretUntilMs: 0, createdAtMs: context.nowMs() };
    const webhook: Webhook = { ...head, ...fieldsOf(body), headers: body.headers, url: body.url, secret: body.secret };
    return stored(context, undefined, webhook, tried.trial);
  });
}

export async function changeWebhook(context: WebhooksContext, request: QueryRequest<"changeWebhook">): Promise<Outcome<unknown>> {
  const { webhooks } = context.state.configured;
  const { tenant } = request.principal;
  const name = request.path.name ?? "";
  const { body } = request;
  const known = webhooks.find(tenant, name);
  if (known === undefined) return unknownWebhook(name);
  const problem =
    bodyProblem(context, tenant, body, known) ?? (body.url === shownUrl(known.url) ? undefined : await urlProblem(context, body.url));
  if (problem !== undefined) return problem;
  const tried = await tryTransform(context, { tenant, ...fieldsOf(body) });
  if (!tried.ok) return tried;
  return context.change(request, () => {
    const before = webhooks.find(tenant, name);
    if (before === undefined) return unknownWebhook(name);
    if (body.name !== name && webhooks.find(tenant, body.name) !== undefined) return taken(body.name);
    const gone = hiddenProblem(body, before);
    if (gone !== undefined) return gone;
    return stored(context, before, changedWebhook(before, body, context.nowMs()), tried.trial);
  });
}

export function deleteWebhook(context: WebhooksContext, request: QueryRequest<"deleteWebhook">): Promise<Outcome<unknown>> {
  const { webhooks } = context.state.configured;
  const { tenant } = request.principal;
  const name = request.path.name ?? "";
  return context.change(request, () => {
    const before = webhooks.find(tenant, name);
    if (before === undefined) return unknownWebhook(name);
    return {
      ok: true,
      note: { action: "webhook.delete", object: name, before: webhookView(before), after: null },
      operations: [webhooks.removal(before)],
      apply: () => {
        webhooks.remove(before.tenant, before.name);
        context.webhooks.forget(before);
      },
      outcome: noContent(),
    };
  });
}

export function oneWebhook({ state, webhooks }: WebhooksContext, { principal, path }: QueryRequest<"webhook">): Outcome<unknown> {
  const webhook = state.configured.webhooks.find(principal.tenant, path.name ?? "");
  return webhook === undefined ? unknownWebhook(path.name ?? "") : done(webhookView(webhook, webhooks.pause(webhook)));
}

export function listWebhooks({ state, webhooks }: WebhooksContext, request: QueryRequest<"webhooks">): Outcome<unknown> {
  const all = state.configured.webhooks.of(request.principal.tenant);
  return listed(state, request, { endpoint: "webhooks", positionOf: ({ name }) => [name] }, all, (page) => ({
    webhooks: page.map((webhook) => webhookView(webhook, webhooks.pause(webhook))),
    total: all.length,
  }));
}

export function webhookKey({ webhookPublicKey }: WebhooksContext): Outcome<unknown> {
  const { standard, pem } = webhookPublicKey();
  return done({ public_key: standard, pem });
}

export function unknownWebhook(name: string) {
  return refused("not_found", `no webhook has the name ${shown(name)}; GET /api/v1/webhooks lists those that there are`);
}

function taken(name: string) {
  return refused("conflict", `there is a webhook with the name ${shown(name)}; change it, or give another name`, "name");
}

function stored(
  context: WebhooksContext,
  before: Webhook | undefined,
  webhook: Webhook,
  trial: readonly TransformTrial[],
): Change<unknown> {
  const { webhooks } = context.state.configured;
  const after = webhookView(webhook);
  const answer = { ...after, transform_trial: trial };
  const isRenamed = before !== undefined && before.name !== webhook.name;
  return {
    ok: true,
    note: {
      action: before === undefined ? "webhook.create" : "webhook.change",
      object: webhook.name,
      before: before === undefined ? null : webhookView(before),
      after,
    },
    operations: [...(isRenamed ? [webhooks.removal(before)] : []), webhooks.operation(webhook)],
    apply: () => {
      if (isRenamed) webhooks.remove(before.tenant, before.name);
      webhooks.put(webhook);
      context.webhooks.saved(webhook);
    },
    outcome: before === undefined ? { ok: true, value: answer, status: 201 } : done(answer),
  };
}

function fieldsOf({ name, method, pattern, transform, retry, enabled }: WebhookBody) {
  const { type, expression = null, code = null } = transform ?? { type: null };
  return {
    name,
    method,
    pattern: patternOf(pattern),
    transform: type === null ? null : ({ type, expression, code } satisfies Transform),
    retry: {
      maxAttempts: retry.max_attempts,
      initialDelayMs: retry.initial_delay_ms,
      backoffMultiplier: retry.backoff_multiplier,
      maxDelayMs: retry.max_delay_ms,
    },
    enabled,
  };
}

function patternOf(pattern: WebhookBody["pattern"]): WebhookPattern {
  return {
    serviceIdRegex: pattern.service_id_regex,
    metricNameRegex: pattern.metric_name_regex,
    minAnomalyScore: pattern.min_anomaly_score,
    rootCauseCategory: pattern.root_cause_category,
    environments: pattern.environments,
  };
}

/** `before` is the webhook that it changes: what it hides may be sent back hidden. */
function bodyProblem({ state }: WebhooksContext, tenant: string, body: WebhookBody, before: Webhook | undefined) {
  if (RESERVED_NAMES.includes(body.name))
    return refused("invalid_field", `${shown(body.name)} is the name of a path of its own; give another`, "name");
  const hidden = hiddenProblem(body, before);
  if (hidden !== undefined) return hidden;
  const bytes = body.secret === null || body.secret === HIDDEN ? undefined : secretBytes(body.secret);
  if (bytes === null || (bytes !== undefined && body.secret?.startsWith("whsec_") === true && (bytes.length < 24 || bytes.length > 64))) {
    return refused("invalid_field", "a secret that begins with whsec_ is base64 of 24 to 64 bytes", "secret");
  }
  return patternProblem(state.configured.patterns, body.pattern, "pattern") ?? capacityProblem(state, tenant, body, before);
}

/** Patterns of the tenant's webhooks that would be too many together. */
function capacityProblem({ configured }: WebhooksContext["state"], tenant: string, body: WebhookBody, before: Webhook | undefined) {
  const others = configured.webhooks.of(tenant).filter((one) => one !== before);
  const problem = searchedCapacityProblem(
    configured.patterns,
    [...others.map(({ pattern }) => pattern), patternOf(body.pattern)],
    "webhooks",
  );
  return problem === null ? undefined : refused("unprocessable", problem, "pattern");
}

/** A `***` that stands for nothing, or for what was given for another target. */
function hiddenProblem(body: WebhookBody, before: Webhook | undefined) {
  if (body.secret === HIDDEN && before?.secret == null)
    return refused("invalid_field", "there is no secret that *** could stand for", "secret");
  const nothing = nameOfNothing(body.headers, before?.headers ?? {});
  if (nothing !== undefined)
    return refused("invalid_field", `there is no header ${shown(nothing)} that *** could stand for`, `headers.${nothing}`);
  if (before === undefined || isSameOrigin(before.url, body.url)) return undefined;
  const header = Object.entries(body.headers).find(([, value]) => value === HIDDEN)?.[0];
  if (header !== undefined) return boundToOrigin(`header ${shown(header)}`, originOf(body.url), `headers.${header}`);
  return body.secret === HIDDEN ? boundToOrigin("the secret", originOf(body.url), "secret") : undefined;
}

function isSameOrigin(known: string, input: string): boolean {
  return input === shownUrl(known) || originOf(input) === originOf(known);
}

/** The webhook as a body changes it. At another origin the former secret signs nothing. */
function changedWebhook(before: Webhook, body: WebhookBody, nowMs: number): Webhook {
  const url = body.url === shownUrl(before.url) ? before.url : body.url;
  const fields: Webhook = { ...before, ...fieldsOf(body), url, headers: unhidden(body.headers, before.headers) };
  const secret = body.secret === HIDDEN ? before.secret : body.secret;
  if (isSameOrigin(before.url, url)) return WebhookDeliveries.withSecret(fields, secret, nowMs);
  return { ...fields, secret, formerSecret: null, formerSecretUntilMs: 0 };
}

/** A regular expression that cannot be read, or would need too much, with the place in it. */
function patternProblem(patterns: PatternCache, pattern: WebhookBody["pattern"], field: string) {
  for (const name of ["service_id_regex", "metric_name_regex"] as const) {
    const regex = pattern[name];
    if (regex === null) continue;
    const problem = patterns.problem(regex) ?? patterns.problem(searched(regex));
    if (problem !== null) return refused("invalid_field", `${problem}, at character ${problemIndex(regex, problem)}`, `${field}.${name}`);
  }
  return undefined;
}

/** Where in a pattern the part is that its problem names, counted from 1; its end where none is named. */
function problemIndex(regex: string, problem: string): number {
  const part = /`([^`]*)`/.exec(problem)?.[1] ?? "";
  const at = part === "" || part === regex ? -1 : regex.indexOf(part);
  return at < 0 ? regex.length : at + 1;
}

async function urlProblem(context: WebhooksContext, url: string) {
  const problem = await context.forbiddenTarget(url);
  return problem === null ? undefined : refused("invalid_field", `the URL may not be asked for: ${problem}`, "url");
}
