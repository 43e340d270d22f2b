// What people have labelled, held against the pages of two runs.
import { expect, it } from "vitest";
import type { IncidentLabel } from "../../../../src/domain/backtest/labelled-incidents.ts";
import { between, MINUTE_MS, runBoth, START_MS, shaped } from "../../../support/backtest-rig.ts";

const label = (serviceId: string, from: number, to: number, isIncident = true): IncidentLabel => ({
  anomalyId: `${serviceId} ${from}`,
  serviceId,
  environment: "",
  metricName: "load",
  startedMs: START_MS + from * MINUTE_MS,
  endedMs: START_MS + to * MINUTE_MS,
  isIncident,
});

/** A far departure at 300, and a slight one to the other side at 900: a young series that does for the second time what it did before may have it as a habit. */
const series = shaped({ departure: (minute) => between(300, 305, 40)(minute) + between(900, 905, -8)(minute) });

it("counts incidents found and missed by each run, and pages of what was none", async () => {
  const labels = [label("a", 300, 305), label("a", 901, 905), label("a", 600, 610), label("b", 300, 305), label("a", 899, 910, false)];
  const { labelled } = await runBoth([series], { zThreshold: 8 }, { labels });
  expect(labelled).toMatchObject({
    incidents: 4,
    falseAlarms: 1,
    before: { found: 2, missed: 2, falsePages: 1 },
    after: { found: 1, missed: 3, falsePages: 0 },
  });
  expect(labelled.missed.map((each) => `${each.label.anomalyId} ${each.foundBefore} ${each.foundAfter}`)).toEqual([
    "b 300 false false",
    "a 600 false false",
    "a 901 true false",
  ]);
});

it("takes a page from three cycles before an incident to twelve behind it for one of it", async () => {
  const at = async (from: number, to: number) => (await runBoth([series], {}, { labels: [label("a", from, to)] })).labelled.before.found;
  expect(await Promise.all([at(306, 310), at(307, 310), at(280, 291), at(280, 290)])).toEqual([1, 0, 1, 0]);
});
