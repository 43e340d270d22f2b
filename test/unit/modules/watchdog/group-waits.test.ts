// The clock of waits for a group: alerts of one jump are told once when it is over, over a restart too.
import { expect, it } from "vitest";
import { episode, Rig } from "../../../support/coordinator-rig.ts";

const WAIT_MS = 10_000;
const TURNS = 30;
const OPTIONS = { groupWaitMs: WAIT_MS, warmUpMinutes: 0 };

// biome-ignore lint/suspicious/noExplicitAny: answers are read field by field
type Json = any;

async function pass(rig: Rig, ms: number): Promise<void> {
  rig.nowMs += ms;
  rig.monotonicMs += ms;
  for (let turn = 0; turn < TURNS; turn++) {
    await rig.drain();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const alertsOf = async (rig: Rig): Promise<Json[]> => (await rig.ask("alerts", { limit: "100" })).body.alerts;
const pagesOf = (alerts: readonly Json[]) => alerts.reduce((sum, { pages }) => sum + pages, 0);
/** So rare for its series that it waits for no confirmation, and mild enough that it waits for others. */
const verdict = { observed: 1, threshold: 0.3, baseline: { n: 120 }, gates: [{ name: "own_tail", passed: true }] };
const jumps = (count: number) =>
  Array.from({ length: count }, (_, i) => episode({ serviceId: `svc-${i}`, detector: "adaptive", z: 2.6, verdict }));

it("B11: forty services with one jump are one page, with their list and the alerts that closed into it", async () => {
  const rig = await Rig.open(OPTIONS);
  await rig.take(...jumps(40));
  const waiting = await alertsOf(rig);
  expect([waiting.length, pagesOf(waiting), new Set(waiting.map((alert) => alert.held_back_by))]).toEqual([40, 0, new Set(["group_wait"])]);
  await pass(rig, WAIT_MS);
  const alerts = await alertsOf(rig);
  const [leader, ...others] = alerts.filter(({ state }) => state === "firing");
  expect(others).toEqual([]);
  expect(leader).toMatchObject({ pages: 1, anomalies: 40, open_anomalies: 40, held_back_by: null });
  expect(leader.services).toHaveLength(40);
  // Each of the others is asked in its turn too: it has closed by then, and is no news.
  const { history } = (await rig.ask("alert", {}, { alert_id: leader.alert_id })).body;
  expect(history.map(({ change }: Json) => change)).toEqual(["opened", "paged"]);
  expect(alerts.filter(({ merged_into }) => merged_into === leader.alert_id)).toHaveLength(39);
  expect(pagesOf(alerts)).toBe(1);
});

it("tells after a restart what waited before it", async () => {
  const before = await Rig.open(OPTIONS);
  await before.take(...jumps(2));
  const rig = await before.restarted(OPTIONS);
  await pass(rig, WAIT_MS);
  expect((await alertsOf(rig)).map(({ pages, held_back_by }) => `${pages} ${held_back_by}`)).toEqual(["1 null", "1 null"]);
});
