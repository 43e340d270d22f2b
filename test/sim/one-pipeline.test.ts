// The server on the simulator's clock, the backtest and the replay are given the same samples, and agree on every page: with any number of engines.
import { expect, it } from "vitest";
import { FLAG_COUNTER } from "../../src/core/layout/stream-record.ts";
import type { PageDecision } from "../../src/domain/alerting/paging/page-decision.ts";
import { backtest, runOnce } from "../../src/domain/backtest/backtest.ts";
import { type BacktestFacts, type BacktestSeries, NO_FACTS } from "../../src/domain/backtest/history.ts";
import { replayRun } from "../../src/domain/backtest/replay-run.ts";
import { UTC_OFFSET } from "../../src/domain/detection/seasonal/time-zone-hours.ts";
import { variant } from "../support/backtest-rig.ts";
import { generator } from "../support/generator.ts";
import { MINUTE_MS, type SentRecord, WatchedServer } from "../support/watched-server.ts";

const START = Date.UTC(2026, 0, 5, 12);
const MINUTES = 330;
/** Of each minute: samples come between two cycles. */
const SAMPLE_MS = 30_000;
/** No page is compared before it: a server that has just started holds back what a backtest does not know of. */
const SETTLED_MINUTES = 30;
const RENAMED_AT = 200;

interface Stream {
  readonly service: string;
  readonly metric: string;
  readonly pod?: string;
  readonly isCounter?: boolean;
  readonly from: number;
  readonly to: number;
  readonly values: Float64Array;
}

function stream(service: string, metric: string, of: (minute: number, noise: number) => number, more: Partial<Stream> = {}): Stream {
  const { from = 0, to = MINUTES } = more;
  const { normal } = generator(service.length * 7919 + metric.length * 104729 + (more.pod?.charCodeAt(4) ?? 0) * 31 + from);
  const values = Float64Array.from({ length: to - from }, (_, i) => of(from + i, Math.max(-2.5, Math.min(2.5, normal()))));
  return { service, metric, ...more, from, to, values };
}

/** Five far minutes, a shift, an error count, a job of 20 minutes, and three pods that are renamed, one of which fails afterwards. */
const STREAMS: readonly Stream[] = [
  stream("spiking", "queue_length", (minute, noise) => 100 + noise + (minute >= 151 && minute < 156 ? 40 : 0)),
  stream("shifting", "response_ms", (minute, noise) => 50 + noise + (minute >= 240 && minute < 290 ? 9 : 0)),
  stream("counting", "jobs_total", (minute, noise) => Math.max(0, Math.round(400 + 20 * noise + (minute >= 260 ? -380 : 0))), {
    isCounter: true,
  }),
  stream("mild", "queue_length", (minute, noise) => 100 + (minute >= 270 ? 6.6 + 0.25 * noise : noise)),
  stream("working", "disk_io", (minute, noise) => (minute % 20 < 2 ? 200 : 5) + 0.5 * noise),
  ...["a", "b", "c"].flatMap((pod) =>
    [
      { from: 0, to: RENAMED_AT, name: `old-${pod}` },
      { from: RENAMED_AT, to: MINUTES, name: `new-${pod}` },
    ].map(({ from, to, name }) =>
      stream("pods", "response_ms", (minute, noise) => 80 + 2 * noise + (name === "new-b" && minute >= 225 ? 60 : 0), {
        from,
        to,
        pod: name,
      }),
    ),
  ),
];

const timeOf = (minute: number) => START + minute * MINUTE_MS + SAMPLE_MS;
/** What is sent of it: a counter counts up. */
const sentOf = ({ isCounter, values }: Stream) => {
  let sum = 1_000;
  return isCounter ? values.map((value) => (sum += value)) : values;
};

