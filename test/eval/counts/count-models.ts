// Series of few events: failures among spans, requests of instances. Everything follows from the seed.
import { FLAG_COUNTER, FLAG_OPERATION } from "../../../src/core/layout/stream-record.ts";
import type { BacktestSeries } from "../../../src/domain/backtest/history.ts";
import { type Generator, generator } from "../../support/generator.ts";

const START_MS = Date.UTC(2026, 0, 5);
const MINUTE_MS = 60_000;
const WINDOW_MS = 10_000;
/** A failed span in so many. */
const SPANS_A_FAILURE = 500;
export const COUNT_HOURS = 36;
/** When something goes wrong, and for how long. */
export const COUNT_FAULT_MS = START_MS + 30 * 60 * MINUTE_MS + 23_000;
export const COUNT_FAULT_LASTS_MS = 20 * MINUTE_MS;
export const COUNT_FIRST_MS = START_MS;

export interface CountModel {
  readonly name: string;
  readonly fault: string;
  /** The fault is four times the usual, or more, of at least one series. */
  readonly isFourfold: boolean;
  series(seed: number, isFaulty: boolean): BacktestSeries[];
}

function poisson(mean: number, { uniform, normal }: Generator): number {
  if (mean > 60) return Math.max(0, Math.round(mean + Math.sqrt(mean) * normal()));
  let [count, product] = [0, uniform()];
  for (const least = Math.exp(-mean); product > least; product *= uniform()) count++;
  return count;
}

function isFault(timeMs: number): boolean {
  return timeMs >= COUNT_FAULT_MS && timeMs < COUNT_FAULT_MS + COUNT_FAULT_LASTS_MS;
}

function timesOf(intervalMs: number, keeps: () => boolean = () => true): Float64Array {
  const count = (COUNT_HOURS * 60 * MINUTE_MS) / intervalMs;
  return Float64Array.from({ length: count }, (_, i) => START_MS + i * intervalMs).filter(keeps);
}

function named(metricName: string, attributes: Record<string, string> = {}) {
  return { tenant: "default", environment: "", serviceId: "counts", metricName, attributes };
}

/** An operation whose spans come at a rate a window, one in 500 of them failed; in the fault one in four. */
function spans(rate: number): CountModel {
  return {
    name: `spans, ${rate} in ten seconds, 1 of ${SPANS_A_FAILURE} failed`,
    fault: "one in four fails",
    isFourfold: true,
    series: (seed, isFaulty) => {
      const random = generator((seed * 7919 + rate) >>> 0);
      const times = timesOf(WINDOW_MS);
      const requests = times.map(() => poisson(rate, random));
      const errors = requests.map((count, i) => {
        const share = isFaulty && isFault(times[i] as number) ? 0.25 : 1 / SPANS_A_FAILURE;
        let failed = 0;
        for (let n = 0; n < count; n++) if (random.uniform() < share) failed++;
        return failed;
      });
      const of = (metricName: string, values: Float64Array): BacktestSeries => ({
        name: named(metricName),
        flags: FLAG_OPERATION,
        times,
        values,
      });
      return [of("span.requests", requests), of("span.errors", errors)];
    },
  };
}

/** Exactly one request in each window, and now and then two. */
const STEADY: CountModel = {
  name: "one request in ten seconds, two in one of 300 windows",
  fault: "five at a time",
  isFourfold: true,
  series: (seed, isFaulty) => {
    const { uniform } = generator(seed * 104_729);
    const times = timesOf(WINDOW_MS);
    const values = times.map((timeMs) => (isFaulty && isFault(timeMs) ? 5 : uniform() < 1 / 300 ? 2 : 1));
    return [{ name: named("span.requests"), flags: FLAG_OPERATION, times, values }];
  },
};

/** What goes wrong with counters: so many times the rate of the first instance, or of each. */
const COUNTER_FAULTS = [
  { fault: "one at four times", factor: 4, isOfAll: false },
  { fault: "the sum at twice", factor: 2, isOfAll: true },
] as const;

/** An instance's minutes of life, from and to; it never ends where there are none. */
type Life = readonly [from: number, to: number] | undefined;

interface Counters {
  readonly name: string;
  /** Names of instances, and when each lives. */
  readonly lives: (seed: number) => readonly Life[];
  /** A scrape in so many is missed; 0 for none. */
  readonly missedOneIn: number;
}

/** Deltas of counters of some instances, scraped each 15 s, with one in fifty missed where some are. */
function counters({ name, lives, missedOneIn }: Counters, { fault, factor, isOfAll }: (typeof COUNTER_FAULTS)[number]): CountModel {
  return {
    name,
    fault,
    isFourfold: factor >= 4,
    series: (seed, isFaulty) =>
      lives(seed).map((life, i, all): BacktestSeries => {
        const random = generator((seed * 31 + i * 7907 + all.length) >>> 0);
        const isTaken = (timeMs: number) => {
          const minute = (timeMs - START_MS) / MINUTE_MS;
          return life === undefined || (minute >= life[0] && minute < life[1]);
        };
        const times = timesOf(15_000, () => missedOneIn === 0 || random.uniform() >= 1 / missedOneIn).filter(isTaken);
        let before = (times[0] as number) - 15_000;
        const values = times.map((timeMs) => {
          const rate = isFaulty && (i === 0 || isOfAll) && isFault(timeMs) ? factor : 1;
          const delta = poisson((rate * 20 * (timeMs - before)) / 15_000, random);
          before = timeMs;
          return delta;
        });
        return { name: named("requests_total", { instance: `pod-${i}` }), flags: FLAG_COUNTER, times, values };
      }),
  };
}

/** Three that stay, and each some hours one that joins for a while. */
function comingAndGoing(seed: number): Life[] {
  const { uniform } = generator(seed * 15_485_863);
  const lives: Life[] = [undefined, undefined, undefined];
  for (let from = 60 + 120 * uniform(); from < COUNT_HOURS * 60; from += 60 + 240 * uniform())
    lives.push([from, from + 20 + 300 * uniform()]);
  return lives;
}

const staying = (count: number) => () => Array.from({ length: count }, () => undefined);
const COUNTERS: readonly Counters[] = [
  ...[2, 3, 6].map((count) => ({
    name: `counters of ${count} instances, one scrape in 50 missed`,
    lives: staying(count),
    missedOneIn: 50,
  })),
  { name: "counters of 4 instances", lives: staying(4), missedOneIn: 0 },
  { name: "counters of 3 instances, others come and go", lives: comingAndGoing, missedOneIn: 0 },
];

/** Errors of a job by the minute: nothing for hours, and single ones. */
const RARE: CountModel = {
  name: "errors by the minute, one in 50",
  fault: "four a minute",
  isFourfold: true,
  series: (seed, isFaulty) => {
    const random = generator(seed * 53_591);
    const times = timesOf(MINUTE_MS);
    const values = times.map((timeMs) => poisson(isFaulty && isFault(timeMs) ? 4 : 0.02, random));
    return [{ name: named("job_errors"), flags: 0, times, values }];
  },
};

export const COUNT_MODELS: readonly CountModel[] = [
  spans(5),
  spans(40),
  STEADY,
  ...COUNTERS.flatMap((of) => COUNTER_FAULTS.map((fault) => counters(of, fault))),
  RARE,
];
