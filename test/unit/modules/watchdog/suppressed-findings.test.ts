// What was held back is asked again at the end of each cycle: a rise of what people know, too.
import { describe, expect, it } from "vitest";
import { episode, Rig } from "../../../support/coordinator-rig.ts";

const MINUTE = 60_000;
const OPTIONS = { watchdogIntervalMs: MINUTE };
const verdict = { observed: 1, threshold: 2.5, baseline: { n: 500 }, gates: [{ name: "own_tail", passed: true }] };
const model = (change: object) => episode({ detector: "isolation_forest", metricName: "service.multivariate", verdict, ...change });

async function cycles(rig: Rig, count: number): Promise<void> {
  for (let cycle = 0; cycle < count; cycle++) {
    rig.nowMs += MINUTE;
    rig.monotonicMs += MINUTE;
    await rig.drain();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe("a rise that the warm-up after a restart holds", () => {
  it("is told at its end, once, under the alert's key, and the anomaly stays the alert's", async () => {
    const before = await Rig.open(OPTIONS);
    await cycles(before, 9);
    await before.take(model({ z: 2.6 }));
    const [known] = (await before.ask("alerts")).body.alerts;
    expect(known).toMatchObject({ pages: 1, severity: "medium" });
    const rig = await before.restarted(OPTIONS);
    rig.nowMs += MINUTE;
    await rig.take(model({ z: 12, transition: "update" }));
    const alertOf = async () => (await rig.ask("alert", {}, { alert_id: known.alert_id })).body;
    expect(await alertOf()).toMatchObject({ severity: "medium" });
    // People were told of it: only its rise waits.
    expect((await rig.ask("anomalies")).body.anomalies).toMatchObject([{ outcome: "absorbed", severity: "high" }]);
    await cycles(rig, 12);
    const { severity, pages, anomalies, open_anomalies, history } = await alertOf();
    expect({ severity, pages, anomalies, open_anomalies }).toEqual({ severity: "high", pages: 1, anomalies: 1, open_anomalies: 1 });
    expect(history.map(({ change }: { change: string }) => change)).toEqual(["opened", "paged", "raised", "updated"]);
    await rig.take(model({ transition: "close" }));
    expect(await alertOf()).toMatchObject({ state: "resolved" });
  });
});
