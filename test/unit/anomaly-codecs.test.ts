import { describe, expect, it } from "vitest";
import { decodeAnomaly, encodeAnomaly } from "../../src/actors/coordinator/anomalies/anomaly-row.ts";
import { encodeStored } from "../../src/actors/coordinator/state/stored-json.ts";
import { type Verdict, zScoreVerdict } from "../../src/domain/detection/verdict.ts";
import type { Anomaly } from "../../src/domain/incident/anomaly.ts";
import { decodeEpisode, encodeEpisode, type PackedEpisode } from "../../src/domain/incident/episode-codec.ts";
import { identityText } from "../../src/domain/series/stream-identity.ts";

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

const PAGING: Anomaly["paging"] = {
  tier: "high",
  alertId: "0f".repeat(16),
  outcome: "suppressed",
  suppressedBy: "confirmation",
  decidedAtMs: 1_700_000_001_000.5,
  serial: 2,
};
const FEEDBACK: Anomaly["feedback"] = { opinion: "false_positive", note: "é", by: "ada", atMs: 5 };
/** As the program of that version wrote them. */
const ROWS_BEFORE: ReadonlyArray<readonly [string, string, Partial<Anomaly>]> = [
  [
    "second",
    "022100112233445566778899aabbccddeeff00008056febc78420088be56febc784200409f56febc78420000000000802240ac0202086772c3b6c39f" +
      "65720470726f6408636865636b6f75740a6c6174656e63795f6d7301126c6174656e63795f6d732077617320343132127b226c65223a22302e35222c" +
      "2269223a317d01010000000000c279406666666666065e402827857a897c5b40d2d223a921486040f1be212e0e4736407a39a64bb055422900000000" +
      "000008400000000000005e406666666666065e406666666666660a400000000000205e400000000000c0924000000303010000000000005e40000000" +
      "00000028400601f1be212e0e47364000000000000008400901f1be212e0e47364000000000000018400102d9015b7b2274696572223a226869676822" +
      "2c22616c6572744964223a223066306630663066306630663066306630663066306630663066306630663066222c226f7574636f6d65223a22737570" +
      "70726573736564222c22737570707265737365644279223a22636f6e6669726d6174696f6e222c226465636964656441744d73223a31373030303030" +
      "3030313030302e352c2273657269616c223a327d2c7b226f70696e696f6e223a2266616c73655f706f736974697665222c226e6f7465223a22c3a922" +
      "2c226279223a22616461222c2261744d73223a357d5d",
    { paging: PAGING, feedback: FEEDBACK },
  ],
  [
    "third",
    "036f00112233445566778899aabbccddeeffffffffffffffffffffffffffffffffff00008056febc78420088be56febc784200409f56febc78420000" +
      "fd56febc78420000000000802240ac0202086772c3b6c39f65720470726f6408636865636b6f75740a6c6174656e63795f6d73010a126c6174656e63" +
      "795f6d732077617320343132127b226c65223a22302e35222c2269223a317d01010000000000c279406666666666065e402827857a897c5b40d2d223" +
      "a921486040f1be212e0e4736407a39a64bb055422900000000000008400000000000005e406666666666065e406666666666660a400000000000205e" +
      "400000000000c0924000000303010000000000005e4000000000000028400601f1be212e0e47364000000000000008400901f1be212e0e4736400000" +
      "0000000018400102435b6e756c6c2c7b226f70696e696f6e223a2266616c73655f706f736974697665222c226e6f7465223a22c3a9222c226279223a" +
      "22616461222c2261744d73223a357d5d0201010f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0201160088be56febc784202",
    {
      resolvedAtMs: 1_700_000_002_000,
      resolvedBy: "recovered",
      founder: { episodeId: "ff".repeat(16), open: false },
      paging: PAGING,
      feedback: FEEDBACK,
    },
  ],
];

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

  it("is read in its first version, with its sentence made again, and refused in one that is not known", () => {
    const { id, tenant, environment, serviceId, metricName, direction, detector, startedAtMs, detectedAtMs, observedAtMs } = anomaly();
    const head = [id, tenant, environment, serviceId, metricName, direction, detector, startedAtMs, detectedAtMs, observedAtMs, null, null];
    const old = encodeStored([...head, 9.25, 300, 2, null, name.attributes, verdict()]);
    const sentence = "latency_ms was 412.1 (equivalent z 15.3), above its usual 120.1 (expected 110 to 130.2 over the last 120 samples)";
    const read = decodeAnomaly(old, placeOf(anomaly()));
    expect(read).toEqual(anomaly({ explanation: read.explanation }));
    expect(read.explanation.replace(/[\d.]+\).*/, "")).toBe(sentence.replace(/[\d.]+\).*/, ""));
    expect(readBack(read)).toEqual(read);
    expect(() => decodeAnomaly(Uint8Array.of(5, 0), placeOf(read))).toThrow("version 5");
  });

  it.each(ROWS_BEFORE)("is read in its %s version", (_, hex, change) => {
    const read = decodeAnomaly(Buffer.from(hex, "hex"), placeOf(anomaly()));
    expect(read).toEqual(anomaly(change));
    expect(readBack(read)).toEqual(read);
  });

  it("that was cut off anywhere is an error, not an anomaly", () => {
    const row = encodeAnomaly(anomaly());
    const place = placeOf(anomaly());
    for (let length = 1; length < row.length; length++) expect(() => decodeAnomaly(row.subarray(0, length), place), `${length}`).toThrow();
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
    expect({ ...frame }).toEqual({ ...name, ...others, episodeId: "00112233445566778899aabbccddeeff" });
    expect(frame.verdict).toEqual(verdictOf);
    expect(frame.explanation).toContain("latency_ms was 412.1");
    expect(frame.verdict).toBe(frame.verdict);
  });

  it("has the words that it was given, and none where it closes", () => {
    expect(decodeEpisode(encodeEpisode(packed({ explanation: "why" }))).explanation).toBe("why");
    const closing = decodeEpisode(encodeEpisode(packed({ transition: "close", verdict: null })));
    expect([closing.verdict, closing.explanation]).toEqual([null, ""]);
  });

  it("may be JSON, and is refused where it is neither", () => {
    const frame = { ...name, transition: "open", episodeId: "e", verdict: { a: 1 }, explanation: "why" };
    expect(decodeEpisode(Buffer.from(JSON.stringify(frame)))).toEqual(frame);
    expect(() => decodeEpisode(Uint8Array.of(9))).toThrow("version 9");
    const bytes = encodeEpisode(packed());
    expect(() => decodeEpisode(bytes.subarray(0, 40))).toThrow("damaged");
  });
});
