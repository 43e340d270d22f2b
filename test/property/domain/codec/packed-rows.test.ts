// Whatever stands in an anomaly or a decision, its row gives it back: each number the identical double, each text the identical text.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { familyOfDetector } from "../../../../src/domain/alerting/paging/detector-family.ts";
import type { PageDecision } from "../../../../src/domain/alerting/paging/page-decision.ts";
import type { Anomaly } from "../../../../src/domain/anomaly/anomaly.ts";
import { ByteReader } from "../../../../src/domain/codec/byte-reader.ts";
import { ByteWriter } from "../../../../src/domain/codec/byte-writer.ts";
import {
  isNear,
  readDifference,
  readNear,
  readNumber,
  writeDifference,
  writeNear,
  writeNumber,
} from "../../../../src/domain/codec/packed-number.ts";
import { readPhrased, writePhrased } from "../../../../src/domain/codec/phrase-text.ts";
import { FAR_PHRASES, NEAR_PHRASES } from "../../../../src/domain/codec/phrases.ts";
import { anomalyScore } from "../../../../src/domain/detection/anomaly-score.ts";
import { type Verdict, zScoreVerdict } from "../../../../src/domain/detection/verdict.ts";
import { ledgerRowId } from "../../../../src/modules/alerts/ledger-book.ts";
import { decodeDecision, encodeDecision } from "../../../../src/modules/alerts/rows/decision-row.ts";
import { decodeAnomaly, encodeAnomaly } from "../../../../src/modules/anomalies/anomaly-row.ts";
import { tenantTimeKey, tenantTimeOf } from "../../../../src/modules/state/tables.ts";
import { anySentence } from "../../../support/any-sentence.ts";

function through<T>(write: (writer: ByteWriter) => void, read: (reader: ByteReader) => T): T {
  const writer = new ByteWriter(4);
  write(writer);
  const reader = new ByteReader(writer.bytes.slice(0, writer.at), "damaged");
  const value = read(reader);
  expect(reader.isAtEnd).toBe(true);
  return value;
}

const name = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 12 }),
  fc.constantFrom("a", "auth-service-0007", "latency_ms", "production"),
);
const piece = fc.oneof(fc.constantFrom(...NEAR_PHRASES, ...FAR_PHRASES), name, fc.nat().map(String), fc.string({ maxLength: 4 }));
const text = fc.array(piece, { maxLength: 20 }).map((pieces) => pieces.join(""));
const decimal = fc.tuple(fc.integer(), fc.integer({ min: 0, max: 6 })).map(([digits, decimals]) => digits / 10 ** decimals);
const number = fc.oneof(fc.double(), decimal, fc.maxSafeInteger(), fc.constantFrom(0, -0, Number.NaN, Number.POSITIVE_INFINITY, 1));
const time = fc.oneof(
  fc.integer({ min: 0, max: 2 ** 41 }),
  fc.double({ noNaN: true }).map((ms) => ms || 0),
);
const id = fc.stringMatching(/^[0-9a-f]{32}$/);
const anyId = fc.oneof(id, name);
const word = fc.oneof(fc.constantFrom("z_score", "recovered", "confirmation", "tier", "persistence"), name);
const gate = fc.record({ name: word, passed: fc.boolean(), value: number, limit: number });
const held = word.map((of) => ({ name: of, passed: true, value: 1, limit: 1 }));

const recordVerdict = fc.record({
  detector: word,
  observed: number,
  expected: number,
  lower: number,
  upper: number,
  z: number,
  p: number,
  threshold: number,
  baseline: fc.record({ n: number, mean: number, sd: number, median: number, bucket: fc.option(word), age_seconds: number }),
  contributions: fc.constant([]),
  gates: fc.array(fc.oneof(gate, held), { maxLength: 4 }),
  suppressed_by: fc.option(word),
  layers: fc.array(fc.constantFrom("statistical", "adaptive"), { maxLength: 2 }),
}) as fc.Arbitrary<Verdict>;

