// One seed of the simulation of the outbox: what happens, and what must be so whatever was cut.
import { isPage } from "../../src/domain/notification/channel-delivery.ts";
import { joinsOf } from "../../src/domain/notification/message-joins.ts";
import { OutboxWorld } from "./outbox-world.ts";

const ACTIONS = 40;
const RECEIVERS = ["chat", "pager", "email"] as const;

/** Runs a seed; throws what is wrong, in words. */
export async function runOutboxSeed(seed: number): Promise<Record<"told" | "ended" | "repeated" | "joined" | "refused", number>> {
  const world = await OutboxWorld.open(seed);
  for (let action = 0; action < ACTIONS; action++) await world.act();
  await world.settle();
  const found = await violations(world);
  if (found.length > 0) throw new Error(found.join("; "));
  const keys = world.arrivals.map(({ receiver, message }) => JSON.stringify([receiver, message.alertId, message.atMs]));
  return {
    told: world.arrivals.length,
    ended: world.arrivals.filter(({ message }) => message.kind === "resolved").length,
    repeated: keys.length - new Set(keys).size,
    joined: world.arrivals.filter(({ receiver, messages }) => receiver === "email" && messages.length > 1).length,
    refused: (await world.alerts()).filter(({ alert_id }) => RECEIVERS.some((receiver) => world.refuses(receiver, alert_id))).length,
  };
}

/** What is wrong with what arrived, in words. */
async function violations(world: OutboxWorld): Promise<string[]> {
  const found = joinFaults(world);
  const alerts = await world.alerts();
  for (const alert of alerts) {
    for (const receiver of RECEIVERS) {
      if (world.refuses(receiver, alert.alert_id)) continue; // nothing of it arrives there
      const arrived = world.arrivals.filter((one) => one.receiver === receiver && one.message.alertId === alert.alert_id);
      const words = arrived.map(({ message }) => `${message.kind}@${message.atMs}`).join(" ");
      const say = (what: string) => found.push(`${receiver} ${alert.alert_id} (${alert.state}): ${what}: ${words}`);
      const times = arrived.map(({ message }) => message.atMs);
      if (!world.stepsClock && times.some((atMs, place) => atMs < (times[place - 1] ?? 0))) say("out of order");
      const delivery = alert.deliveries.find(({ channel }: { channel: string }) => channel.startsWith(receiver));
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

/** What is wrong with how messages were joined: pages with ends, or a repeat of a mail under another Message-ID. */
function joinFaults({ arrivals }: OutboxWorld): string[] {
  const keys = new Map<string, Set<string>>();
  const found: string[] = [];
  for (const { receiver, message, messages, key } of arrivals) {
    if (new Set(messages.map(joinsOf)).size > 1) found.push(`${receiver}: joined are ${messages.map(({ kind }) => kind).join(" ")}`);
    const name = JSON.stringify([receiver, message.alertId, message.kind, message.atMs]);
    keys.set(name, (keys.get(name) ?? new Set()).add(key));
  }
  for (const [name, of] of keys) if (of.size > 1) found.push(`${name} came under ${of.size} keys`);
  return found;
}
