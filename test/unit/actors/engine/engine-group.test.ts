import { expect, it } from "vitest";
import { EngineGroup } from "../../../../src/actors/engine/engine-group.ts";

it("is stopped before its threads were started", async () => {
  const group = new EngineGroup(3);
  group.tell({ type: "tenant", index: 1, name: "acme" });
  expect([group.count, group.isStarted, group.unready, group.coordinatorPorts.length]).toEqual([3, false, 3, 3]);
  await group.stop();
  await group.ended();
  for (const port of group.coordinatorPorts) port.close();
});