/** As the statistics make them: a sample against values of three decimals. */
const statisticalVerdict = fc
  .tuple(fc.array(fc.integer({ min: -1e6, max: 1e7 }), { minLength: 12, maxLength: 120 }), fc.integer())
  .map(([values, last]) => {
    const window = values.map((value) => value / 1000);
    const value = last / 1000;
    const mean = window.reduce((sum, each) => sum + each, 0) / window.length;
    const sd = Math.sqrt(window.reduce((sum, each) => sum + (each - mean) ** 2, 0) / (window.length - 1)) || 1;
    const ratio = (value - mean) / sd;
    const common = { declared: true, constant: false, afterGap: false, reset: false, threshold: 3, minimumSamples: 12, operation: false };
    const rest = { percent: false, layers: ["statistical"], count: window.length, window, ageSeconds: 1785, rawSd: sd };
    return zScoreVerdict({ ...common, ...rest, value, mean, sd, ratio });
  });

const explanationFacts = fc.oneof(
  text,
  fc.constant(null),
  fc.record(
    { isBelow: fc.boolean(), against: fc.constantFrom("values", "day", "hour", "chance"), values: fc.nat(), streams: fc.nat() },
    { requiredKeys: ["isBelow", "against", "values"] },
  ),
);

const paging = fc.record({
  tier: fc.constantFrom("low", "medium", "high"),
  alertId: fc.option(anyId),
  outcome: fc.constantFrom("paged", "absorbed", "suppressed", "logged", "resolved"),
  suppressedBy: fc.option(word),
  decidedAtMs: number,
  serial: fc.nat(),
}) as fc.Arbitrary<Anomaly["paging"]>;

const anomaly: fc.Arbitrary<Anomaly> = fc
  .record({
    id,
    tenant: name,
    environment: name,
    serviceId: name,
    metricName: name,
    attributes: fc.dictionary(text, fc.oneof(text, name, fc.boolean(), fc.integer())),
    direction: fc.constantFrom("high", "low"),
    detector: word,
    startedAtMs: number,
    detectedAtMs: time,
    observedAtMs: number,
    resolvedAtMs: fc.option(time),
    resolvedBy: fc.option(word),
    z: number,
    verdict: fc.oneof(recordVerdict, statisticalVerdict, fc.constant(null)),
    explanation: explanationFacts,
    streams: fc.nat(),
    openStreams: fc.nat(),
    founder: fc.option(fc.record({ episodeId: id, open: fc.boolean() })),
    paging: fc.option(paging),
    feedback: fc.option(
      fc.record({ opinion: fc.constantFrom("true_positive", "false_positive"), note: fc.option(text), by: text, atMs: fc.nat() }),
    ),
  })
  .chain((made) => fc.constantFrom(made, usual(made as Anomaly)))
  .chain((made) => fc.integer({ min: -600_000, max: 2e10 }).map((delayMs) => withDelay(made as Anomaly, delayMs))) as fc.Arbitrary<Anomaly>;

/** With the time of the value that showed its end, where it has ended at a whole millisecond. */
function withDelay(made: Anomaly, delayMs: number): Anomaly {
  const { resolvedAtMs } = made;
  if (resolvedAtMs === null || !Number.isSafeInteger(resolvedAtMs - delayMs) || delayMs === 0) return made;
  return { ...made, endedAtMs: resolvedAtMs - delayMs };
}

/** Whose verdict and sentence are its own, as most have. */
function usual(made: Anomaly): Anomaly {
  const verdict = made.verdict as Verdict | null;
  if (verdict === null) return made;
  return { ...made, detector: verdict.detector, z: verdict.z, explanation: null };
}

