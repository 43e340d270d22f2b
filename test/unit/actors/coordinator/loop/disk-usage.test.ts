// When the coordinator has idle stores give back room: every five seconds, on a disk that has plenty.
import { describe, expect, it } from "vitest";
import { Rig } from "../../../../support/coordinator-rig.ts";

const GIB = 1024 ** 3;

async function trimsIn(rig: Rig, seconds: number): Promise<number[]> {
  const before = [rig.control.trims, rig.series.trims] as const;
  for (let second = 0; second < seconds; second++) {
    rig.monotonicMs += 1000;
    await rig.drain();
  }
  return [rig.control.trims - before[0], rig.series.trims - before[1]];
}

describe("idle stores", () => {
  it.each([[undefined], [GIB]])(
    "give back room every five seconds while the disk has plenty, with a limit of %s bytes too",
    async (diskLimitBytes) => {
      const rig = await Rig.open(diskLimitBytes === undefined ? {} : { diskLimitBytes });
      rig.freeBytes = 2 * GIB;
      await trimsIn(rig, 15);
      expect(await trimsIn(rig, 60)).toEqual([12, 12]);
      rig.freeBytes = GIB / 2;
      await trimsIn(rig, 15);
      expect(await trimsIn(rig, 60)).toEqual([0, 0]);
    },
  );

  it("are looked at in time when nothing else is due", async () => {
    const rig = await Rig.open();
    const { dueMs } = await rig.drain();
    expect(dueMs - rig.monotonicMs).toBeLessThanOrEqual(5000);
  });

  it("turn the service read-only where the disk refuses even that", async () => {
    const rig = await Rig.open();
    rig.freeBytes = 2 * GIB;
    await trimsIn(rig, 15);
    rig.series.failTrim("EIO");
    const { trims } = rig.series;
    while (rig.series.trims === trims) await trimsIn(rig, 1);
    expect(rig.counter("storeReadOnly")).toBe(1);
    await trimsIn(rig, 1);
    expect(rig.counter("storeReadOnly")).toBe(0);
  });
});
