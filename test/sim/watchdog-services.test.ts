// Layer 2 over whole servers: real engines, coordinator, store and trainings, on a virtual clock and one thread.
import { describe, expect, it } from "vitest";
import { type Found, HISTORY, METRICS, SERVICES, World } from "../support/service-world.ts";

describe("the pass over services", () => {
  it("says the same with 1, 2 and 4 engines, and ends the alert once the relation is back", async () => {
    const verdicts: Found[][] = [];
    for (const engines of [1, 2, 4]) {
      const world = await World.open({ engines }, [HISTORY + 15, HISTORY + 20]);
      await world.history();
      await world.minutes(40);
      expect(world.server.counter("modelsTrained")).toBe(2 * SERVICES.length);
      expect(world.server.counter("trainingFailures")).toBe(0);
      verdicts.push(await world.found());
    }
    const [one, two, four] = verdicts as [Found[], Found[], Found[]];
    expect(one).toHaveLength(1);
    expect(one[0]).toMatchObject({ service_id: "b", environment: "prod", detector: "isolation_forest", resolved: true });
    expect(one[0]?.verdict.contributions[0]?.feature).toBe("queue");
    expect(one[0]?.explanation).toMatch(/^5 metrics .*queue was/);
    const compared = (found: Found[]) => found.map(({ started_at, z_score, explanation }) => ({ started_at, z_score, explanation }));
    expect(compared(two)).toEqual(compared(one));
    expect(compared(four)).toEqual(compared(one));
  });

  it("goes on after a restart with another number of engines, with the models and the alert that it had", async () => {
    const world = await World.open({ engines: 2 }, [HISTORY + 10, HISTORY + 18]);
    await world.history();
    await world.minutes(13);
    const before = await world.found();
    expect(before).toMatchObject([{ service_id: "b", resolved: false }]);
    await world.restart(3);
    await world.minutes(20);
    expect(world.server.counter("modelsLoaded")).toBe(2 * SERVICES.length);
    expect(world.server.counter("modelsTrained")).toBe(0);
    expect(await world.found()).toMatchObject([{ started_at: before[0]?.started_at, resolved: true }]);
  });

  it("judges no more services than it may, and says how many it left out", async () => {
    const world = await World.open({ engines: 1, servicesMax: 3 }, [0, 0]);
    await world.history();
    await world.minutes(4);
    expect(world.server.cluster.counter("servicesMonitored")).toBe(3);
    expect(world.server.counter("modelsTrained")).toBe(3);
    expect(world.server.cluster.counter("serviceModelBytes")).toBeLessThan(3 * METRICS.length * 2_500);
  });
});