const decision: fc.Arbitrary<PageDecision> = fc
  .record({
    atMs: time,
    tenant: name,
    environment: name,
    serviceId: name,
    metricName: name,
    detector: word,
    anomalyId: anyId,
    alertId: fc.option(anyId),
    tier: fc.constantFrom("low", "medium", "high"),
    z: fc.double({ min: -99, max: 99, noNaN: true }),
    outcome: fc.constantFrom("paged", "absorbed", "suppressed", "logged", "resolved"),
    suppressedBy: fc.option(word),
    gates: fc.array(fc.oneof(gate, held), { maxLength: 9 }),
    rca: fc.option(
      fc.oneof(
        gate,
        fc.nat().map((ms) => ({ name: "rca_cooldown", passed: false, value: ms / 60_000, limit: 15 })),
      ),
    ),
    explanation: anySentence(text, number),
  })
  .map((made) => ({ ...made, family: familyOfDetector(made.detector), score: anomalyScore(made.z) })) as fc.Arbitrary<PageDecision>;

describe("comes back as it was", () => {
  it("a text", () => {
    fc.assert(
      fc.property(fc.oneof(text, fc.string({ unit: "binary" })), fc.array(name, { maxLength: 3 }), (value, names) => {
        expect(
          through(
            (writer) => writePhrased(writer, value, names),
            (reader) => readPhrased(reader, 1e6, names),
          ),
        ).toBe(value);
      }),
    );
  });

  it("a number, and its difference to another", () => {
    fc.assert(
      fc.property(number, number, (value, base) => {
        expect(through((writer) => writeNumber(writer, value), readNumber)).toBe(value);
        expect(
          through(
            (writer) => writeDifference(writer, value, base),
            (reader) => readDifference(reader, base),
          ),
        ).toBe(value);
        expect(
          through(
            (writer) => writeDifference(writer, value, Math.round(value)),
            (reader) => readDifference(reader, Math.round(value)),
          ),
        ).toBe(value);
      }),
    );
  });

  it("a number near what was predicted", () => {
    const near = fc.tuple(fc.double({ noNaN: true }), fc.integer({ min: -40_000, max: 40_000 })).map(([value, steps]) => {
      const view = new DataView(new ArrayBuffer(8));
      view.setFloat64(0, value);
      view.setBigInt64(0, view.getBigInt64(0) + BigInt(steps));
      return [value, view.getFloat64(0), steps] as const;
    });
    fc.assert(
      fc.property(near, ([value, predicted, steps]) => {
        if (Number.isNaN(predicted)) return;
        if (Math.abs(steps) < 16_384 && Math.sign(value) === Math.sign(predicted)) expect(isNear(value, predicted)).toBe(true);
        if (isNear(value, predicted))
          expect(
            through(
              (writer) => writeNear(writer, value),
              (reader) => readNear(reader, predicted),
            ),
          ).toBe(value);
      }),
    );
  });

  it("an anomaly", () => {
    fc.assert(
      fc.property(anomaly, (made) => {
        const place = tenantTimeOf(tenantTimeKey(made.tenant, made.detectedAtMs, made.id));
        expect(place).toEqual({ tenant: made.tenant, timeMs: made.detectedAtMs, id: made.id });
        expect(decodeAnomaly(encodeAnomaly(made), place)).toEqual(made);
      }),
      { numRuns: 500 },
    );
  });

  it("a decision, whose row has its id, its alert's or another", () => {
    fc.assert(
      fc.property(decision, id, fc.nat(300), fc.constantFrom("anomaly", "alert", "other"), (made, other, serial, kind) => {
        const own = kind === "anomaly" ? made.anomalyId : kind === "alert" ? made.alertId : other;
        const rowId = ledgerRowId(own !== null && /^[0-9a-f]{32}$/.test(own) ? own : other, serial);
        const place = tenantTimeOf(tenantTimeKey(made.tenant, made.atMs, rowId));
        expect(decodeDecision(encodeDecision(made, rowId), place)).toEqual(made);
      }),
      { numRuns: 500 },
    );
  });
});
