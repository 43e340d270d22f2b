// A body with many anomalies: what it brings is told a little at a time, as it would have been told at once, and whoever sends beside it does not wait for that.
import { describe, expect, it } from "vitest";
import { OWED_REPORTED_AT_ONCE } from "../../src/core/config/body-limits.ts";
import { BODY_JSON_BATCH } from "../../src/core/protocol/body-kind.ts";
import { type EngineFrame, FRAME_CLOSING, FRAME_VERDICT } from "../../src/core/protocol/coordinator-frame.ts";
import { formatRfc3339 } from "../../src/core/time/rfc3339.ts";
import { decodeEpisode } from "../../src/domain/anomaly/episode-codec.ts";
import { Cluster, VirtualClock } from "../support/cluster.ts";
import { MemoryDisk } from "../support/memory-log.ts";

const START = Date.UTC(2026, 0, 5, 12);
const STEP_MS = 10_000;
const HISTORY = 160;
const SERIES = 60;
const FAR = 400;

interface Row {
  readonly service: string;
  readonly value: number;
  readonly atMs: number;
}

/** Each look at it takes half a millisecond, so that what is owed is told two at a time. */
class SlowClock extends VirtualClock {
  #looks = 0;

  override monotonicMs(): number {
    return super.monotonicMs() + 0.5 * this.#looks++;
  }
}

const timeOf = (step: number) => START + step * STEP_MS;
const ordinary = (series: number, step: number) => 100 + 5 * Math.sin(series * 12.9898 + step * 78.233);
const rowsOf = (step: number, more: number): Row[] =>
  Array.from({ length: SERIES }, (_, series) => ({
    service: `service-${series}`,
    value: ordinary(series, step) + more,
    atMs: timeOf(step),
  }));
const bodyOf = (rows: readonly Row[]) =>
  Buffer.from(
    JSON.stringify(
      rows.map(({ service, value, atMs }) => ({ service_id: service, metric_name: "m", value, timestamp: formatRfc3339(atMs) })),
    ),
  );

/** A cluster that knows the series, and what it tells from then on. */
function start() {
  const clock = new SlowClock(timeOf(HISTORY + 10));
  const cluster = new Cluster({ engines: 1, epoch: 1 }, { clock, disk: new MemoryDisk() });
  cluster.run(() => undefined);
  for (let step = 0; step < HISTORY; step++) {
    cluster.submit(0, BODY_JSON_BATCH, bodyOf(rowsOf(step, 0)), () => undefined);
    cluster.run(() => undefined);
  }
  const frames: EngineFrame[] = [];
  const take = (more: readonly EngineFrame[]) => frames.push(...more);
  const told = () =>
    frames.filter(({ kind }) => kind === FRAME_VERDICT || kind === FRAME_CLOSING).map(({ payload }) => decodeEpisode(payload));
  return { cluster, take, told };
}

type Started = ReturnType<typeof start>;

/** News without the arrival of their bytes. */
function newsOf({ told }: Started) {
  return told().map(({ arrivalMs: _, transition, episodeId, serviceId, z, observedAtMs, verdict, explanation }) => {
    return { transition, episodeId, serviceId, z, observedAtMs, verdict, explanation };
  });
}

/** Gives bodies at once; returns the names of those that are answered, in their order, each with how many news were there by then. */
function give({ cluster, take, told }: Started, bodies: Readonly<Record<string, readonly Row[]>>): string[] {
  const answers: Array<readonly [name: string, status: number]> = [];
  for (const [name, rows] of Object.entries(bodies))
    cluster.submit(0, BODY_JSON_BATCH, bodyOf(rows), ({ status }) => answers.push([name, status]));
  const seen: string[] = [];
  for (let steps = 0; seen.length < Object.keys(bodies).length; steps++) {
    if (steps > 10_000) throw new Error("not all are answered");
    cluster.step(0);
    take(cluster.link(0).takeFrames(10_000));
    for (const [name, status] of answers.splice(0)) seen.push(`${name} ${status} ${told().length}`);
  }
  return seen;
}

describe("a body with many anomalies", () => {
  it("is answered behind the last of its news; one beside it and one behind it are not kept", () => {
    const started = start();
    const quiet = (at: number): Row[] => [{ service: "quiet", value: at, atMs: timeOf(HISTORY) + at }];
    const seen = give(started, { before: quiet(1), storm: rowsOf(HISTORY, FAR), behind: quiet(2) });
    expect(seen.at(-1)).toBe(`storm 200 ${SERIES}`);
    const [first, second] = seen.map((line) => line.split(" "));
    expect([first?.[0], second?.[0]]).toEqual(["before", "behind"]);
    expect(Number(second?.[2])).toBeLessThan(SERIES);
    expect(Number(first?.[2])).toBeGreaterThanOrEqual(OWED_REPORTED_AT_ONCE);
  });

  it("has the news that its values have one by one, also where further values of its streams come behind", () => {
    const steps = [FAR, FAR, 2 * FAR, 0, 0, 0, 0, 0].map((more, step) => rowsOf(HISTORY + step, more));
    const [together, apart] = [start(), start()];
    give(together, Object.fromEntries(steps.map((rows, step) => [`step-${step}`, rows])));
    for (const row of steps.flat()) give(apart, { one: [row] });
    const news = newsOf(apart);
    expect(news.length).toBeGreaterThan(2 * SERIES);
    expect(newsOf(together)).toEqual(news);
  });

  it("has them also where one body holds several values of each stream", () => {
    const rows = [FAR, 2 * FAR, 0, 0, 0, 0, 0].flatMap((more, step) => rowsOf(HISTORY + step, more));
    const [together, apart] = [start(), start()];
    expect(give(together, { all: rows })).toEqual([`all 200 ${newsAfter(apart, rows)}`]);
    expect(newsOf(together)).toEqual(newsOf(apart));
  });
});

function newsAfter(started: Started, rows: readonly Row[]): number {
  for (const row of rows) give(started, { one: [row] });
  return newsOf(started).length;
}
