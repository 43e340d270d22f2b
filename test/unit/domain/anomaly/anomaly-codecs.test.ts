import { describe, expect, it } from "vitest";
import type { Anomaly } from "../../../../src/domain/anomaly/anomaly.ts";
import { decodeEpisode, encodeEpisode, type PackedEpisode } from "../../../../src/domain/anomaly/episode-codec.ts";
import { explanationOf } from "../../../../src/domain/anomaly/sentence.ts";
import { type Verdict, zScoreVerdict } from "../../../../src/domain/detection/verdict.ts";
import { identityText } from "../../../../src/domain/series/stream-identity.ts";
import { decodeAnomaly, encodeAnomaly } from "../../../../src/modules/anomalies/anomaly-row.ts";

const name = { tenant: "größer", environment: "prod", serviceId: "checkout", metricName: "latency_ms", attributes: { le: "0.5", i: 1 } };

function verdict(change: { value?: number; operation?: boolean } = {}): Verdict {
  return zScoreVerdict({
    value: 412.125,
    mean: 120.1,
    sd: 3.3,
    rawSd: 3.3,
    ratio: 88,
    count: 120,
    window: [119, 121, 120.5],
    ageSeconds: 1200,
    declared: true,
    constant: false,
    afterGap: true,
    reset: false,
    threshold: 3,
    minimumSamples: 12,
    operation: false,
    percent: false,
    layers: ["statistical"],
    ...change,
  });
}

const anomaly = (change: Partial<Anomaly> = {}): Anomaly => ({
  ...name,
  id: "00112233445566778899aabbccddeeff",
  direction: "high",
  detector: "z_score",
  startedAtMs: 1_700_000_000_000,
  detectedAtMs: 1_700_000_001_000.5,
  observedAtMs: 1_700_000_000_500,
  resolvedAtMs: null,
  resolvedBy: null,
  z: 9.25,
  verdict: verdict(),
  explanation: "latency_ms was 412",
  streams: 300,
  openStreams: 2,
  founder: null,
  paging: null,
  feedback: null,
  ...change,
});

const placeOf = ({ tenant, detectedAtMs, id }: Anomaly) => ({ tenant, timeMs: detectedAtMs, id });
const readBack = (written: Anomaly) => decodeAnomaly(encodeAnomaly(written), placeOf(written));

/** What a detector may say: the record of the statistics, records that are nearly one, and anything else. */
const VERDICTS: ReadonlyArray<readonly [string, unknown]> = [
  ["a record", verdict()],
  ["a record with all gates", verdict({ operation: true, value: -1e300 })],
  ["a record of a season", { ...verdict(), baseline: { ...verdict().baseline, bucket: "mon-09" }, suppressed_by: "not_persistent" }],
  ["a record with contributions", { ...verdict(), contributions: [{ feature: "a", delta_score: 0.5 }] }],
  ["a record with a member more", { ...verdict(), cycle: 3 }],
  ["a record without a member", { ...verdict(), layers: undefined }],
  ["a record with a gate that says more", { ...verdict(), gates: [{ ...verdict().gates[0], why: "x" }] }],
  ["a record with words of its own", { ...verdict(), detector: "saturation", layers: ["saturation"] }],
  ["another object", { observed: 1 }],
  ["nothing", null],
];

/** That rows of before end without. */
const DELAY_BYTES = 5;

