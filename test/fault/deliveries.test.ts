// kill -9 at random moments of deliveries: no alert is unheard, no resolution is lost, what a receiver heard last is right, and what is repeated comes under its key.
// DELIVERY_KILLS=n and CRASH_SEED=n set how many kills and which; a kill takes about a second.
import { afterEach, describe, expect, it } from "vitest";
import { AlertmanagerPeer, hasAlertmanager } from "../support/alertmanager-peer.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { ServerBench } from "../support/server-process.ts";
import { until } from "../support/until.ts";
import { WebhookReceiver } from "../support/webhook-receiver.ts";
import { DeliveriesRound } from "./deliveries-round.ts";

const KILLS = Number(process.env.DELIVERY_KILLS ?? 3);
const SEED = Number(process.env.CRASH_SEED ?? Math.floor(Math.random() * 1_000_000));
/** Kills of the Alertmanager beside it: each takes some seconds, so only where many of ours are asked for. */
const KILLS_BESIDE = KILLS >= 100 && hasAlertmanager() ? 5 : 0;

const bench = new ServerBench();
let round: DeliveriesRound | undefined;
afterEach(async () => {
  round?.close();
  await bench.close();
});

// biome-ignore lint/suspicious/noExplicitAny: bodies of all shapes
type Json = any;

/** What the pager and the chat have heard of each alert, in its order; chat by the service that it names. */
function heardOf(alert: Json, round: DeliveriesRound): { readonly pager: string[]; readonly chat: string[] } {
  const service = alert.service_id ?? alert.services?.[0];
  const pager = round.receivers.at("/pd/").filter(({ body }) => body.dedup_key === alert.alert_id);
  const chat = round.receivers.at("/slack/").flatMap(({ body }) => body.attachments.map(({ fallback }: { fallback: string }) => fallback));
  return {
    pager: pager.map(({ body }) => body.event_action),
    chat: chat.filter((line: string) => line.includes(` ${service},`)).map((line: string) => line.split(":")[0] as string),
  };
}

describe("kill -9 at a random moment of the deliveries", () => {
  it(`loses nothing over ${KILLS} kills; replay: CRASH_SEED=${SEED} make crash`, { timeout: 3 * PATIENCE_MS + 6_000 * KILLS }, async () => {
    round = await DeliveriesRound.open(bench, SEED);
    const server = await round.run(KILLS);
    const alerts = await round.alerts(server);
    const wrong: string[] = [];
    for (const alert of alerts) {
      const { pager, chat } = heardOf(alert, round);
      const say = (what: string) => wrong.push(`${alert.alert_id} (${alert.state}): ${what}: pager ${pager}, chat ${chat}`);
      const isResolved = alert.state === "resolved";
      if (chat.length === 0) say("unheard by chat");
      // Nobody is woken for what had ended, or was in somebody's hands, before anything was tried.
      if (pager.length === 0 && !isResolved && alert.acknowledged_by === null) say("unheard by the pager");
      if (isResolved && pager.includes("trigger") && pager.at(-1) !== "resolve") say("the pager's end is lost");
      if (isResolved && !["Resolved", "Fired and resolved"].includes(chat.at(-1) ?? "")) say("chat's end is lost");
      if (!isResolved && (pager.at(-1) === "resolve" || /esolved/.test(chat.at(-1) ?? ""))) say("told as resolved last");
    }
    expect(wrong).toEqual([]);
    const known = new Set(alerts.map(({ alert_id }) => alert_id));
    expect(round.declared.filter(({ alertId }) => !known.has(alertId))).toEqual([]);
    expect(round.receivers.at("/pd/").filter(({ body }) => !known.has(body.dedup_key))).toEqual([]);
    expect(round.receivers.faults).toEqual([]);
    const bodies = new Map<string, string>();
    for (const { text, headers } of round.events.received) {
      const id = headers["webhook-id"] as string;
      expect(bodies.get(id) ?? text, "a repeat of an event is the same").toBe(text);
      bodies.set(id, text);
    }
    const declared = [...bodies.values()].map((text) => JSON.parse(text)).filter(({ event_type }) => event_type === "anomaly.declared");
    const heard = new Set(declared.map(({ anomaly_id }) => anomaly_id));
    expect(round.declared.filter(({ anomalyId }) => !heard.has(anomalyId))).toEqual([]);
    const messages = round.receivers.received.length;
    console.log(JSON.stringify({ seed: SEED, kills: round.kills, alerts: alerts.length, messages, events: round.events.received.length }));
  });

  const beside = async () => {
    const receiver = await WebhookReceiver.open();
    let lost = 0;
    for (let kill = 0; kill < KILLS_BESIDE; kill++) {
      const peer = new AlertmanagerPeer();
      await peer.start(`${receiver.origin}/`);
      const alert = { labels: { alertname: `Down${kill}` }, startsAt: new Date(Date.now() - 60_000).toISOString() };
      await peer.post(alert);
      const statuses = () =>
        receiver.events.flatMap(({ alerts }: Json) => alerts).filter(({ labels }: Json) => labels.alertname === alert.labels.alertname);
      await expect.poll(() => statuses().length, { timeout: PATIENCE_MS }).toBeGreaterThan(0);
      await peer.restart();
      await peer.post({ ...alert, endsAt: new Date().toISOString() });
      const isResolved = () => statuses().some(({ status }: Json) => status === "resolved");
      // Ten times its interval of a second.
      lost += await until("a resolution", isResolved, Boolean, { patienceMs: 10_000 }).then(
        () => 0,
        () => 1,
      );
      await peer.close();
    }
    receiver.close();
    console.log(`Alertmanager, killed after its page: ${lost} of ${KILLS_BESIDE} resolutions lost; the server above: 0`);
    expect(lost).toBeLessThanOrEqual(KILLS_BESIDE);
  };
  if (KILLS_BESIDE > 0) it("beside it, an Alertmanager that is killed after its page", beside);
});
