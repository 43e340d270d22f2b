// Weeks of telemetry in seconds: what the stores and the log take stays below what rate and retention come to, files grow no more once retention
// is reached, and hours that nobody has samples of any more are still answered right.
import { afterEach, expect, it } from "vitest";
import { BODY_JSON_BATCH } from "../../src/core/protocol/body-kind.ts";
import { formatRfc3339 } from "../../src/core/time/rfc3339.ts";
import { generator } from "../support/generator.ts";
import { SoakServer } from "../support/soak-server.ts";
import { extent } from "../support/test-extent.ts";

const START_MS = Date.UTC(2026, 0, 5);
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Twice what is kept; three weeks in a whole run. */
const DAYS = extent(21, 13);
const RETENTION_DAYS = 6;
const RAW_DAYS = 2;
const STREAMS = 40;
const SERVICES = 10;
const BODY_MINUTES = 10;
const SIZES = { blockBytes: 2048, segmentBytes: 256 * 1024, checkpointCycleBytes: 512 * 1024 };
/** Pages of LMDB are full by half at least. */
const PAGE_SLACK = 2;
/** How much more there may be at any later time than once retention had begun: a day more of any of it is more. What is remembered of incidents grows by 20 kB a day to its own bound. */
const GROWTH_MAX = 1.15;

let server: SoakServer | undefined;
afterEach(() => server?.close());

/** A random walk of three decimals, with a plateau every other day. */
class Walk {
  readonly service: string;
  readonly metric: string;
  readonly #random = generator(17);
  readonly #phase: number;
  #value = 100;

  constructor(stream: number) {
    this.service = `service-${stream % SERVICES}`;
    this.metric = `metric_${stream}`;
    this.#phase = stream * 67;
    for (let skip = 0; skip < stream; skip++) this.#random.normal();
  }

  next(minute: number): number {
    this.#value += this.#random.normal() / 100 - (this.#value - 100) / 1000;
    const planted = (minute + this.#phase) % 2880 < 5 ? 50 : 0;
    return Math.round((this.#value + planted) * 1000) / 1000;
  }
}

const walks = Array.from({ length: STREAMS }, (_, stream) => new Walk(stream));

/** Ten minutes of all streams, a log record, and a record that is refused. */
function body(minute: number, onSample: (stream: number, timeMs: number, value: number) => void): Uint8Array {
  const records: unknown[] = [];
  for (let at = minute; at < minute + BODY_MINUTES; at++) {
    const timeMs = START_MS + at * MINUTE_MS;
    walks.forEach((scan, stream) => {
      const value = scan.next(at);
      records.push({ service_id: scan.service, metric_name: scan.metric, value, timestamp: formatRfc3339(timeMs) });
      // A second member of the pair's anomalies, whose episodes have rows of their own.
      if (stream === 0) records.push({ ...(records.at(-1) as object), attributes: { zone: "b" } });
      onSample(stream, timeMs, value);
    });
  }
  const timestamp = formatRfc3339(START_MS + minute * MINUTE_MS);
  records.push({ service_id: "service-0", type: "log", body: `minute ${minute}`.padEnd(200, "."), timestamp });
  records.push({ service_id: "service-0", metric_name: "refused", timestamp });
  return new TextEncoder().encode(JSON.stringify(records));
}

it("keeps disk use within rate times retention", async () => {
  const soak = await SoakServer.open({
    startMs: START_MS,
    engines: 2,
    retentionDays: RETENTION_DAYS,
    retentionRawDays: RAW_DAYS,
    ...SIZES,
  });
  server = soak;
  const hours = new Map<number, { sum: number; count: number }>();
  const used: number[] = [];
  const files: number[] = [];
  let logBytesMost = 0;
  for (let minute = 0; minute < DAYS * 1440; minute += BODY_MINUTES) {
    const bytes = body(minute, (stream, timeMs, value) => {
      if (stream !== 7) return;
      const hour = Math.floor(timeMs / HOUR_MS) * HOUR_MS;
      const { sum, count } = hours.get(hour) ?? { sum: 0, count: 0 };
      hours.set(hour, { sum: sum + value, count: count + 1 });
    });
    soak.send((minute / BODY_MINUTES) % 2, BODY_JSON_BATCH, bytes);
    soak.pass(BODY_MINUTES * MINUTE_MS, 8);
    if (minute % 60 === 0) await soak.commit();
    if (minute % 1440 !== 1380) continue;
    const [control, series] = [soak.control.stats(), soak.series.stats()];
    used.push(control.usedBytes + series.usedBytes);
    files.push(control.diskBytes + series.diskBytes);
    logBytesMost = Math.max(logBytesMost, soak.disk.usedBytes);
  }
  expect(soak.refused).toBe(0);

  // What came per day, and how long it may stay: blocks until they are full and rolled up, roll-ups until their partition's turn.
  const perDay = (counter: "blockBytes" | "rollupBytes") => soak.counter(counter) / DAYS;
  const rowsPerDay = 1440 / BODY_MINUTES;
  const boundBytes =
    PAGE_SLACK *
      (perDay("blockBytes") * (RAW_DAYS + 1) + perDay("rollupBytes") * (RETENTION_DAYS + 1) + rowsPerDay * (RETENTION_DAYS + 1) * 1500) +
    2 * 1024 * 1024;
  const logBytesPerDay = STREAMS * 1440 * 16 + rowsPerDay * 1000;
  const logBoundBytes = 2 * SIZES.checkpointCycleBytes + 4 * SIZES.segmentBytes + logBytesPerDay;
  const late = (list: readonly number[]) => Math.max(...list.slice(RETENTION_DAYS + 2));
  const steady = (list: readonly number[]) => Math.max(...list.slice(0, RETENTION_DAYS + 2));
  expect(late(used)).toBeLessThan(boundBytes);
  expect(late(used)).toBeLessThan(GROWTH_MAX * steady(used));
  expect(late(files)).toBeLessThan(GROWTH_MAX * steady(files));
  expect(logBytesMost).toBeLessThan(logBoundBytes);
  for (const counter of [
    "blocksExpired",
    "rollupsExpired",
    "recordsExpired",
    "deadLettersExpired",
    "anomaliesExpired",
    "episodesExpired",
  ] as const)
    expect([counter, soak.counter(counter) > 0]).toEqual([counter, true]);

  const nowMs = START_MS + DAYS * 24 * HOUR_MS;
  const since = nowMs - (RETENTION_DAYS - 1) * 24 * HOUR_MS;
  const query = { service_id: "service-7", metric_name: "metric_7", resolution: "1h", limit: "1000", since: formatRfc3339(since) };
  const { points, complete } = await soak.query<{ points: Array<{ timestamp: string; value: number }>; complete: boolean }>(
    "seriesData",
    query,
  );
  const expected = [...hours].filter(([hour]) => hour >= since).map(([hour, { sum, count }]) => [hour, expect.closeTo(sum / count, 9)]);
  expect(complete).toBe(true);
  expect(points.map(({ timestamp, value }) => [Date.parse(timestamp), value])).toEqual(expected);
  const raw = await soak.query<{ points: Array<{ timestamp: string }> }>("seriesData", { ...query, resolution: "raw", limit: "10000" });
  expect(Date.parse(raw.points[0]?.timestamp as string)).toBeGreaterThan(nowMs - (RAW_DAYS + 1) * 24 * HOUR_MS);
  expect(Date.parse(raw.points[0]?.timestamp as string)).toBeLessThan(nowMs - RAW_DAYS * 24 * HOUR_MS);
});
