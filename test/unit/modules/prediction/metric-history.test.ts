// When a metric has ended: then there is nothing to forecast from.
import { expect, it } from "vitest";
import { endOf } from "../../../../src/modules/prediction/metric-history.ts";

const HOUR = 3_600_000;
const NOW = 1_000 * HOUR;
const stream = (change: object) => ({ ended: false, samples: 500, firstTimeMs: NOW - 600 * HOUR, lastTimeMs: NOW - HOUR, ...change });

it.each([
  ["goes on", {}, false],
  ["was silent for eleven steps", { lastTimeMs: NOW - 11 * HOUR }, false],
  ["stopped three days ago", { lastTimeMs: NOW - 72 * HOUR }, true],
  ["was ended by its sender", { ended: true, lastTimeMs: NOW - 2 * HOUR }, true],
  ["was ended by its sender in this step", { ended: true, lastTimeMs: NOW - HOUR / 2 }, false],
  ["comes once a day", { samples: 25, lastTimeMs: NOW - 20 * HOUR }, false],
  ["came once a day until two weeks ago", { samples: 25, lastTimeMs: NOW - 336 * HOUR }, true],
])("a metric that %s", (_, change, hasEnded) => {
  const one = stream(change);
  expect(endOf([one], NOW, HOUR)).toBe(hasEnded ? one.lastTimeMs : undefined);
  expect(endOf([one, stream({})], NOW, HOUR)).toBeUndefined();
});

it("of which nothing is known has not ended", () => {
  expect(endOf([stream({ lastTimeMs: null })], NOW, HOUR)).toBeUndefined();
  expect(endOf([], NOW, HOUR)).toBeUndefined();
});
