// Channels as they are listed, and their tests: who was told, by channel.
import { expect, it } from "vitest";
import type { AttemptOutcome } from "../../../../src/domain/delivery/delivery.ts";
import type { HandedDelivery, OutboundCommand } from "../../../../src/domain/webhooks/outbound-messages.ts";
import { answerSchema } from "../../../support/answer-schema.ts";
import { Rig } from "../../../support/coordinator-rig.ts";

const NONE = { named: [], enabled: false, initial: null };
const DESTINATIONS = {
  chat: { named: [{ tenant: "default", name: "ops" }], enabled: true, initial: "" },
  pager: { named: [], enabled: true, initial: "" },
  email: { ...NONE, allowedDomains: [] },
  oncall: NONE,
};
const OPTIONS = { notification: { routing: { destinations: DESTINATIONS, defaultChannels: null }, publicUrl: null, hints: [] } };
const OWNER = { tenant: "default", subject: "ada", role: "admin" } as const;
const REFUSED: AttemptOutcome = { kind: "failed", error: "answered 404" };

async function open(options: object = OPTIONS) {
  const rig = await Rig.open(options);
  const tries: Array<Extract<OutboundCommand, { type: "channel-try" }>> = [];
  const { outbound } = rig.coordinator;
  outbound.connect({
    send: (command) => {
      if (command.type !== "channel-try") return;
      tries.push(command);
      const outcome: AttemptOutcome = command.destination.notifier === "chat" ? REFUSED : { kind: "delivered" };
      outbound.take({ type: "tried", id: command.id, sentAtMs: 0, outcome });
    },
  });
  const ask = async (endpoint: string, content?: unknown) => {
    const { status, body } = await rig.askAs(OWNER, endpoint, { content });
    if (status < 300) expect(answerSchema(endpoint, status).parse(body)).toEqual(body);
    return body;
  };
  return { rig, ask, tries };
}

it("a rule's channels are told that it is a drill, by choice, and each says what became of it (B13)", async () => {
  const { ask, tries } = await open();
  const { results } = await ask("testChannels", { rule_id: "catch-all" });
  expect(results).toMatchObject([
    { channel: "chat", state: "not_told", reason: "answered 404" },
    { channel: "pager", state: "told", reason: null },
  ]);
  const kinds = tries.map(({ destination, messages }) => [destination.notifier, ...messages.map(({ kind }) => kind)]);
  expect(kinds).toEqual([
    ["chat", "opened"],
    ["pager", "opened", "resolved"],
  ]);
  for (const { messages } of tries) for (const { serviceId } of messages) expect(serviceId).toBe("vedette.drill");
  expect((await ask("testChannels", { channel: "email:a@b.example" })).results[0]).toMatchObject({
    state: "not_told",
    channel: "email:a@b.example",
  });
});

it("channels are listed with their rules and what was last taken, and a failing one makes the status degraded (A2)", async () => {
  const { rig, ask } = await open();
  await ask("testChannels", { rule_id: "catch-all" });
  rig.nowMs += 400_000;
  const { channels, configured } = await ask("channels");
  expect(configured).toBe(true);
  expect(channels).toMatchObject([
    { channel: "chat", rules: ["catch-all"], state: "failing", last_success_at: null, error: "answered 404" },
    { channel: "pager", rules: ["catch-all"], state: "ok", failing_since: null },
    { channel: "chat:ops", rules: [], state: "untried" },
  ]);
  const { notifier, components } = (await rig.ask("status", {})).body;
  expect(components.notifier).toBe("degraded");
  expect(notifier).toMatchObject({ configured: true, failing: [{ channel: "chat", error: "answered 404" }] });
});

it("what a channel took last is known over a restart, from a test and from a message", async () => {
  const { rig, ask } = await open();
  const { outbox } = rig.coordinator.outbound;
  const lastOf = async (of: Rig) => {
    const { channels } = (await of.askAs(OWNER, "channels", {})).body;
    return Object.fromEntries(
      channels.map((one: { channel: string; last_success_at: string | null }) => [one.channel, one.last_success_at]),
    );
  };
  await ask("testChannels", { channel: "pager" });
  const testedAt = (await lastOf(rig)).pager;
  expect(testedAt).not.toBeNull();
  const stored = () => rig.control.contents.get("channel_successes")?.size ?? 0;
  await expect.poll(stored).toBe(1);
  rig.nowMs += 60_000;
  const messages: HandedDelivery[] = [];
  outbox.connect({ send: (command) => command.type === "send" && messages.push(...command.deliveries) });
  await ask("declareAnomaly", { service_id: "cart", severity: "high", explanation: "down" });
  await expect.poll(() => messages.length).toBe(2);
  for (const { key, serial, ...delivery } of messages) {
    const outcome: AttemptOutcome =
      delivery.kind === "channel" && delivery.destination.notifier === "chat" ? { kind: "delivered" } : REFUSED;
    const times = { sentAtMs: rig.nowMs, endedAtMs: rig.nowMs };
    outbox.take([{ of: "channel", kind: "attempted", deliveries: [{ key, serial }], ...times, outcome }]);
  }
  await expect.poll(stored).toBe(2);
  const again = await rig.restarted(OPTIONS);
  expect(await lastOf(again)).toMatchObject({ pager: testedAt, chat: new Date(rig.nowMs).toISOString() });
});

it("where none is configured the list says so", async () => {
  const { ask } = await open({});
  expect(await ask("channels")).toMatchObject({ channels: [], configured: false });
});
