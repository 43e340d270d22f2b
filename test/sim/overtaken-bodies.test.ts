/** Bodies that overtake a large one in an engine: steps and answers are counted, and the log of it all is read again. */
import { describe, expect, it } from "vitest";
import { SMALL_BODY_BYTES_MAX } from "../../src/core/config/limits.ts";
import { BODY_JSON_BATCH } from "../../src/core/protocol/body-kind.ts";
import { type EngineFrame, FRAME_DEAD_LETTER, FRAME_RECORD } from "../../src/core/protocol/coordinator-frame.ts";
import { otlpBodyKind } from "../../src/core/protocol/otlp-kind.ts";
import { formatRfc3339 } from "../../src/core/time/rfc3339.ts";
import { Cluster, VirtualClock } from "../support/cluster.ts";
import { MemoryDisk } from "../support/memory-log.ts";

const START = Date.UTC(2026, 0, 5, 12);
const encoder = new TextEncoder();
const NANO = `${START}000000`;

const small = (i: number) =>
  encoder.encode(
    JSON.stringify([{ service_id: "small", metric_name: "m", value: i, timestamp: formatRfc3339(START + i), attributes: {} }]),
  );
const records = (count: number) =>
  encoder.encode(
    JSON.stringify(
      Array.from({ length: count }, (_, i) =>
        i % 10 === 0
          ? { service_id: "large", n: i }
          : { service_id: "large", type: "log", body: `log ${i} ${"x".repeat(200)}`, timestamp: formatRfc3339(START + i) },
      ),
    ),
  );
const logs = (count: number) =>
  encoder.encode(
    JSON.stringify({
      resourceLogs: [
        {
          scopeLogs: [
            {
              logRecords: Array.from({ length: count }, (_, i) => ({
                timeUnixNano: NANO,
                body: { stringValue: `log ${i} ${"x".repeat(200)}` },
              })),
            },
          ],
        },
      ],
    }),
  );
const points = (count: number) =>
  encoder.encode(
    JSON.stringify({
      resourceMetrics: [
        {
          scopeMetrics: [
            {
              metrics: [
                {
                  name: "m",
                  gauge: {
                    dataPoints: Array.from({ length: count }, (_, i) => ({
                      timeUnixNano: NANO,
                      asDouble: i,
                      attributes: [{ key: "n", value: { intValue: i } }],
                    })),
                  },
                },
              ],
            },
          ],
        },
      ],
    }),
  );

function start() {
  const clock = new VirtualClock(START);
  const disk = new MemoryDisk();
  const cluster = new Cluster({ engines: 1, epoch: 1 }, { clock, disk });
  cluster.run(() => undefined);
  return { cluster, clock, disk };
}

describe("a large body", () => {
  it.each([
    [
      "a batch of 10,000 records, most of which the kernel does not read",
      BODY_JSON_BATCH,
      records(10_000),
      /"queued":9000,"failed":1000/,
      9_000,
      1_000,
    ],
    ["40,000 logs in OTLP JSON", otlpBodyKind("logs", "json"), logs(40_000), /^null$/, 40_000, 0],
    ["40,000 points in OTLP JSON, all of new streams", otlpBodyKind("metrics", "json"), points(60_000), /^null$/, 0, 0],
  ])(
    "%s: those behind it are answered in its course, one after another, and it is whole in the end",
    (_, kind, bytes, body, kept, buried) => {
      expect(bytes.length).toBeGreaterThan(4 * SMALL_BODY_BYTES_MAX);
      const { cluster } = start();
      const answers: string[] = [];
      let text = "";
      expect(
        cluster.submit(0, kind, bytes, (answer) => {
          answers.push(`large ${answer.status}`);
          text = String(answer.body);
        }),
      ).toBe(true);
      const frames: EngineFrame[] = [];
      let sent = 0;
      for (let steps = 0; answers.length < sent || sent < 20; steps++) {
        if (steps > 20_000) throw new Error("it does not come to its end");
        if (steps % 3 === 0 && sent < 20) {
          const number = sent++;
          cluster.submit(0, BODY_JSON_BATCH, small(number), ({ status }) => answers.push(`${number} ${status}`));
        }
        cluster.step(0);
        frames.push(...cluster.link(0).takeFrames(10_000));
      }
      cluster.run((_engine, more) => frames.push(...more));
      const others = answers.filter((answer) => !answer.startsWith("large"));
      expect(others).toEqual(Array.from({ length: 20 }, (_each, i) => `${i} 200`));
      expect(answers.indexOf("large 200")).toBeGreaterThanOrEqual(5);
      expect(text).toMatch(body);
      expect(frames.filter((frame) => frame.kind === FRAME_RECORD)).toHaveLength(kept);
      expect(frames.filter((frame) => frame.kind === FRAME_DEAD_LETTER)).toHaveLength(buried);
    },
  );

  it("comes again from the log as it was, with those that overtook it", () => {
    const { cluster, disk, clock } = start();
    const done: number[] = [];
    cluster.submit(0, otlpBodyKind("metrics", "json"), points(60_000), ({ status }) => done.push(status));
    for (let i = 0; i < 20; i++) {
      cluster.submit(0, BODY_JSON_BATCH, small(i), ({ status }) => done.push(status));
      for (let steps = 0; steps < 3; steps++) cluster.step(0);
    }
    cluster.run(() => undefined);
    expect(done).toEqual(Array.from({ length: 21 }, () => 200));
    const rows = cluster.counter("rowsPlaced");
    const again = new Cluster({ engines: 1, epoch: 2 }, { clock, disk });
    again.run(() => undefined);
    expect(again.isReady).toBe(true);
    expect(again.replayedRows).toBe(rows);
    expect(rows).toBe(60_020);
  });

  it("a second one waits for the first, and both are answered by themselves", () => {
    const { cluster } = start();
    const answers: string[] = [];
    for (const name of ["first", "second"])
      cluster.submit(0, otlpBodyKind("logs", "json"), logs(5_000), ({ status }) => answers.push(`${name} ${status}`));
    cluster.submit(0, BODY_JSON_BATCH, small(1), ({ status }) => answers.push(`small ${status}`));
    cluster.run(() => undefined);
    expect(answers).toEqual(["small 200", "first 200", "second 200"]);
  });
});
