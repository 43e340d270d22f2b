// What a tenant with thousands of new services costs another one: steps of an engine are counted, no time is measured.
import { describe, expect, it } from "vitest";
import { SMALL_BODY_BYTES_MAX } from "../../src/core/config/limits.ts";
import { BODY_JSON_BATCH } from "../../src/core/protocol/body-kind.ts";
import { FRAME_RECORD } from "../../src/core/protocol/coordinator-frame.ts";
import type { EngineAnswer, SeriesAnswer, StreamCountAnswer } from "../../src/core/protocol/engine-control.ts";
import { otlpBodyKind } from "../../src/core/protocol/otlp-kind.ts";
import { formatRfc3339 } from "../../src/core/time/rfc3339.ts";
import { Cluster, VirtualClock } from "../support/cluster.ts";
import { MemoryDisk } from "../support/memory-log.ts";

const START = Date.UTC(2026, 0, 5, 12);
const EVIL = 1;
const ACME = 2;
const encoder = new TextEncoder();
const json = (value: unknown) => encoder.encode(JSON.stringify(value));
const list = <T>(count: number, make: (i: number) => T) => Array.from({ length: count }, (_, i) => make(i));

const values = (service_id: string, count: number) =>
  json(list(count, (i) => ({ service_id, metric_name: `m-${i}`, value: i, timestamp: formatRfc3339(START) })));
/** Logs of services that are all new. */
const logs = (count: number, name = "new") =>
  json(list(count, (i) => ({ service_id: `${name}-${i}`, type: "log", body: "went", timestamp: formatRfc3339(START) })));
/** Metrics that are all new, each with unit and description. */
const metrics = (count: number, name = "metric") =>
  json({
    resourceMetrics: [
      {
        scopeMetrics: [
          {
            metrics: list(count, (i) => ({
              name: `evil.${name}.${i}`,
              unit: "By",
              description: `number ${i}`,
              gauge: { dataPoints: [{ timeUnixNano: `${START}000000`, asDouble: i }] },
            })),
          },
        ],
      },
    ],
  });

function start() {
  const clock = new VirtualClock(START);
  const disk = new MemoryDisk();
  const cluster = new Cluster({ engines: 1, epoch: 1, tenants: ["default", "evil", "acme"] }, { clock, disk });
  cluster.run(() => undefined);
  return { cluster, clock, disk };
}

/** Steps until it is so; how many it took. */
function stepsUntil(cluster: Cluster, isSo: () => boolean): number {
  for (let steps = 0; ; steps++) {
    if (isSo()) return steps;
    if (steps > 50_000) throw new Error("it does not come to that");
    cluster.step(0);
    cluster.link(0).takeFrames(10_000);
  }
}

async function answerTo<T extends EngineAnswer>(
  cluster: Cluster,
  question: object,
): Promise<{ readonly answer: T; readonly steps: number }> {
  let answer: T | undefined;
  void cluster.ask(0, question as never).then((given) => {
    answer = given as T;
  });
  for (let steps = 0; ; steps++) {
    await Promise.resolve();
    if (answer !== undefined) return { answer, steps };
    if (steps > 50_000) throw new Error("there is no answer");
    cluster.step(0);
  }
}

const streamsOf = async (cluster: Cluster, tenant: string) =>
  (await answerTo<StreamCountAnswer>(cluster, { type: "stream-count", tenant })).answer.streams;

