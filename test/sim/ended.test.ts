// Without data nothing is over: what stops reporting stays as it was told, until its sender says that it has ended, or until it has been silent for a day while its
// pair goes on. Through the whole server on a virtual clock.
import { compressSync } from "snappy";
import { describe, expect, it } from "vitest";
import { BODY_REMOTE_WRITE_1 } from "../../src/core/protocol/body-kind.ts";
import { generator } from "../support/generator.ts";
import { encodeBody } from "../support/remote-write-body.ts";
import { MINUTE_MS, type SentRecord, WatchedServer } from "../support/watched-server.ts";

const START = Date.UTC(2026, 0, 5, 6);
const random = generator(5);
/** Stands for a stale marker until the body is written: a NaN in JavaScript has no payload. */
const PLACEHOLDER = 1.25e300;
const STALE_BITS = 0x7ff0000000000002n;

/** A disk that fills, and a queue that was usual for long and is far out at last. */
const shapes = (minute: number, outFrom: number): ReadonlyArray<readonly [metric: string, value: number]> => [
  ["disk_used_percent", 40 + (4 * minute) / 60 + 0.1 * random.normal()],
  ["queue_length", minute >= outFrom ? 900 : 100 + random.normal()],
];

const records = (node: string, minute: number, outFrom: number): SentRecord[] =>
  shapes(minute, outFrom).map(([metric, value]) => ({ service: "db", metric, value, attributes: { "host.name": node } }));

/** The same by remote-write; without a minute the end of both series. */
async function scrape(watched: WatchedServer, minute: number | undefined, outFrom: number): Promise<void> {
  const values = shapes(minute ?? 0, outFrom).map(([metric, value]) => [metric, minute === undefined ? PLACEHOLDER : value] as const);
  const series = values.map(([metric, value]) => ({
    labels: [["__name__", metric] as const, ["instance", "node-1"] as const, ["job", "db"] as const],
    samples: [{ value, time: watched.nowMs }],
  }));
  const body = Buffer.from(encodeBody(series));
  const marker = Buffer.alloc(8);
  marker.writeDoubleLE(PLACEHOLDER);
  for (let at = body.indexOf(marker); at >= 0; at = body.indexOf(marker)) body.writeBigUInt64LE(STALE_BITS, at);
  let status = 0;
  watched.server.submit(0, BODY_REMOTE_WRITE_1, compressSync(body), "", (answer) => {
    status = answer.status;
  });
  await watched.server.rest();
  expect(status).toBe(204);
}

const reported = async (watched: WatchedServer) =>
  (await watched.anomalies())
    .filter(({ metric_name }) => metric_name !== "service.stale")
    .map(({ detector, metric_name, resolved_by }) => `${detector} ${metric_name} ${resolved_by}`)
    .sort();

const OPEN = ["adaptive", "saturation", "z_score"];
const detectorsOf = (lines: readonly string[]) => [...new Set(lines.map((line) => line.split(" ")[0] as string))];

describe("what stops reporting", () => {
  it("is not recovered; its figures are those of its last sample; and it ends with its sender's word", async () => {
    const watched = await WatchedServer.open(START);
    for (let minute = 0; minute < 640; minute++) {
      await scrape(watched, minute, 632);
      await watched.minute();
    }
    const lastMs = watched.nowMs - MINUTE_MS;
    const before = await reported(watched);
    expect(detectorsOf(before).every((detector) => OPEN.includes(detector))).toBe(true);
    expect(detectorsOf(before)).toEqual(expect.arrayContaining(["saturation", "z_score"]));
    const [fire] = await watched.fires({ state: "firing" });
    const disk = (await watched.anomalies()).find(({ detector }) => detector === "saturation");
    // The service itself goes on: with it, its metrics' alerts would end into its silence.
    const silentMinute = async () => {
      await watched.send([{ service: "db", metric: "up", value: 1 }]);
      await watched.minute();
    };
    for (let minute = 0; minute < 40; minute++) await silentMinute();
    // Nothing is over, nothing is told again, and nothing is observed later than its sample.
    expect(await reported(watched)).toEqual(before);
    expect(await watched.fires({ state: "firing" })).toEqual([fire]);
    for (const { observed_at, metric_name } of await watched.anomalies()) {
      expect(Date.parse(observed_at), metric_name).toBeLessThanOrEqual(lastMs);
    }
    expect((await watched.anomalies()).find(({ detector }) => detector === "saturation")).toEqual(disk);
    await watched.kill();
    for (let minute = 0; minute < 6; minute++) await silentMinute();
    expect(await reported(watched)).toEqual(before);
    await scrape(watched, undefined, 0);
    for (let minute = 0; minute < 3; minute++) await watched.minute();
    expect(await reported(watched)).toEqual(before.map((line) => line.replace(/ null$/, " ended")));
    expect(await watched.fires({ state: "firing" })).toEqual([]);
  });

  it("ends after a day where its pair goes on, and else does not", async () => {
    for (const others of [1, 0]) {
      const watched = await WatchedServer.open(START);
      for (let minute = 0; minute < 640; minute++) {
        const calm = others === 1 ? records("node-1", 0, Number.POSITIVE_INFINITY) : [];
        await watched.send([...calm, ...records("node-2", minute, 632)]);
        await watched.minute();
      }
      const ofNode = (lines: readonly string[]) => lines.filter((line) => /^(saturation|z_score|adaptive) /.test(line));
      const before = ofNode(await reported(watched));
      expect(before.length).toBeGreaterThan(1);
      const day = async (hours: number) => {
        for (let hour = 0; hour < hours; hour++) {
          watched.machine.clock.advance(56 * MINUTE_MS);
          for (let minute = 0; minute < 4; minute++) {
            // The service itself goes on in both.
            await watched.send([
              { service: "db", metric: "up", value: 1 },
              ...(others === 1 ? records("node-1", 0, Number.POSITIVE_INFINITY) : []),
            ]);
            await watched.minute();
          }
        }
      };
      await day(23);
      const isOfDay = (line: string) => / null$/.test(line);
      expect(ofNode(await reported(watched)).filter(isOfDay).length).toBeGreaterThan(1);
      expect(ofNode(await reported(watched)).some((line) => / ended$/.test(line))).toBe(false);
      await day(2);
      const after = ofNode(await reported(watched));
      if (others === 0) expect(after.filter(isOfDay).length).toBeGreaterThan(1);
      else
        expect(after.filter((line) => / ended$/.test(line)).map((line) => line.split(" ")[0])).toEqual(
          expect.arrayContaining(["saturation", "z_score"]),
        );
    }
  });
});
