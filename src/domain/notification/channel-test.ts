// The test of a channel: a message that says it is a drill, and for what wakes people its end behind it.
import { DRILL_SERVICE } from "../../core/protocol/own-telemetry.ts";
import { type AlertMessage, OF_NO_ALERT } from "./alert-message.ts";
import type { Notifier } from "./channel.ts";

const METRIC = "test";

/** Messages of one test, in their order; `id` is the identity of an alert that no other has. */
export function testMessages(
  notifier: Notifier,
  { tenant, by, id }: { tenant: string; by: string; id: string },
  atMs: number,
): AlertMessage[] {
  const begin: AlertMessage = {
    ...OF_NO_ALERT,
    kind: "opened",
    tenant,
    alertId: id,
    severity: "low",
    serviceId: DRILL_SERVICE,
    environment: "",
    source: METRIC,
    metricName: METRIC,
    explanation: `${by} tests this channel`,
    startedAtMs: atMs,
    atMs,
  };
  const wakes = notifier === "pager" || notifier === "oncall";
  return wakes ? [begin, { ...begin, kind: "resolved", resolvedAtMs: atMs }] : [begin];
}