describe("an anomaly's row", () => {
  it.each(VERDICTS)("gives %s back as JSON says it, member by member in order", (_, each) => {
    const back = readBack(anomaly({ verdict: each }));
    expect(JSON.stringify(back.verdict)).toBe(JSON.stringify(each));
  });

  it.each<readonly [string, Partial<Anomaly>]>([
    ["open", {}],
    ["of an episode that is open", { founder: { episodeId: "ff".repeat(16), open: true } }],
    ["of an episode that is closed", { direction: "low", founder: { episodeId: "0f".repeat(16), open: false } }],
    ["resolved", { resolvedAtMs: 1_700_000_002_000, resolvedBy: "recovered" }],
    ["resolved before it was detected", { resolvedAtMs: 1_600_000_000_000, resolvedBy: "recovered" }],
    ["resolved by nobody", { resolvedAtMs: 1_700_000_002_000 }],
    ["resolved by somebody", { resolvedAtMs: 1, resolvedBy: "ada@example.org" }],
    ["with feedback", { feedback: { opinion: "false_positive", note: null, by: "ada", atMs: 5 } }],
    [
      "decided on",
      {
        paging: {
          tier: "high",
          alertId: null,
          outcome: "suppressed",
          suppressedBy: "cooldown",
          decidedAtMs: 3,
          serial: 1,
        } as Anomaly["paging"],
      },
    ],
    [
      "that ended by a value of twenty days ago",
      { resolvedAtMs: 1_800_000_000_000, resolvedBy: "recovered", endedAtMs: 1_798_272_000_001 },
    ],
    [
      "of a new level, by a value ahead of the clock",
      { resolvedAtMs: 9e11, resolvedBy: "accepted", endedAtMs: 9e11 + 5, level: { from: 1, to: 2 } },
    ],
    ["of another detector", { detector: "slo_burn", explanation: "" }],
    ["of long names", { metricName: "é".repeat(255), attributes: { text: "x".repeat(5000) } }],
  ])("gives an anomaly back: %s", (_, change) => {
    const first = anomaly(change);
    expect(readBack(first)).toEqual(first);
  });

  it("takes less than a quarter of a kilobyte, and no byte more when its anomaly ends", () => {
    const open = anomaly({ openStreams: 1, founder: { episodeId: "ff".repeat(16), open: true } });
    const ended = { resolvedAtMs: open.detectedAtMs + 86_400_000, resolvedBy: "recovered", openStreams: 0 };
    const row = encodeAnomaly({ ...open, ...ended, founder: { episodeId: "ff".repeat(16), open: false } });
    expect(row.length).toBe(encodeAnomaly(open).length);
    expect(row.length).toBeLessThan(256);
  });

  it("has a verdict of the same JSON as before, members in their order: digests of it hold", () => {
    for (const given of [verdict(), verdict({ value: 0.1 + 0.2, operation: true }), JSON.parse(JSON.stringify(verdict()))]) {
      expect(JSON.stringify(readBack(anomaly({ verdict: given })).verdict)).toBe(JSON.stringify(given));
    }
  });

  it("of another version is named, and not read", () => {
    for (const version of [1, 3, 6]) {
      const row = Uint8Array.of(version, 0);
      expect(() => decodeAnomaly(row, placeOf(anomaly()))).toThrow(
        `table anomalies has a format that this program does not know: its version is ${version}`,
      );
    }
  });

  it("of before, which ends without the value of its end, is read", () => {
    const level = { from: 1, to: 2 };
    for (const resolvedBy of ["recovered", "accepted"]) {
      const first = anomaly({ resolvedAtMs: 9e11, resolvedBy, ...(resolvedBy === "accepted" && { level }) });
      const row = encodeAnomaly({ ...first, endedAtMs: 8e11 });
      expect(decodeAnomaly(row.subarray(0, row.length - DELAY_BYTES), placeOf(first))).toEqual(first);
    }
  });

  it("that was cut off anywhere is an error, not an anomaly", () => {
    const row = encodeAnomaly(anomaly());
    const place = placeOf(anomaly());
    const before = row.length - DELAY_BYTES;
    expect(decodeAnomaly(row.subarray(0, before), place)).toEqual(anomaly());
    for (let length = 1; length < row.length; length++)
      if (length !== before) expect(() => decodeAnomaly(row.subarray(0, length), place), `${length}`).toThrow();
  });
});

describe("the frame of an episode", () => {
  const packed = (change: Partial<PackedEpisode> = {}): PackedEpisode => ({
    identity: Buffer.from(identityText(name)),
    episodeId: Buffer.from("00112233445566778899aabbccddeeff", "hex"),
    transition: "open",
    detector: "z_score",
    direction: "low",
    startedAtMs: 1_700_000_000_000,
    observedAtMs: 1_700_000_000_500,
    z: -9.25,
    verdict: verdict(),
    arrivalMs: 12.5,
    ...change,
  });

  it.each(["open", "update"] as const)("gives back what was packed: %s", (transition) => {
    const { identity: _, episodeId: __, ...rest } = packed({ transition });
    const frame = decodeEpisode(encodeEpisode(packed({ transition })));
    const { verdict: verdictOf, ...others } = rest;
    expect({ ...frame }).toEqual({ ...name, ...others, explanation: null, episodeId: "00112233445566778899aabbccddeeff" });
    expect(frame.verdict).toEqual(verdictOf);
    expect(explanationOf(frame)).toContain("latency_ms was 412.1");
    expect(frame.verdict).toBe(frame.verdict);
  });

  it("has the words that it was given, and none where it closes", () => {
    expect(decodeEpisode(encodeEpisode(packed({ explanation: "why" }))).explanation).toBe("why");
    const closing = decodeEpisode(encodeEpisode(packed({ transition: "close", verdict: null })));
    expect([closing.verdict, explanationOf(closing)]).toEqual([null, ""]);
  });

  it("may be JSON, and is refused where it is neither", () => {
    const frame = { ...name, transition: "open", episodeId: "e", verdict: { a: 1 }, explanation: "why" };
    expect(decodeEpisode(Buffer.from(JSON.stringify(frame)))).toEqual(frame);
    expect(() => decodeEpisode(Uint8Array.of(9))).toThrow("version 9");
    const bytes = encodeEpisode(packed());
    expect(() => decodeEpisode(bytes.subarray(0, 40))).toThrow("damaged");
  });
});
