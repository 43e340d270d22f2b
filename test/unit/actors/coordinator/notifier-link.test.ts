// The coordinator's end of the channel to a notifier that answers, that hangs, and that was never heard of.
import { MessageChannel, type MessagePort } from "node:worker_threads";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { NotifierLink } from "../../../../src/actors/coordinator/notifier-link.ts";
import {
  NOTIFIER_PULSE_MS,
  NOTIFIER_PULSES_MISSED_MAX,
  NOTIFIER_START_PULSES_MAX,
} from "../../../../src/core/config/notification-limits.ts";
import type { OutboundCommand } from "../../../../src/domain/webhooks/outbound-messages.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] }));
afterEach(() => void vi.useRealTimers());

/** Time passes, and messages come through. */
async function pulses(count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    vi.advanceTimersByTime(NOTIFIER_PULSE_MS);
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  }
}

function open() {
  const calls: string[] = [];
  const outbound = {
    connect: () => void calls.push("connect"),
    disconnect: () => void calls.push("disconnect"),
    hung: () => void calls.push("hung"),
    take: ({ type }: { type: string }) => void calls.push(type),
  };
  const link = new NotifierLink({ outbound, hung: () => void calls.push("replace"), reportFault: () => undefined });
  const ports: MessagePort[] = [];
  /** A notifier that answers as long as `answers` says so. */
  const notifier = (answers: () => boolean) => {
    const { port1, port2 } = new MessageChannel();
    port2.on("message", ({ type }: OutboundCommand) => {
      if (type === "pulse" && answers()) port2.postMessage({ type: "pulse" });
    });
    ports.push(port1, port2);
    link.connect(port1);
    return port2;
  };
  const end = () => {
    link.connect(null);
    for (const port of ports) port.close();
  };
  return { calls, notifier, end };
}

describe("a notifier", () => {
  it("that answers is asked for ever, and stays", async () => {
    const { calls, notifier, end } = open();
    notifier(() => true);
    await pulses(100);
    expect(calls).toEqual(["connect"]);
    end();
  });

  it("that hangs is left after as many pulses as it may miss, and replaced; what it says later is not heard", async () => {
    const { calls, notifier, end } = open();
    let answers = true;
    const port = notifier(() => answers);
    await pulses(3);
    answers = false;
    await pulses(NOTIFIER_PULSES_MISSED_MAX);
    expect(calls).toEqual(["connect"]);
    await pulses(1);
    expect(calls).toEqual(["connect", "hung", "replace"]);
    port.postMessage({ type: "reports", reports: [] });
    await pulses(NOTIFIER_START_PULSES_MAX);
    expect(calls).toEqual(["connect", "hung", "replace"]);
    notifier(() => true);
    await pulses(20);
    expect(calls).toEqual(["connect", "hung", "replace", "connect"]);
    end();
  });

  it("that has missed fewer and answers again stays", async () => {
    const { calls, notifier, end } = open();
    let answered = 0;
    notifier(() => ++answered % NOTIFIER_PULSES_MISSED_MAX === 1);
    await pulses(50);
    expect(calls).toEqual(["connect"]);
    end();
  });

  it("that has never answered has longer to start", async () => {
    const { calls, notifier, end } = open();
    notifier(() => false);
    await pulses(NOTIFIER_START_PULSES_MAX);
    expect(calls).toEqual(["connect"]);
    await pulses(1);
    expect(calls).toEqual(["connect", "hung", "replace"]);
    end();
  });
});
