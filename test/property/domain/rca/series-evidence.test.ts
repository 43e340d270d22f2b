// Shortcuts over the series of an incident find what the long way finds.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { departureOf, isTooYoung } from "../../../../src/domain/rca/departure.ts";
import { withEarlier } from "../../../../src/domain/rca/earlier-evidence.ts";
import type { SeriesEvidence } from "../../../../src/domain/rca/evidence.ts";
import { ringWindows } from "../../../../src/domain/rca/ring-windows.ts";

const WINDOW_MAX = 120;

const name = fc.constantFrom("a", "b", "null");
const nameOrNone = fc.constantFrom(null, "", "null", "1");
const series = fc
  .record({ serviceId: name, metricName: name, instance: nameOrNone, node: nameOrNone, peer: nameOrNone, novelty: fc.nat({ max: 5 }) })
  .map(({ novelty, ...of }): SeriesEvidence => {
    const departure = { mean: 0, sd: 1, peak: 0, peakAt: 0, onsetAt: 0, novelty, shift: 0, past: new Float32Array() };
    return { ...of, departure, onsetMs: 0, intervalMs: 0 };
  });

/** The same by one text for each series. */
function largestByText(...looks: ReadonlyArray<readonly SeriesEvidence[]>): SeriesEvidence[] {
  const largest = new Map<string, SeriesEvidence>();
  for (const looked of looks) {
    const names = looked.map((one) => JSON.stringify([one.serviceId, one.metricName, one.instance, one.peer]));
    looked.forEach((one, i) => {
      const key = `${names.slice(0, i).filter((other) => other === names[i]).length} ${names[i]}`;
      const known = largest.get(key);
      if (known === undefined || known.departure.novelty < one.departure.novelty) largest.set(key, one);
    });
  }
  return [...largest.values()];
}

describe("evidence of series", () => {
  it("of several looks is the largest of each, those of one name told apart by their order", () => {
    fc.assert(
      fc.property(fc.array(series, { maxLength: 30 }), fc.array(series, { maxLength: 30 }), (earlier, fresh) => {
        const found = withEarlier(largestByText(earlier), fresh);
        expect(found).toEqual(largestByText(largestByText(earlier), fresh));
      }),
    );
  });

  it("is none of a series that is too young, whatever its values are", () => {
    const value = fc.oneof(fc.double({ min: -1e6, max: 1e6, noNaN: true }), fc.constant(Number.NaN), fc.integer({ min: 0, max: 2 }));
    fc.assert(
      fc.property(
        fc.array(fc.tuple(value, fc.integer({ min: 1, max: 90_000 })), { maxLength: WINDOW_MAX }),
        fc.nat({ max: WINDOW_MAX }),
        fc.integer({ min: -1, max: 600_000 }),
        (ring, onsetPlace, sinceMs) => {
          let at = 0;
          const times = Float64Array.from(ring, ([, gap]) => {
            at += gap;
            return at;
          });
          const onsetMs = times[onsetPlace] ?? at + 1;
          const before = times.filter((time) => time < onsetMs).length;
          const cut = ringWindows(
            times,
            Float64Array.from(ring, ([of]) => of),
            ring.length,
            { onsetMs, untilMs: onsetMs + sinceMs },
          );
          const departure = cut && departureOf(cut);
          expect(isTooYoung(before) && departure !== undefined).toBe(false);
        },
      ),
    );
  });
});