describe("a body that is not large and takes many units of work", () => {
  it.each([
    ["5,000 logs of new services", BODY_JSON_BATCH, logs(5_000), '{"status":"ok","queued":5000,"failed":0,"failures":[]}'],
    ["2,000 new metrics with unit and help", otlpBodyKind("metrics", "json"), metrics(2_000), null],
  ])("%s: bodies of another tenant overtake it, each in two units of its", (_, kind, bytes, text) => {
    expect(bytes.length).toBeLessThan(SMALL_BODY_BYTES_MAX);
    const { cluster } = start();
    const answers: string[] = [];
    let body: string | null = "";
    // The kernel walks the first such body of metrics as a whole; it says what to expect of the next.
    cluster.submit(0, otlpBodyKind("metrics", "json"), metrics(2_000, "first"), () => undefined, "", EVIL);
    cluster.run(() => undefined);
    cluster.submit(
      0,
      kind,
      bytes,
      (answer) => {
        answers.push(`evil ${answer.status}`);
        body = answer.body;
      },
      "",
      EVIL,
    );
    cluster.step(0);
    const steps = list(8, (i) => {
      cluster.submit(0, BODY_JSON_BATCH, values("acme", 20), ({ status }) => answers.push(`acme ${i} ${status}`), "", ACME);
      return stepsUntil(cluster, () => answers.includes(`acme ${i} 200`));
    });
    expect(answers).toEqual(list(8, (i) => `acme ${i} 200`));
    expect(Math.max(...steps)).toBeLessThanOrEqual(2);
    stepsUntil(cluster, () => answers.length === 9);
    expect([answers.at(-1), body]).toEqual(["evil 200", text]);
  });

  it("comes again from the log as it was, with those that overtook it", async () => {
    const { cluster, clock, disk } = start();
    const statuses: number[] = [];
    const sent = [metrics(2_000, "first"), metrics(2_000), ...list(6, (i) => values(`acme-${i}`, 20))];
    for (const [i, bytes] of sent.entries()) {
      const [kind, tenant] = i < 2 ? [otlpBodyKind("metrics", "json"), EVIL] : [BODY_JSON_BATCH, ACME];
      cluster.submit(0, kind, bytes, ({ status }) => statuses.push(status), "", tenant);
      cluster.step(0);
    }
    cluster.run(() => undefined);
    expect(statuses).toEqual(list(8, () => 200));
    const again = new Cluster({ engines: 1, epoch: 2, tenants: ["default", "evil", "acme"] }, { clock, disk });
    again.run(() => undefined);
    expect(again.replayedRows).toBe(4_000 + 6 * 20);
    expect([await streamsOf(again, "evil"), await streamsOf(again, "acme")]).toEqual([4_000, 120]);
  });

  it.each([0, 1, 4])("has one answer where the log refuses unit %i of it, and so has everybody else", (refused) => {
    const { cluster, disk } = start();
    const answers: string[] = [];
    const submit = (name: string, bytes: Uint8Array, tenant: number) =>
      cluster.submit(0, BODY_JSON_BATCH, bytes, ({ status }) => answers.push(`${name} ${status}`), "", tenant);
    submit("evil", logs(4_000), EVIL);
    for (let step = 0; step < refused; step++) cluster.step(0);
    disk.failNext("writevSync", "ENOSPC");
    cluster.step(0);
    submit("acme", values("acme", 5), ACME);
    submit("evil again", logs(10, "other"), EVIL);
    cluster.run(() => undefined);
    expect(answers.toSorted()).toEqual(["acme 200", "evil 503", "evil again 200"]);
  });

  it("beyond eight of a tenant they go on one after another, and every one is answered as it should be", () => {
    const { cluster } = start();
    const answers: string[] = [];
    for (let i = 0; i < 12; i++)
      cluster.submit(0, BODY_JSON_BATCH, logs(1_000, `many-${i}`), ({ status }) => answers.push(`${i} ${status}`), "", EVIL);
    cluster.submit(0, BODY_JSON_BATCH, values("acme", 5), ({ status }) => answers.push(`acme ${status}`), "", ACME);
    let records = 0;
    cluster.run((_, frames) => {
      records += frames.filter(({ kind }) => kind === FRAME_RECORD).length;
    });
    expect(answers.toSorted()).toEqual([...list(12, (i) => `${i} 200`), "acme 200"].toSorted());
    expect(records).toBe(12_000);
  });
});

describe("windows that close", () => {
  it("do so in slices: tenants take turns in them, and bodies have theirs between", async () => {
    const { cluster, clock } = start();
    const send = (bytes: Uint8Array, tenant: number) => cluster.submit(0, BODY_JSON_BATCH, bytes, () => undefined, "", tenant);
    send(logs(3_000), EVIL);
    send(logs(3, "acme"), ACME);
    cluster.run(() => undefined);
    expect([await streamsOf(cluster, "evil"), await streamsOf(cluster, "acme")]).toEqual([0, 0]);
    clock.advance(20_000);
    let isTaken = false;
    cluster.submit(
      0,
      BODY_JSON_BATCH,
      values("acme", 5),
      () => {
        isTaken = true;
      },
      "",
      ACME,
    );
    expect(stepsUntil(cluster, () => isTaken)).toBeLessThanOrEqual(2);
    for (let step = 0; step < 3; step++) cluster.step(0);
    const [early, acme] = [await streamsOf(cluster, "evil"), await streamsOf(cluster, "acme")];
    expect(acme).toBeGreaterThanOrEqual(3 + 5);
    expect(early).toBeGreaterThan(0);
    expect(early).toBeLessThan(1_000);
    cluster.run(() => undefined);
    expect(await streamsOf(cluster, "evil")).toBe(3_000);
    expect(cluster.counter("logsLate")).toBe(0);
  });

  it("count what arrived in time and is read while others close", async () => {
    const { cluster, clock } = start();
    const send = (bytes: Uint8Array) => cluster.submit(0, BODY_JSON_BATCH, bytes, () => undefined, "", EVIL);
    send(logs(2_000));
    cluster.run(() => undefined);
    clock.advance(14_900);
    send(logs(1, "last")); // arrives 100 ms before the closing, and is read in its midst
    clock.advance(300);
    cluster.run(() => undefined);
    expect([cluster.counter("logsCounted"), cluster.counter("logsLate")]).toEqual([2_001, 0]);
    clock.advance(20_000);
    cluster.run(() => undefined);
    expect(await streamsOf(cluster, "evil")).toBe(2_001);
  });
});

it("a list passes over no service of another tenant", async () => {
  const { cluster, clock } = start();
  const question = { type: "series", tenant: "acme", serviceId: null, metricName: null, environment: null, after: null, limit: 50 };
  const send = (bytes: Uint8Array, tenant: number) => cluster.submit(0, BODY_JSON_BATCH, bytes, () => undefined, "", tenant);
  send(values("acme", 20), ACME);
  cluster.run(() => undefined);
  const alone = await answerTo<SeriesAnswer>(cluster, question);
  for (let i = 0; i < 3; i++) send(logs(4_000, `evil-${i}`), EVIL);
  cluster.run(() => undefined);
  clock.advance(20_000);
  cluster.run(() => undefined);
  expect(await streamsOf(cluster, "evil")).toBe(12_000);
  const beside = await answerTo<SeriesAnswer>(cluster, question);
  expect(beside.steps).toBeLessThanOrEqual(alone.steps + 1);
  expect([beside.answer.total, beside.answer.rows]).toEqual([20, alone.answer.rows]);
});
