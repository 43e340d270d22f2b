// The outbox over hundreds of seeds: whatever is cut and whenever, what was decided arrives, in its order, and the end of an alert reaches whoever heard of it.
import { describe, expect, it } from "vitest";
import { isPage } from "../../src/domain/notification/channel-delivery.ts";
import { OutboxWorld } from "../support/outbox-world.ts";

const SEEDS = 150;
const ACTIONS = 40;

/** What is wrong with what arrived, in words. */
async function violations(world: OutboxWorld): Promise<string[]> {
  const found: string[] = [];
  const alerts = await world.alerts();
  for (const alert of alerts) {
    for (const receiver of ["chat", "pager"]) {
      const arrived = world.arrivals.filter((one) => one.receiver === receiver && one.message.alertId === alert.alert_id);
      const words = arrived.map(({ message }) => `${message.kind}@${message.atMs}`).join(" ");
      const say = (what: string) => found.push(`${receiver} ${alert.alert_id} (${alert.state}): ${what}: ${words}`);
      const times = arrived.map(({ message }) => message.atMs);
      if (times.some((atMs, place) => atMs < (times[place - 1] ?? 0))) say("out of order");
      const delivery = alert.deliveries.find(({ channel }: { channel: string }) => channel === receiver);
      const last = arrived.at(-1)?.message;
      const heardPage = arrived.some(({ message }) => isPage(message.kind));
      if (alert.state === "resolved" && heardPage && last?.kind !== "resolved") say("its end was lost");
      // One that opens again may be held back: what counts is whether a page was decided since its end.
      const changes: string[] = alert.history.map(({ change }: { change: string }) => change);
      if (alert.state === "firing" && changes.lastIndexOf("paged") > changes.lastIndexOf("resolved")) {
        // Nobody is woken where somebody had it before the pager was tried.
        if (receiver === "pager" && changes.lastIndexOf("acknowledged") > changes.lastIndexOf("paged")) continue;
        if (last === undefined) say("nobody heard of it");
        else if (last.kind === "resolved") say("it was told as resolved last");
      }
      if (alert.pages > 0 && delivery === undefined) say("it has no delivery");
      if (delivery !== undefined && !["delivered", "superseded"].includes(delivery.state)) say(`it stays ${delivery.state}`);
      if (delivery?.state === "superseded" && heardPage && last?.kind !== "resolved") say("superseded, but it was heard of");
    }
  }
  return found;
}

describe("the outbox", () => {
  it(`loses nothing over ${SEEDS} seeds of kills, lost answers and changing alerts`, async () => {
    let [told, ended, repeated] = [0, 0, 0];
    for (let seed = 1; seed <= SEEDS; seed++) {
      const world = await OutboxWorld.open(seed);
      for (let action = 0; action < ACTIONS; action++) await world.act();
      await world.settle();
      expect(await violations(world), `seed ${seed}`).toEqual([]);
      told += world.arrivals.length;
      ended += world.arrivals.filter(({ message }) => message.kind === "resolved").length;
      repeated += world.arrivals.filter(
        ({ receiver, message }, place) =>
          world.arrivals.findIndex(
            (one) => one.receiver === receiver && one.message.alertId === message.alertId && one.message.atMs === message.atMs,
          ) < place,
      ).length;
    }
    // The seeds go through what they are for.
    expect(told).toBeGreaterThan(SEEDS);
    expect(ended).toBeGreaterThan(SEEDS / 4);
    expect(repeated).toBeGreaterThan(0);
  }, 120_000);
});
