// A service of few requests that come no more is told; minutes without a request are no news where they come by themselves.
import { describe, expect, it } from "vitest";
import { MINUTE_MS, pagesOf, START_MS } from "../../support/backtest-rig.ts";
import { generator } from "../../support/generator.ts";

const HOURS = 13;
const FAULT_MINUTE = 12 * 60;

/** Minutes of the pages of a series of a value a minute. */
async function pageMinutes(course: (minute: number) => number) {
  const times = Float64Array.from({ length: HOURS * 60 }, (_, minute) => START_MS + MINUTE_MS * minute);
  const name = { tenant: "default", environment: "", serviceId: "shop", metricName: "requests", attributes: {} };
  const series = [{ name, flags: 0, times, values: times.map((_, minute) => course(minute)) }];
  return (await pagesOf(series, HOURS * 60)).map(({ atMs }) => (atMs - START_MS) / MINUTE_MS);
}

describe("requests a minute", () => {
  it.each([1, 2, 3, 4, 5])(
    "at nothing for an hour, where 19 with a deviation of 6 are usual, are told within a quarter of an hour (seed %i)",
    async (seed) => {
      const random = generator(seed);
      const pages = await pageMinutes((minute) => (minute >= FAULT_MINUTE ? 0 : Math.max(0, Math.round(19 + 6 * random.normal()))));
      expect(pages.filter((minute) => minute < FAULT_MINUTE)).toEqual([]);
      expect(pages[0] ?? Number.POSITIVE_INFINITY).toBeLessThanOrEqual(FAULT_MINUTE + 15);
    },
  );

  it.each([1, 2, 3, 4, 5])("at nothing by chance, where one or two are usual, are told to nobody (seed %i)", async (seed) => {
    const random = generator(seed);
    const poisson = (mean: number) => {
      let count = -1;
      for (let left = 1, least = Math.exp(-mean); left > least; count++) left *= random.uniform();
      return count;
    };
    expect(await pageMinutes(() => poisson(1.5))).toEqual([]);
  });
});
