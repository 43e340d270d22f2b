// The sentence of an anomaly that comes from its row is the one that its detector would have said when it was found. The sentences of long baselines stand here once more
// as they were when frames carried them.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { EpisodeFrame } from "../../../../src/core/protocol/coordinator-frame.ts";
import { applyEpisode } from "../../../../src/domain/anomaly/anomaly.ts";
import { decodeEpisode, encodeEpisode } from "../../../../src/domain/anomaly/episode-codec.ts";
import {
  explanationOf,
  readSentence,
  saysAnother,
  sentenceOf,
  sentenceText,
  withMore,
  writeSentence,
} from "../../../../src/domain/anomaly/sentence.ts";
import { ByteReader } from "../../../../src/domain/codec/byte-reader.ts";
import { ByteWriter } from "../../../../src/domain/codec/byte-writer.ts";
import { aggregateLabel, aggregateName } from "../../../../src/domain/detection/pair/pair-aggregate.ts";
import { PairVerdict } from "../../../../src/domain/detection/pair/pair-finding.ts";
import { type PairObservation, pairFacts, pairVerdict, pairZ } from "../../../../src/domain/detection/pair/pair-verdict.ts";
import { shownValue } from "../../../../src/domain/detection/pair/value-range.ts";
import { hourOf } from "../../../../src/domain/detection/seasonal/hour-profile.ts";
import { explain, figure, type Verdict, zText } from "../../../../src/domain/detection/verdict.ts";
import { identityText } from "../../../../src/domain/series/stream-identity.ts";
import { decodeAnomaly, encodeAnomaly } from "../../../../src/modules/anomalies/anomaly-row.ts";

const NAME = { tenant: "t", environment: "production", serviceId: "checkout", attributes: { host: "a" } };
const NOW_MS = 1_700_000_000_000;

const usual = fc.double({ min: -1e6, max: 1e6, noNaN: true });
const anyNumber = fc.oneof(
  usual,
  fc.double({ noNaN: true }),
  fc.integer({ min: -5, max: 20_000 }),
  fc.constantFrom(0, -0, 1e15, -1e-7, 999.96, Number.MAX_VALUE, 5e-324),
);
const metricName = fc.oneof(fc.constantFrom("latency_ms", "a"), fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 }));

/** What a frame's anomaly says once it has been stored and read. */
function saidByRow(frame: EpisodeFrame): string {
  const { anomaly } = applyEpisode({ episode: undefined, anomaly: undefined }, frame, NOW_MS);
  const found = anomaly as NonNullable<typeof anomaly>;
  const read = decodeAnomaly(encodeAnomaly(found), { tenant: found.tenant, timeMs: NOW_MS, id: found.id });
  expect(saysAnother(found, read)).toBe(false);
  // What its alert and decisions have of it: of another metric and z too.
  const sentence = sentenceOf(found);
  for (const [metricName, z] of [
    [found.metricName, found.z],
    ["another", 1],
  ] as const) {
    for (const whole of [sentence, withMore(sentence, " (held)")]) {
      const sink = new ByteWriter(4);
      writeSentence(sink, whole, { z, names: [metricName] });
      const reader = new ByteReader(sink.shortCopy(), "damaged");
      expect([readSentence(reader, { z, names: [metricName] }), reader.isAtEnd]).toEqual([whole, true]);
    }
  }
  expect(sentenceText(withMore(sentence, " (held)"))).toBe(`${explanationOf(read)} (held)`);
  return explanationOf(read);
}

const FRAME = { transition: "open", episodeId: "ab".repeat(16), direction: "high", startedAtMs: 1, observedAtMs: 2, arrivalMs: 0 } as const;
const frameOf = (of: object) => ({ ...NAME, ...FRAME, ...of }) as object as EpisodeFrame;

