// One seed of the simulation of webhooks: what happens, and what must be so whatever was cut.
import type { Anomaly } from "../../src/domain/anomaly/anomaly.ts";
import { isOpen } from "../../src/domain/delivery/delivery.ts";
import { anomalyOf, turns, WebhookWorld, webhookOf } from "./webhook-world.ts";

const ACTIONS = 60;
const CATEGORY = "infrastructure";
/** `all` takes everything, `caused` what this category explains, `high` what is high. */
const WEBHOOKS = [
  webhookOf("all"),
  webhookOf("caused", { pattern: { ...webhookOf("caused").pattern, rootCauseCategory: CATEGORY } }),
  webhookOf("high", {
    pattern: { ...webhookOf("high").pattern, minAnomalyScore: 0.9 },
    retry: { ...webhookOf("high").retry, maxAttempts: 2 },
  }),
];

/** Runs a seed; throws what is wrong, in words. */
export async function runWebhookSeed(seed: number): Promise<Record<string, number>> {
  const world = await WebhookWorld.open(seed, WEBHOOKS);
  let [made, kills] = [0, 0];
  const open = () => [...world.anomalies.values()].filter(({ resolvedAtMs }) => resolvedAtMs === null);
  const one = (): Anomaly | undefined => open()[world.draw(Math.max(1, open().length))];
  const change = (changed: Partial<Anomaly>) => {
    const anomaly = one();
    if (anomaly !== undefined) void world.change(anomaly.id, changed);
  };
  const declare = () => {
    const z = 6 + world.draw(30);
    const { paging } = anomalyOf("");
    const { rcaTriggered: _, ...calm } = paging as NonNullable<Anomaly["paging"]>;
    const isAnalysed = world.draw(4) > 0;
    const at = { detectedAtMs: world.nowMs, startedAtMs: world.nowMs };
    void world.declare(anomalyOf(`${seed} ${++made}`, { z, ...at, paging: isAnalysed ? paging : calm }));
  };
  const revise = () => {
    const anomaly = [...world.anomalies.values()].filter(({ paging }) => paging?.rcaTriggered)[world.draw(Math.max(1, made))];
    if (anomaly === undefined) return;
    const category = ([null, CATEGORY, "application"] as const)[world.draw(3)] ?? null;
    void world.revise(anomaly.id, category, world.draw(3) === 0);
  };
  const actions: ReadonlyArray<() => unknown> = [
    declare,
    declare,
    () => change({ resolvedAtMs: world.nowMs, resolvedBy: "recovered" }),
    () => change({ z: 6 + world.draw(40) }),
    revise,
    revise,
    () => world.endAttempt("succeeds"),
    () => world.endAttempt("succeeds"),
    () => world.endAttempt("fails"),
    () => world.endAttempt("arrives, and fails"),
    () => world.pass(world.draw(5) === 0 ? 60_000 : 700),
    () => world.pass(1_000),
    () => world.draw(5) === 0 && world.pass(-5_000),
    () => world.draw(3) === 0 && world.loseNotifier(),
    async () => {
      if (world.draw(3) > 0) return;
      kills += 1;
      await world.kill();
    },
  ];
  for (let action = 0; action < ACTIONS; action++) {
    await actions[world.draw(actions.length)]?.();
    await turns(world.draw(60));
  }
  await finish(world);
  const found = violations(world);
  if (found.length > 0) throw new Error(found.join("; "));
  return { events: world.arrivals.length, letters: world.letters, webhookKills: kills };
}

/** All analyses end and all receivers answer, until nothing waits. */
async function finish(world: WebhookWorld): Promise<void> {
  await world.settled();
  if (world.fault !== undefined) throw world.fault;
  for (const { id, paging } of world.anomalies.values())
    if (paging?.rcaTriggered) await world.revise(id, world.causes.get(id) ?? null, true);
  for (let round = 0; round < 200; round++) {
    await world.settled();
    while (world.attempts.length > 0) world.endAttempt("succeeds");
    await world.settled();
    if (world.waiting === 0 && world.attempts.length === 0) return;
    world.pass(10_000);
  }
  throw new Error(`${world.waiting} events are left`);
}

function violations(world: WebhookWorld): string[] {
  const found: string[] = [];
  const events = world.arrivals.map(({ webhook, atMs, body }) => ({ webhook, atMs, body, event: JSON.parse(body) }));
  const rows = world.rows();
  if (world.mostInFlight > 8) found.push(`${world.mostInFlight} attempts were in flight for one webhook`);
  for (const { deliveryId, state, attempts, notes, event } of rows) {
    if (isOpen({ state })) found.push(`${deliveryId} stays ${state}`);
    if (attempts > 4) found.push(`${deliveryId} was tried ${attempts} times`);
    if (notes.some(({ attempt }, place) => attempt !== place + 1)) found.push(`attempts of ${deliveryId} are not counted from 1`);
    if (event !== null) found.push(`${deliveryId} is done with and keeps its event`);
  }
  // Whatever is repeated is the same, byte by byte.
  const bodies = new Map<string, string>();
  for (const { webhook, body, event } of events) {
    const key = `${webhook} ${event.event_id}`;
    if ((bodies.get(key) ?? body) !== body) found.push(`two bodies under ${key}`);
    bodies.set(key, body);
  }
  for (const anomaly of world.anomalies.values()) found.push(...anomalyViolations(world, anomaly, events, rows));
  return found;
}

function anomalyViolations(
  world: WebhookWorld,
  anomaly: Anomaly,
  events: ReadonlyArray<{
    readonly webhook: string;
    readonly event: { anomaly_id: string; event_id: string; event_type: string; root_cause: { category: string } | null };
  }>,
  rows: ReturnType<WebhookWorld["rows"]>,
): string[] {
  const found: string[] = [];
  const own = rows.filter(({ anomalyId }) => anomalyId === anomaly.id);
  const lost = (type: string) => own.some(({ eventType, state }) => eventType === type && state === "exhausted");
  const heard = (webhook: string, type: string) =>
    new Set(
      events
        .filter((one) => one.webhook === webhook && one.event.anomaly_id === anomaly.id && one.event.event_type === type)
        .map(({ event }) => event.event_id),
    );
  const say = (what: string) => found.push(`${anomaly.id}: ${what}`);
  const declared = heard("all", "anomaly.declared");
  if (declared.size !== 1 && !lost("anomaly.declared")) say(`declared ${declared.size} times`);
  if (declared.size > 1) say("declared under two ids");
  const ended = heard("all", "anomaly.resolved");
  if (anomaly.resolvedAtMs !== null && ended.size === 0 && !lost("anomaly.resolved")) say("its end was lost");
  if (anomaly.resolvedAtMs === null && ended.size > 0) say("an end was told, and it is open");
  for (const one of events) {
    if (one.webhook !== "caused" || one.event.anomaly_id !== anomaly.id || one.event.event_type !== "anomaly.declared") continue;
    if (one.event.root_cause?.category !== CATEGORY) say(`the category is ${one.event.root_cause?.category}`);
  }
  const caused = heard("caused", "anomaly.declared");
  if (caused.size > 1) say("it left twice for its cause");
  if (world.causes.get(anomaly.id) === CATEGORY && anomaly.resolvedAtMs === null && caused.size === 0 && !lost("anomaly.declared")) {
    const own = rows.filter(({ anomalyId, eventType }) => anomalyId === anomaly.id && eventType === "anomaly.declared");
    // A report that was final before it named the cause let it go: nothing of it is asked again.
    if (!own.some(({ state }) => state === "dropped")) say("its cause matches, and nobody heard of it");
  }
  return found;
}
