// When events leave: the wait for a cause, patterns that name its category, webhooks that end and begin again, rows that are too old.
import { describe, expect, it } from "vitest";
import { FAULT_PAUSE_MS, WEBHOOK_DELIVERIES_MS } from "../../../../src/core/config/webhook-limits.ts";
import type { Webhook } from "../../../../src/domain/webhooks/webhook.ts";
import { DueRows } from "../../../../src/modules/webhooks/webhook-deliveries.ts";
import { expireDeliveries } from "../../../../src/modules/webhooks/webhooks-module.ts";
import { anomalyOf, WebhookWorld, webhookOf } from "../../../support/webhook-world.ts";

const CAUSED = webhookOf("caused", { pattern: { ...webhookOf("caused").pattern, rootCauseCategory: "infrastructure" } });
const ANOMALY = anomalyOf("one");
const CALM = anomalyOf("calm", { paging: { ...(ANOMALY.paging as NonNullable<typeof ANOMALY.paging>), rcaTriggered: undefined as never } });

async function open(...webhooks: Webhook[]): Promise<WebhookWorld> {
  return WebhookWorld.open(1, webhooks);
}

/** Events that have arrived, after all that is under way has succeeded. */
async function arrived(world: WebhookWorld) {
  await world.settled();
  while (world.attempts.length > 0) world.endAttempt("succeeds");
  await world.settled();
  return world.arrivals.map(({ body }) => JSON.parse(body) as { event_type: string; root_cause: { category: string } | null });
}

describe("an event", () => {
  it("waits two seconds for a cause and no longer, and then says that there is none", async () => {
    const world = await open(webhookOf("all"));
    await world.declare(ANOMALY);
    world.pass(1_999);
    expect(await arrived(world)).toEqual([]);
    world.pass(2);
    expect(await arrived(world)).toMatchObject([{ event_type: "anomaly.declared", root_cause: null }]);
    await world.revise(ANOMALY.id, "application", true);
    expect(await arrived(world)).toHaveLength(1);
  });

  it("leaves at the first revision that has a cause, with it", async () => {
    const world = await open(webhookOf("all"));
    await world.declare(ANOMALY);
    await world.revise(ANOMALY.id, null, false);
    expect(await arrived(world)).toEqual([]);
    await world.revise(ANOMALY.id, "application", false);
    expect(await arrived(world)).toMatchObject([{ root_cause: { category: "application" } }]);
    world.pass(10_000);
    expect(await arrived(world)).toHaveLength(1);
  });

  it("has a link to the page of its alert", async () => {
    const world = await open(webhookOf("all"));
    const paging = { ...(CALM.paging as NonNullable<typeof CALM.paging>), alertId: "a1" };
    await world.declare(anomalyOf("paged", { paging }));
    expect(await arrived(world)).toMatchObject([{ link: "https://vedette.example/#/alert/a1" }]);
  });

  it("waits for nothing where no analysis was triggered", async () => {
    const world = await open(webhookOf("all"), CAUSED);
    await world.declare(CALM);
    expect(await arrived(world)).toMatchObject([{ root_cause: null }]);
    expect(world.rows()).toHaveLength(1);
  });

  it("waits two seconds of the clock at most when the clock is put back", async () => {
    const world = await open(webhookOf("all"));
    await world.declare(ANOMALY);
    world.pass(-3_600_000);
    await world.declare(anomalyOf("two"));
    world.pass(2_001);
    expect(await arrived(world)).toHaveLength(2);
  });

  it("of a pattern with a category is asked again at each revision, and leaves once", async () => {
    const world = await open(CAUSED);
    await world.declare(ANOMALY);
    world.pass(60_000);
    await world.revise(ANOMALY.id, "application", false);
    expect(await arrived(world)).toEqual([]);
    await world.revise(ANOMALY.id, "infrastructure", false);
    await world.revise(ANOMALY.id, "infrastructure", true);
    expect(await arrived(world)).toMatchObject([{ root_cause: { category: "infrastructure" } }]);
  });

  it("of such a pattern is dropped by a final report that does not match", async () => {
    const world = await open(CAUSED);
    await world.declare(ANOMALY);
    await world.revise(ANOMALY.id, "application", true);
    expect(await arrived(world)).toEqual([]);
    expect(world.rows().map(({ state }) => state)).toEqual(["dropped"]);
    expect(world.waiting).toBe(0);
  });
});