describe("a row says what was said when it was found:", () => {
  it("of a deviation from the newest values", () => {
    const numbers = fc.record({
      observed: anyNumber,
      expected: anyNumber,
      lower: anyNumber,
      upper: fc.oneof(anyNumber, fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY)),
      z: fc.oneof(fc.double({ min: -99, max: 99, noNaN: true }), fc.constantFrom(99, -99, 0)),
      n: fc.nat(4000),
      sd: fc.oneof(fc.constant(0), fc.double({ min: 0, max: 1e6, noNaN: true })),
    });
    fc.assert(
      fc.property(numbers, metricName, anyNumber, ({ n, sd, ...rest }, name, peak) => {
        const baseline = { n, mean: rest.expected, sd, median: 1, bucket: null, age_seconds: 60 };
        const verdict: Verdict = {
          ...{ detector: "z_score", ...rest, p: 0.01, threshold: 3, baseline },
          ...{ contributions: [], gates: [], suppressed_by: null, layers: ["statistical"] },
        };
        const identity = Buffer.from(identityText({ ...NAME, metricName: name }));
        const of = { ...FRAME, identity, detector: "z_score", z: peak, verdict };
        const frame = decodeEpisode(encodeEpisode({ ...of, episodeId: new Uint8Array(16).fill(7) }));
        expect(saidByRow(frame)).toBe(explain(verdict, { metricName: frame.metricName }));
      }),
      { numRuns: 500 },
    );
  });

  it("of a long baseline", () => {
    const made = fc.record({
      level: fc.double({ min: 0, max: 300, noNaN: true }),
      side: fc.constantFrom(1, -1),
      mean: anyNumber,
      width: fc.integer({ min: 1, max: 400 }),
      usual: anyNumber,
      scale: fc.double({ min: 0, max: 1e9, noNaN: true }),
      isSeasonal: fc.boolean(),
      isOfKnownDay: fc.boolean(),
      levelBar: fc.double({ min: 0, max: 9, noNaN: true }),
      spike: usual,
      departure: fc.oneof(fc.constant(0), usual, fc.constantFrom(Number.POSITIVE_INFINITY, -98.96, 99, 99.01)),
      departedValue: anyNumber,
      departedFrom: anyNumber,
      departedSd: fc.double({ min: 0, max: 1e9, noNaN: true }),
      departedBar: fc.double({ min: 0, max: 50, noNaN: true }),
      departs: fc.boolean(),
    });
    const baseline = fc.record({ n: fc.nat(1e6), mean: usual, sd: usual, median: usual });
    const localMs = fc.integer({ min: NOW_MS, max: NOW_MS + 14 * 86_400_000 });
    fc.assert(
      fc.property(
        made,
        baseline,
        localMs,
        metricName,
        fc.option(fc.integer({ min: 2, max: 5000 })),
        (fields, values, atMs, name, streams) => {
          const verdict = Object.assign(new PairVerdict(), fields);
          const of: PairObservation = { verdict, baseline: values, ageSeconds: 60, localMs: atMs, direction: "both" };
          const named = { ...NAME, metricName: name };
          const stream = streams === null ? named : aggregateName(named, 0);
          const label = streams === null ? name : aggregateLabel(stream, streams);
          const facts = { verdict: pairVerdict(of), explanation: pairFacts(of, streams ?? undefined) };
          const frame = frameOf({ ...stream, detector: "adaptive", z: pairZ(verdict), ...facts });
          expect(saidByRow(decodeEpisode(Buffer.from(JSON.stringify(frame))))).toBe(saidByDetector(of, label));
        },
      ),
      { numRuns: 1000 },
    );
  });

  it("nothing where a verdict has no numbers, and words as they were chosen", () => {
    const anything = fc.oneof(fc.object(), fc.constant(null), fc.constant({ detector: "z_score", baseline: { n: null }, gates: [] }));
    fc.assert(
      fc.property(anything, fc.string(), (verdict, words) => {
        const frame = (explanation: unknown) => frameOf({ metricName: "m", detector: "z_score", z: 4, verdict, explanation });
        expect([saidByRow(frame(null)), saidByRow(frame(words))]).toEqual(["", words]);
        expect(explanationOf(frame({ isBelow: true, against: "day", values: 3 }))).toBe("");
      }),
    );
  });
});

/** As `explainPair` of the release before. */
function saidByDetector({ verdict, localMs, baseline }: PairObservation, label: string): string {
  const { width: values, isSeasonal, departure, departs, level, levelBar } = verdict;
  const isDeparture = departure !== 0 && (level < levelBar || departs);
  const [value, from, width, side] = isDeparture
    ? [verdict.departedValue, verdict.departedFrom, verdict.departedBar * verdict.departedSd, departure < 0 ? -1 : 1]
    : [verdict.mean, verdict.usual, levelBar * verdict.scale, verdict.side];
  const [observed, expected, lower, upper] = [value, from, from - width, from + width].map((each) => figure(shownValue(each)));
  const where = side < 0 ? "below" : "above";
  if (isDeparture) {
    const size = figure(Math.min(99, Math.abs(departure)));
    const more = Math.abs(departure) > 99 ? "more than " : "";
    return `${label} was ${observed}, ${more}${size} standard deviations ${where} the ${expected} that was to be expected (by chance it strays from ${lower} to ${upper})`;
  }
  const what = values === 1 ? observed : `${observed} on average over its last ${values} values`;
  const { hour, isWeekend } = hourOf(localMs);
  const day = `${isWeekend ? "weekend day" : "working day"} at ${String(hour).padStart(2, "0")}:00`;
  const when = !isSeasonal
    ? `the last ${baseline.n} values had`
    : verdict.isOfKnownDay
      ? `is usual on a ${day}`
      : "was to be expected at this hour";
  return `${label} was ${what} (${zText(pairZ(verdict))}), ${where} the ${expected} that ${when} (expected ${lower} to ${upper})`;
}
