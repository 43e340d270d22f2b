// Retention of deliveries: seven days, so many of one webhook, and those whose webhook is gone.
import { WEBHOOK_DELIVERIES_MS, WEBHOOK_DELIVERIES_PER_WEBHOOK_MAX } from "../../../core/config/webhook-limits.ts";
import type { CommittedState } from "../state/committed-state.ts";
import { breath, type RetentionStep } from "../state/retention-step.ts";
import { TABLE_END, TABLE_START } from "../state/tables.ts";
import { deliveryBound, deliveryPlace } from "./webhook-row.ts";

/** The order of keys groups a webhook's deliveries, the oldest first. */
export function* expireDeliveries({ control, configured }: CommittedState, nowMs: number, rowsPerStep: number): Generator<RetentionStep> {
  let from: Uint8Array = TABLE_START;
  for (;;) {
    const [first] = control.range("webhook_deliveries", { from, to: TABLE_END, limit: 1 });
    if (first === undefined) return;
    const { tenant, webhookId } = deliveryPlace(first.key);
    const isKnown = configured.webhooks.byId(webhookId) !== undefined;
    const end = deliveryBound(tenant, webhookId, Number.POSITIVE_INFINITY);
    const to = isKnown ? deliveryBound(tenant, webhookId, nowMs - WEBHOOK_DELIVERIES_MS) : end;
    yield* deleted(control, first.key, to, rowsPerStep);
    if (isKnown) yield* beyond(control, tenant, webhookId, rowsPerStep);
    from = end;
  }
}

function* deleted(control: CommittedState["control"], from: Uint8Array, to: Uint8Array, rowsPerStep: number): Generator<RetentionStep> {
  for (;;) {
    const entries = control.range("webhook_deliveries", { from, to, limit: rowsPerStep });
    if (entries.length === 0) return;
    yield stepOf(control, entries);
  }
}

/** The oldest beyond the number. */
function* beyond(control: CommittedState["control"], tenant: string, webhookId: string, rowsPerStep: number): Generator<RetentionStep> {
  const from = deliveryBound(tenant, webhookId, Number.NEGATIVE_INFINITY);
  let to = deliveryBound(tenant, webhookId, Number.POSITIVE_INFINITY);
  let kept = 0;
  for (;;) {
    const entries = control.range("webhook_deliveries", { from, to, reverse: true, limit: rowsPerStep });
    const last = entries.at(-1);
    if (last === undefined) return;
    kept += entries.length;
    to = last.key;
    if (kept > WEBHOOK_DELIVERIES_PER_WEBHOOK_MAX)
      yield stepOf(control, entries.slice(entries.length - (kept - WEBHOOK_DELIVERIES_PER_WEBHOOK_MAX)));
    else yield breath(control);
  }
}

function stepOf(control: CommittedState["control"], entries: ReadonlyArray<{ readonly key: Uint8Array }>): RetentionStep {
  const operations = entries.flatMap(({ key }) => [
    { table: "webhook_deliveries", key, value: undefined },
    { table: "webhook_outbox", key, value: undefined },
  ]);
  return { store: control, operations, apply: () => undefined };
}
