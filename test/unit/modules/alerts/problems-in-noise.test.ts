// A noisy alert that people know of has told them of all that it may: what is high behind it, such as a disk that is full, is still told.
import { describe, expect, it } from "vitest";
import type { EngineFrame } from "../../../../src/core/protocol/coordinator-frame.ts";
import { episode, Rig } from "../../../support/coordinator-rig.ts";

const MINUTE = 60_000;
const gates = [{ name: "own_tail", passed: true }];
const noise = (metricName: string) =>
  episode({ metricName, z: 7, verdict: { observed: 130, expected: 100, threshold: 3, baseline: { n: 120, sd: 4 }, gates } });
const DISK = "node_filesystem_avail_bytes";
const disk = (observed: number, transition: "open" | "update") =>
  episode({
    metricName: DISK,
    direction: "low",
    z: -10,
    transition,
    explanation: `was ${observed}`,
    verdict: { observed, expected: 46e6, threshold: 3, baseline: { n: 81, sd: 0 }, gates },
  });

async function noisy(first: readonly EngineFrame[] = []) {
  const rig = await Rig.open();
  await rig.take(episode({ z: 9, verdict: { observed: 900, expected: 100, threshold: 3, baseline: { n: 120, sd: 4 }, gates } }));
  const [{ alert_id }] = (await rig.ask("alerts")).body.alerts;
  await rig.take(...first);
  for (let i = 0; i < 14; i++) {
    rig.nowMs += MINUTE;
    await rig.take(noise(`noise_${i}`));
  }
  const notes = async (): Promise<string[]> => {
    const { history } = (await rig.ask("alert", {}, { alert_id })).body;
    return history
      .filter(({ change }: { change: string }) => change === "updated" || change === "worse")
      .map(({ note }: { note: string }) => note);
  };
  return { rig, notes };
}

describe("a problem in a noisy alert", () => {
  it("is told once it is high, though its deviation was as large while it was mild and updates are used up", async () => {
    const { rig, notes } = await noisy();
    expect(await notes()).toHaveLength(10);
    await rig.take(disk(40e6, "open"));
    expect((await rig.ask("anomalies", { metric_name: DISK })).body.anomalies[0].severity).not.toBe("high");
    expect(await notes()).toHaveLength(10);
    rig.nowMs += MINUTE;
    await rig.take(disk(0, "update"));
    expect((await rig.ask("anomalies", { metric_name: DISK })).body.anomalies[0].severity).toBe("high");
    expect((await notes()).slice(10)).toEqual([`also ${DISK}: was 0`]);
    rig.nowMs += MINUTE;
    await rig.take(disk(0, "update"));
    expect(await notes()).toHaveLength(11);
  });

  it("is told as far worse where people have heard of the metric while it was mild, as of another disk", async () => {
    const { rig, notes } = await noisy([disk(40e6, "open")]);
    expect(await notes()).toHaveLength(10);
    expect((await notes())[0]).toBe(`also ${DISK}: was ${40e6}`);
    await rig.take(disk(0, "update"));
    expect((await notes()).slice(10)).toEqual([`${DISK} is far worse: was 0`]);
  });
});
