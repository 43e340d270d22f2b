// Senders repeat their series in the same order, and the kernel compares each with the labels that followed last time. What is taken must not hang on that
// order: series come rotated, left out, shuffled, of another tenant, or with one byte changed.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { STATUS_UNKNOWN_STREAM } from "../../../../src/core/layout/kernel-status.ts";
import { BASE_MS, byStream, IngestHarness, type Staged } from "../../../support/ingest-harness.ts";
import { encodeBody, type Series } from "../../../support/remote-write-body.ts";
import { expectedOf, strictDecode } from "../../../support/remote-write-decoder.ts";

const SERIES = 40;
const TENANTS = 2;

/** Series i; `change` says where another letter stands, so that it is another series of the same length. */
function labelsOf(i: number, change = 0): Series["labels"] {
  // Texts of every length modulo what is compared at once.
  const pod = `pod-${String(i).padStart(3 + ((i * 7) % 67), "0")}`;
  return [
    ["__name__", `requests_${i % 5}`],
    ["pod", change === 0 ? pod : withDeadLetter(pod, (change * 5 + i) % pod.length, "x")],
  ];
}

function withDeadLetter(text: string, at: number, letter: string): string {
  return `${text.slice(0, at)}${letter}${text.slice(at + 1)}`;
}

interface Step {
  readonly tenant: number;
  readonly from: number;
  readonly count: number;
  /** One in so many is left out; 0 = none. */
  readonly without: number;
  /** One in so many is changed; 0 = none. */
  readonly changed: number;
  readonly backwards: boolean;
  readonly samples: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  tenant: fc.integer({ min: 1, max: TENANTS }),
  from: fc.nat(SERIES - 1),
  count: fc.integer({ min: 1, max: 2 * SERIES }),
  without: fc.constantFrom(0, 0, 2, 3, 11),
  changed: fc.constantFrom(0, 0, 0, 3, 13),
  backwards: fc.boolean(),
  samples: fc.integer({ min: 1, max: 3 }),
});

function seriesOf({ from, count, without, changed, backwards, samples }: Step, number: number): Series[] {
  const all = Array.from({ length: count }, (_, i) => (from + i) % SERIES).filter((i) => without === 0 || i % without !== 1);
  const series = all.map((i, place) => ({
    labels: labelsOf(i, changed !== 0 && i % changed === 2 ? 1 + (number % 13) : 0),
    // A series may come twice in a body: its times differ.
    samples: Array.from({ length: samples }, (_, k) => ({ value: i + k / 8, time: BASE_MS + number * 100_000 + place * 10 + k })),
  }));
  return backwards ? series.reverse() : series;
}

function expectedFrom(body: Uint8Array): Staged[] {
  const decoded = strictDecode(body);
  if (decoded === undefined) throw new Error("the body is malformed");
  return expectedOf(decoded);
}

describe("the order of series", () => {
  it("changes nothing of what is taken, and each stream is unknown once", () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 2, maxLength: 12 }), (steps) => {
        const harness = new IngestHarness();
        const known = new Set<string>();
        for (const [number, each] of steps.entries()) {
          const series = seriesOf(each, number);
          const body = encodeBody(series);
          const { staged, statuses, begun } = harness.ingest(body, { tenant: each.tenant });
          expect(begun).toBe(series.length * each.samples);
          expect(byStream(staged)).toEqual(byStream(expectedFrom(body)));
          const keys = series.map(({ labels }) => `${each.tenant} ${JSON.stringify(labels)}`);
          const unseen = new Set(keys.filter((key) => !known.has(key)));
          expect(statuses.filter((status) => status === STATUS_UNKNOWN_STREAM)).toHaveLength(unseen.size);
          for (const key of unseen) known.add(key);
        }
      }),
      { numRuns: 60 },
    );
  });

  it("may be of more labels than are kept", () => {
    const harness = new IngestHarness();
    const megabyte = 1 << 20;
    const series = (i: number, at: number): Series => ({
      labels: [
        ["__name__", `large_${i}`],
        ["text", "t".repeat(megabyte)],
      ],
      samples: [{ value: i, time: BASE_MS + at }],
    });
    for (let round = 0; round < 2; round++) {
      for (let first = 0; first < 30; first += 10) {
        const all = Array.from({ length: 10 }, (_, i) => series(first + i, round * 1000));
        const body = encodeBody(all);
        const { staged, statuses } = harness.ingest(body);
        expect(byStream(staged)).toEqual(byStream(expectedFrom(body)));
        expect(statuses.filter((status) => status === STATUS_UNKNOWN_STREAM)).toHaveLength(round === 0 ? 10 : 0);
      }
    }
  });

  it("begins anew with a table that was cleared", () => {
    const harness = new IngestHarness();
    const all = seriesOf({ tenant: 1, from: 0, count: SERIES, without: 0, changed: 0, backwards: false, samples: 1 }, 0);
    const body = encodeBody(all);
    for (const expected of [SERIES, 0]) {
      const { statuses } = harness.ingest(body);
      expect(statuses.filter((status) => status === STATUS_UNKNOWN_STREAM)).toHaveLength(expected);
    }
    harness.kernel.keyTableClear();
    const { statuses, staged } = harness.ingest(body);
    expect(statuses.filter((status) => status === STATUS_UNKNOWN_STREAM)).toHaveLength(SERIES);
    expect(byStream(staged)).toEqual(byStream(expectedFrom(body)));
  });
});
