// A thread that hangs in a loop of its own is ended, and started again where its policy says so.
import { MessageChannel } from "node:worker_threads";
import { expect, it } from "vitest";
import { ActorThread } from "../../../../src/adapters/threads/actor-thread.ts";

const HANGS = new URL(
  `data:text/javascript,import { workerData } from "node:worker_threads"; workerData.port.postMessage({ type: "here" }); for (;;);`,
);

it("is replaced, with ports of its own each time, and ends when it is to", async () => {
  const failures: string[] = [];
  let starts = 0;
  let heard = 0;
  const waiting = new Map<number, () => void>();
  const started = (count: number) => new Promise<void>((resolve) => void (heard >= count ? resolve() : waiting.set(count, resolve)));
  const options = {
    name: "hangs",
    file: HANGS,
    restart: { firstMs: 1, mostMs: 1, soundMs: 1_000_000 },
    failed: ({ error }: { readonly error: Error }) => void failures.push(error.message),
  };
  const thread = new ActorThread(options, () => {
    starts++;
    const { port1, port2 } = new MessageChannel();
    port1.on("message", () => {
      heard++;
      waiting.get(heard)?.();
      port1.close();
    });
    return { data: { port: port2 }, ports: [port2] };
  });
  await started(1);
  thread.replace();
  await started(2);
  expect({ starts, restarts: thread.restarts, failures }).toEqual({ starts: 2, restarts: 1, failures: ["its thread ended with code 1"] });
  await thread.terminate();
  expect(failures).toHaveLength(1);
});
