// GET /api/v1/webhooks/{name}/deliveries: attempts, of the newest event first; and POST /api/v1/webhooks/test.
import { openPage } from "../../api/page-token.ts";
import { done, type Outcome, refused } from "../../api/refusal.ts";
import { hash128 } from "../../core/hashing/hash128.ts";
import { NEW_DELIVERY } from "../../domain/delivery/delivery.ts";
import { afterAttempt } from "../../domain/webhooks/webhook-delivery.ts";
import { TOO_MANY_CALLS } from "../notification/outbound-calls.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import { testEventText } from "./event-view.ts";
import { EVENT_ROW } from "./stored-event.ts";
import { unknownWebhook } from "./webhook-handlers.ts";
import { deliveryBound, deliveryIdOf, deliveryKey, type WebhookDeliveryRow } from "./webhook-row.ts";
import { attemptCount, attemptView, attemptViews } from "./webhook-view.ts";
import type { WebhooksContext } from "./webhooks-context.ts";

/** Rows read at once while a page is put together. */
const ROWS_PER_READ = 200;

type Position = readonly [occurredAtMs: number, deliveryId: string, attempt: number];

export async function listDeliveries(context: WebhooksContext, request: QueryRequest<"webhookDeliveries">): Promise<Outcome<unknown>> {
  const { state, yieldToLoop } = context;
  const { principal, path, query } = request;
  const { tenant } = principal;
  const webhook = state.configured.webhooks.find(tenant, path.name ?? "");
  if (webhook === undefined) return unknownWebhook(path.name ?? "");
  const asked = openPage(state, request, "webhook_deliveries", { name: webhook.name });
  if (!asked.ok) return asked;
  const after = asked.value.after as Position | undefined;
  const shown: Array<{ readonly position: Position; readonly view: ReturnType<typeof attemptViews>[number] }> = [];
  let total = 0;
  const from = deliveryBound(tenant, webhook.id, Number.NEGATIVE_INFINITY);
  let to = deliveryBound(tenant, webhook.id, Number.POSITIVE_INFINITY);
  for (;;) {
    const entries = state.control.range("webhook_deliveries", { from, to, reverse: true, limit: ROWS_PER_READ });
    for (const { value } of entries) {
      const row = EVENT_ROW.decode(value);
      total += attemptCount(row);
      if (shown.length > query.limit) continue;
      for (const view of attemptViews(row)) {
        const position: Position = [row.occurredAtMs, row.deliveryId, view.attempt];
        if (after === undefined || isBehind(position, after)) shown.push({ position, view });
      }
    }
    const last = entries.at(-1);
    if (last === undefined || entries.length < ROWS_PER_READ) break;
    to = last.key;
    await yieldToLoop();
  }
  const { page, page_token } = asked.value.cut(shown, ({ position }) => [...position]);
  return done({ deliveries: page.map(({ view }) => view), total, page_token });
}

export async function testWebhook(context: WebhooksContext, request: QueryRequest<"testWebhook">): Promise<Outcome<unknown>> {
  const { state, calls, webhooks, nowMs, edit, randomBytes } = context;
  const { tenant } = request.principal;
  const name = request.body.webhook_name;
  const webhook = state.configured.webhooks.find(tenant, name);
  if (webhook === undefined) return unknownWebhook(name);
  const occurredAtMs = nowMs();
  const eventId = hash128(JSON.stringify(["webhook.test", webhook.id, occurredAtMs, Buffer.from(randomBytes(8)).toString("hex")]));
  const event = testEventText(eventId, tenant, occurredAtMs);
  const tried = await calls.tryWebhook(tenant, webhooks.target(webhook), eventId, event);
  if (tried === "full") return refused("overloaded", TOO_MANY_CALLS);
  if (tried === undefined) return refused("overloaded", "the notifier gave no answer; try again in a moment");
  const deliveryId = deliveryIdOf(webhook.id, eventId);
  const once = { ...webhook.retry, maxAttempts: 1 };
  const head = {
    ...NEW_DELIVERY,
    notes: [],
    deliveryId,
    eventId,
    eventType: "webhook.test",
    anomalyId: "",
    occurredAtMs,
    createdAtMs: occurredAtMs,
    holdUntilMs: null,
    event: null,
  } as const;
  const attempt = { sentAtMs: tried.sentAtMs, endedAtMs: nowMs(), outcome: tried.outcome };
  const row: WebhookDeliveryRow = afterAttempt<WebhookDeliveryRow>(head, attempt, once);
  const key = deliveryKey({ tenant, webhookId: webhook.id, occurredAtMs, deliveryId });
  await edit(() => state.control.commit([{ table: "webhook_deliveries", key, value: EVENT_ROW.encode(row) }]));
  const [note] = row.notes;
  return note === undefined ? refused("internal_error", "the attempt was not noted") : done(attemptView(row, note));
}

function isBehind([time, id, attempt]: Position, [afterTime, afterId, afterAttempt]: Position): boolean {
  if (time !== afterTime) return time < afterTime;
  if (id !== afterId) return id < afterId;
  return attempt < afterAttempt;
}
