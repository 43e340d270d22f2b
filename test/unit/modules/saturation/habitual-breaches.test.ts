// A breach that a habit holds stands in the ledger, once, and says why nobody was told.
import { expect, it } from "vitest";
import type { SaturationReport } from "../../../../src/core/protocol/saturation.ts";
import { SaturationSeries } from "../../../../src/domain/saturation/saturation-series.ts";
import { Rig, START_MS } from "../../../support/coordinator-rig.ts";

const MINUTE = 60_000;
const NAME = { tenant: "default", environment: "prod", serviceId: "db", metricName: "cpu_percent", attributes: {} };

/** The breach that a habit of each hour holds. */
function heldBreach(): SaturationReport {
  const series = new SaturationSeries({ metricName: NAME.metricName, unit: null, instance: null });
  const context = { limit: null, corroborated: false };
  const at = (minute: number) => START_MS + (minute - 595) * MINUTE;
  for (let minute = 0; minute <= 595; minute++) series.observe(at(minute), minute % 60 >= 50 && minute % 60 < 56 ? 95 : 30);
  return { ...NAME, key: "k", sampleMs: START_MS, finding: series.evaluate(START_MS, context).habitual };
}

it("a breach that a habit holds has one row in the ledger while it goes on", async () => {
  const rig = await Rig.open({ watchdogIntervalMs: MINUTE });
  const none = { reports: [], habitual: [] as SaturationReport[], waiting: [], over: [], ended: [], wanted: [], series: 1 };
  let found = { ...none, habitual: [heldBreach()] };
  const [engine] = rig.engines;
  if (engine !== undefined) engine.found = (pass) => (pass === "saturation" ? found : undefined);
  const cycles = async (count: number) => {
    for (let cycle = 0; cycle < count; cycle++) {
      rig.nowMs += MINUTE;
      rig.monotonicMs += MINUTE;
      await rig.drain();
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const rows = async () => (await rig.ask("alertLedger", { service_id: "db" })).body.decisions;
  await cycles(8);
  expect(await rows()).toMatchObject([
    {
      metric_name: "cpu_percent",
      detector: "saturation",
      alert_id: null,
      outcome: "suppressed",
      suppressed_by: "not_a_habit",
      explanation: expect.stringMatching(/^cpu_percent is 95% of 100%; .*: no news$/),
    },
  ]);
  found = none;
  await cycles(4);
  found = { ...none, habitual: [heldBreach()] };
  await cycles(4);
  expect(await rows()).toHaveLength(2);
});