describe("a webhook", () => {
  it("that fails by its own fault twenty times in a row pauses for five minutes, and another goes on", async () => {
    const world = await open(webhookOf("all"), webhookOf("other"));
    const hook = world.state.configured.webhooks.find("default", "all") as Webhook;
    let calm = 0;
    for (let rounds = 0; rounds < 200 && world.webhooks.pause(hook) === null; rounds++) {
      if (world.attempts.length === 0) await world.declare(anomalyOf(`calm ${calm++}`, { paging: CALM.paging }));
      await world.settled();
      world.attempts.sort((a, b) => (a.webhook < b.webhook ? -1 : 1));
      const [next] = world.attempts.splice(0, 1);
      if (next !== undefined) world.end(next, next.webhook === "all" ? "throws" : "succeeds");
      await world.settled();
    }
    expect(world.webhooks.pause(hook)).toMatchObject({ failures: 20, error: "transform: it throws" });
    await world.declare(anomalyOf("later", { paging: CALM.paging }));
    await world.settled();
    expect(world.attempts.map(({ webhook }) => webhook)).toEqual(expect.not.arrayContaining(["all"]));
    expect(world.attempts.some(({ webhook }) => webhook === "other")).toBe(true);
    world.pass(FAULT_PAUSE_MS);
    await world.settled();
    expect([world.webhooks.pause(hook), world.attempts.some(({ webhook }) => webhook === "all")]).toEqual([null, true]);
  });

  it("whose target cannot be given to the notifier pauses, and ends nothing", async () => {
    const world = await open(webhookOf("all"));
    const hook = world.state.configured.webhooks.find("default", "all") as Webhook;
    const odd = { ...hook, headers: { constructor: Object as unknown as string } };
    world.outbox.connect({ send: (command) => void structuredClone(command) });
    world.webhooks.saved(odd);
    expect(world.webhooks.pause(hook)?.error).toMatch(/could not be cloned/);
    world.webhooks.saved(hook);
    expect(world.webhooks.pause(hook)).toBeNull();
  });

  it("whose receiver says 410 is disabled; what waits leaves once it is enabled again", async () => {
    const world = await open(webhookOf("all"));
    const { webhooks } = world.state.configured;
    for (let i = 0; i < 12; i++) await world.declare(anomalyOf(`calm ${i}`, { paging: CALM.paging }));
    await world.settled();
    world.endAttempt("is gone");
    await world.settled();
    expect(webhooks.find("default", "all")?.enabled).toBe(false);
    expect(world.letters).toBe(1);
    await arrived(world);
    const before = world.arrivals.length;
    expect(before).toBeLessThan(11);
    const enabled = { ...(webhooks.find("default", "all") as Webhook), enabled: true };
    webhooks.put(enabled);
    world.webhooks.aim(enabled);
    for (let rounds = 0; rounds < 3; rounds++) await arrived(world);
    expect(new Set(world.arrivals.map(({ body }) => body)).size).toBe(11);
    expect(world.waiting).toBe(0);
  });

  it("counts no row any more that was too old, whatever it waited for", async () => {
    const world = await open(webhookOf("all", { enabled: true }), CAUSED);
    await world.declare(ANOMALY);
    await world.declare(anomalyOf("calm", { paging: CALM.paging }));
    await world.settled();
    expect(world.waiting).toBe(3);
    const expired = world.webhooks.expired.bind(world.webhooks);
    const steps = expireDeliveries({ state: world.state, expired }, world.nowMs + WEBHOOK_DELIVERIES_MS + 1, 10);
    for (const { store, operations, apply } of steps) {
      await store.commit(operations);
      apply();
    }
    expect(world.rows()).toEqual([]);
    expect([world.waiting, world.webhooks.size]).toEqual([0, 0]);
    world.pass(60_000);
    expect(await arrived(world)).toHaveLength(1); // it was under way
  });
});

describe("rows that wait for a time", () => {
  it("are due in their order, and a row keeps its place", () => {
    const rows = new DueRows(2_000);
    rows.add("a", 3_000);
    rows.add("b", 3_500);
    rows.add("a", 9_000);
    expect(rows.nextAtMs(1_000)).toBe(3_000);
    expect(rows.due(2_999)).toEqual([]);
    expect(rows.due(3_200)).toEqual(["a"]);
    rows.remove("a");
    expect(rows.due(4_000)).toEqual(["b"]);
    expect(rows.nextAtMs(-60_000)).toBe(-60_000);
    rows.remove("b");
    expect([rows.size, rows.nextAtMs(0)]).toEqual([0, undefined]);
  });
});