const series: readonly BacktestSeries[] = STREAMS.map(({ service, metric, pod, isCounter, from, values }) => {
  // The first value of a counter has none before it.
  const skipped = isCounter ? 1 : 0;
  const attributes = pod === undefined ? {} : { pod };
  return {
    name: { tenant: "default", environment: "", serviceId: service, metricName: metric, attributes },
    flags: isCounter ? FLAG_COUNTER : 0,
    times: Float64Array.from({ length: values.length - skipped }, (_, i) => timeOf(from + skipped + i)),
    values: values.slice(skipped),
  };
});

const OPTIONS = {
  window: 120,
  samplesMin: 12,
  intervalMs: MINUTE_MS,
  offsetMs: UTC_OFFSET,
  sinceMs: START + SETTLED_MINUTES * MINUTE_MS,
  untilMs: START + MINUTES * MINUTE_MS,
};
const firstSeen = (_: string, serviceId: string) => timeOf(STREAMS.find(({ service }) => service === serviceId)?.from ?? 0);
const FACTS: BacktestFacts = { ...NO_FACTS, firstSeenMs: firstSeen };

const pageOf = ({ serviceId, detector, tier, atMs }: Pick<PageDecision, "serviceId" | "detector" | "tier" | "atMs">) =>
  `${new Date(atMs).toISOString().slice(11, 19)} ${serviceId} ${detector} ${tier}`;

async function pagesOfServer(engines: number): Promise<string[]> {
  const watched = await WatchedServer.open(START, engines);
  const sent = STREAMS.map(sentOf);
  for (let minute = 0; minute < MINUTES; minute++) {
    watched.machine.clock.advance(SAMPLE_MS);
    const records: SentRecord[] = STREAMS.flatMap(({ service, metric, pod, isCounter, from, to }, i) => {
      if (minute < from || minute >= to) return [];
      const attributes = { ...(pod !== undefined && { pod }), ...(isCounter && { metric_type: "counter" }) };
      return [{ service, metric, value: (sent[i] as Float64Array)[minute - from] as number, attributes }];
    });
    await watched.send(records);
    await watched.cycle(MINUTE_MS - SAMPLE_MS);
  }
  const since = new Date(OPTIONS.sinceMs).toISOString();
  const decisions = await Promise.all(
    [...new Set(STREAMS.map(({ service }) => service))].map(async (service_id) => {
      const answer = (await watched.server.query("alertLedger", { service_id, since })) as {
        decisions: ReadonlyArray<{ service_id: string; detector: string; severity: string; at: string; outcome: string }>;
      };
      return answer.decisions.filter(({ outcome }) => outcome === "paged");
    }),
  );
  return decisions
    .flat()
    .map(({ service_id, detector, severity, at }) =>
      pageOf({ serviceId: service_id, detector, tier: severity as "high", atMs: Date.parse(at) }),
    )
    .sort();
}

it("server, backtest and replay agree on every page, with 1, 2 and 4 engines", async () => {
  const decisions = await runOnce(series, FACTS, variant(), OPTIONS, () => undefined);
  const pages = decisions
    .filter(({ outcome }) => outcome === "paged")
    .map(pageOf)
    .sort();
  expect(pages.map((page) => page.split(" ")[1])).toEqual(expect.arrayContaining(["spiking", "shifting", "counting", "pods", "mild"]));
  expect(pages.some((page) => page.includes("working"))).toBe(false);

  const both = await backtest(series, FACTS, { before: variant(), after: variant({ zThreshold: 3 }) }, OPTIONS, () => Promise.resolve());
  expect([both.before, both.after, both.newly.length]).toEqual([pages.length, pages.length, 0]);

  const times = Float64Array.from({ length: MINUTES }, (_, minute) => timeOf(minute));
  const rows = await replayRun(series, times, FACTS, variant(), OPTIONS);
  expect(
    rows.decisions
      .filter(({ outcome }) => outcome === "paged")
      .map(pageOf)
      .sort(),
  ).toEqual(pages);
  expect(rows.pages.reduce((sum, page) => sum + page, 0)).toBe(new Set(pages.map((page) => page.slice(0, 5))).size);

  for (const engines of [1, 2, 4]) expect(await pagesOfServer(engines), `${engines} engines`).toEqual(pages);
});
