// An alert of several anomalies speaks of what is open in it: in its headline, its repeats and its messages.
import { describe, expect, it } from "vitest";
import { decidedMessages } from "../../../../src/domain/notification/decided-messages.ts";
import { PagingRig, PAGING_START_MS as START } from "../../../support/paging-rig.ts";

const MINUTE = 60_000;
const SLOW = { metricName: "latency_ms", explanation: "latency is 4 times the usual", z: 6 };
const FULL = { metricName: "queue_depth", explanation: "the queue is twice as long", z: 5 };
const FACTS = { team: null, publicUrl: null };

/** Slow is the peak, the queue goes on with it. */
function twoOpen() {
  const rig = new PagingRig();
  const slow = rig.fire(SLOW);
  const full = rig.fire({ ...FULL, atMs: START + MINUTE });
  const alert = () => rig.memory.alert(slow.alertId as string) ?? expect.unreachable();
  expect(full.alertId).toBe(slow.alertId);
  return { rig, slow, full, alert };
}

describe("an alert whose peak ends while others are open", () => {
  it("speaks of the highest that is open, at the severity that people know", () => {
    const { rig, slow, alert } = twoOpen();
    rig.fire({ metricName: "cpu_percent", explanation: "busy", z: 4, atMs: START + 2 * MINUTE });
    const { tier } = alert().state;
    expect(rig.end(slow, START + 3 * MINUTE)).toBeUndefined();
    expect(alert()).toMatchObject({ open: 2, state: { tier, resolvedAtMs: null }, peak: FULL });
    expect(alert().labels).toMatchObject({ metric_name: "queue_depth", severity: tier });
  });
  it("says in its history and in an update what has ended, and what goes on first", () => {
    const { rig, slow, alert } = twoOpen();
    const before = alert();
    rig.end(slow, START + 3 * MINUTE);
    const ended = "latency_ms of checkout recovered: values are what they were before it; the alert goes on with queue_depth of checkout";
    expect(alert().history.at(-1)).toMatchObject({ kind: "member_ended", by: null, note: ended, metricName: "latency_ms" });
    const [message] = decidedMessages({ before, after: alert(), renews: false }, FACTS);
    expect(message).toMatchObject({ kind: "updated", metricName: "queue_depth" });
    expect(message?.explanation).toBe(`also queue_depth: the queue is twice as long; ${ended}`);
  });
  it("does not go on telling of a member that has ended", () => {
    const rig = new PagingRig();
    const full = rig.fire(FULL);
    const slow = rig.fire({ ...SLOW, atMs: START + MINUTE });
    const before = rig.memory.alert(full.alertId as string);
    rig.end(slow, START + 2 * MINUTE);
    const [message] = decidedMessages(
      { before, after: rig.memory.alert(full.alertId as string) ?? expect.unreachable(), renews: false },
      FACTS,
    );
    const ended = "latency_ms of checkout recovered: values are what they were before it; the alert goes on with queue_depth of checkout";
    expect(message?.explanation).toBe(`the queue is twice as long; ${ended}`);
  });
  it("says what goes on once, as it is by then", () => {
    const { rig, slow, full, alert } = twoOpen();
    rig.fire({
      ...FULL,
      anomalyId: full.anomalyId,
      alertId: full.alertId,
      kind: "raised",
      explanation: "the queue is thrice as long",
      atMs: START + 2 * MINUTE,
    });
    const before = alert();
    rig.end(slow, START + 3 * MINUTE);
    const [message] = decidedMessages({ before, after: alert(), renews: false }, FACTS);
    expect(message?.explanation).toMatch(/^the queue is thrice as long; latency_ms of checkout recovered/);
  });
  it("knows by its history, and not by words, what has ended", () => {
    const rig = new PagingRig();
    const odd = "queue; the alert goes on with it";
    const full = rig.fire(FULL);
    const before = rig.memory.alert(full.alertId as string);
    rig.fire({ ...SLOW, metricName: odd, explanation: "odd is 4 times the usual", z: 4, atMs: START + MINUTE });
    const after = rig.memory.alert(full.alertId as string) ?? expect.unreachable();
    const [message] = decidedMessages({ before, after, renews: false }, FACTS);
    expect(message?.explanation).toBe(`the queue is twice as long; also ${odd}: odd is 4 times the usual`);
  });
  it("is repeated and resolved as what is open", () => {
    const { rig, slow, full, alert } = twoOpen();
    rig.sources = { ...rig.sources, repeatMs: 60 * MINUTE };
    rig.end(slow, START + 3 * MINUTE);
    expect(rig.again(START + 61 * MINUTE)).toMatchObject([{ outcome: "paged", metricName: "queue_depth", explanation: FULL.explanation }]);
    rig.end(full, START + 70 * MINUTE);
    expect(alert()).toMatchObject({ ending: { reason: "recovered" }, peak: FULL });
  });
  it("says nothing where another than the peak ends", () => {
    const { rig, full, alert } = twoOpen();
    const { peak, history } = alert();
    rig.end(full, START + 3 * MINUTE);
    expect(alert()).toMatchObject({ peak, history, open: 1 });
  });
  it("does not speak of an anomaly that another alert has", () => {
    const { rig, slow, full, alert } = twoOpen();
    const { peak } = alert();
    rig.fire({ ...FULL, anomalyId: full.anomalyId, kind: "raised", serviceId: "billing", alertId: null, atMs: START + 2 * MINUTE });
    rig.end(slow, START + 3 * MINUTE);
    expect(alert().peak).toEqual(peak);
  });
  it("updates people ten times, and goes on with what is open", () => {
    const rig = new PagingRig();
    const all = Array.from({ length: 14 }, (_, i) => rig.fire({ ...FULL, z: 20 - i, explanation: `why ${i}`, atMs: START + i }));
    all.slice(0, 13).forEach((one, i) => rig.end(one, START + MINUTE + i));
    const alert = rig.memory.alert(all[0]?.alertId as string);
    expect(alert?.history.filter(({ kind }) => kind === "member_ended")).toHaveLength(10);
    expect(alert?.peak.explanation).toBe("why 13");
  });
});
