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
const COUNT_FAULT_LASTS_MS = 20 * MINUTE_MS;
export const COUNT_FIRST_MS = START_MS;

export interface CountModel {
  readonly name: string;
  readonly fault: string;
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
  series: (seed, isFaulty) => {
    const { uniform } = generator(seed * 104_729);
    const times = timesOf(WINDOW_MS);
    const values = times.map((timeMs) => (isFaulty && isFault(timeMs) ? 5 : uniform() < 1 / 300 ? 2 : 1));
    return [{ name: named("span.requests"), flags: FLAG_OPERATION, times, values }];
  },
};

/** Deltas of counters of some instances, scraped each 15 s with one in fifty missed; in the fault the first has four times its rate. */
function instances(count: number): CountModel {
  return {
    name: `counters of ${count} instances, one scrape in 50 missed`,
    fault: "one at four times",
    series: (seed, isFaulty) =>
      Array.from({ length: count }, (_, i): BacktestSeries => {
        const random = generator((seed * 31 + i * 7907 + count) >>> 0);
        const times = timesOf(15_000, () => random.uniform() >= 1 / 50);
        let before = START_MS - 15_000;
        const values = times.map((timeMs) => {
          const rate = isFaulty && i === 0 && isFault(timeMs) ? 4 : 1;
          const delta = poisson((rate * 20 * (timeMs - before)) / 15_000, random);
          before = timeMs;
          return delta;
        });
        return { name: named("requests_total", { instance: `pod-${i}` }), flags: FLAG_COUNTER, times, values };
      }),
  };
}

/** Errors of a job by the minute: nothing for hours, and single ones. */
const RARE: CountModel = {
  name: "errors by the minute, one in 50",
  fault: "four a minute",
  series: (seed, isFaulty) => {
    const random = generator(seed * 53_591);
    const times = timesOf(MINUTE_MS);
    const values = times.map((timeMs) => poisson(isFaulty && isFault(timeMs) ? 4 : 0.02, random));
    return [{ name: named("job_errors"), flags: 0, times, values }];
  },
};

export const COUNT_MODELS: readonly CountModel[] = [spans(5), spans(40), STEADY, instances(3), instances(6), RARE];
