import { expect, it } from "vitest";
import { EngineGroup } from "../../../../src/actors/engine/engine-group.ts";
import type { ActorThread } from "../../../../src/adapters/threads/actor-thread.ts";

const BUILT = new URL("../../../../dist/actors/engine/engine-group.js", import.meta.url);

it("is stopped before its threads were started", async () => {
  const group = new EngineGroup(3);
  group.send({ type: "tenant", index: 1, name: "acme" });
  expect([group.count, group.isStarted, group.unready, group.coordinatorPorts.length]).toEqual([3, false, 3, 3]);
  await group.stop();
  await group.ended();
  for (const port of group.coordinatorPorts) port.close();
});

/** Threads that end when they are terminated. */
function fakeThreads() {
  const terminated: string[] = [];
  const startThread = (name: string): ActorThread => {
    let end: () => void;
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const terminate = async () => {
      terminated.push(name);
      end();
    };
    return { ended, terminate } as unknown as ActorThread;
  };
  return { terminated, startThread };
}

it("ends threads that wait for what is stored, and tells them nothing", async () => {
  // The built one: the kernel lies beside it.
  const { EngineGroup: Built } = (await import(BUILT.href)) as { readonly EngineGroup: typeof EngineGroup };
  const group = new Built(1);
  const { terminated, startThread } = fakeThreads();
  group.load({ dataDir: "nowhere", syncEach: false, startThread });
  group.send({ type: "tenant", index: 1, name: "acme" });
  expect([group.isStarted, group.unready, terminated]).toEqual([false, 1, []]);
  await group.stop();
  await group.ended();
  expect(terminated).toEqual(["engine 0"]);
  for (const port of group.coordinatorPorts) port.close();
});
