// Rows and a frame as this version packs them, beside what they are made of: bytes that stand still, whatever becomes of the tables of words and phrases.
import { familyOfDetector } from "../../src/domain/alerting/paging/detector-family.ts";
import type { PageDecision } from "../../src/domain/alerting/paging/page-decision.ts";
import type { Anomaly } from "../../src/domain/anomaly/anomaly.ts";
import type { PackedEpisode } from "../../src/domain/anomaly/episode-codec.ts";
import { anomalyScore } from "../../src/domain/detection/anomaly-score.ts";
import type { Verdict } from "../../src/domain/detection/verdict.ts";
import { identityText } from "../../src/domain/series/stream-identity.ts";

const ID = "00112233445566778899aabbccddeeff";
const ALERT_ID = "fedcba9876543210".repeat(2);
const NAME = {
  tenant: "default",
  environment: "production",
  serviceId: "auth-service-0007",
  metricName: "http_requests_total",
  attributes: { instance: "10.42.0.7:8080", status: "500", le: "0.5", pod: "auth-6d5f8c7b9d-x2x4l", i: 1 },
};
const SENTENCE =
  "http_requests_total was 412.1 (equivalent z 22.3), above its usual 120.1 (expected 109.9 to 130.3 over the last 120 samples)";
const VERDICT: Verdict = {
  detector: "z_score",
  observed: 412.125,
  expected: 120.1,
  lower: 109.94589102748125,
  upper: 130.25410897251874,
  z: 22.277560122717606,
  p: 0.008264462809917356,
  threshold: 3,
  baseline: { n: 120, mean: 120.1, sd: 3.3, median: 120.5, bucket: null, age_seconds: 1200 },
  contributions: [],
  gates: [
    { name: "minimum_samples", passed: true, value: 120, limit: 12 },
    { name: "after_gap", passed: true, value: 22.277560122717606, limit: 3 },
    { name: "persistence", passed: true, value: 22.277560122717606, limit: 6 },
    { name: "lasting", passed: true, value: 292.025, limit: 12.01 },
  ],
  suppressed_by: null,
  layers: ["statistical"],
};

/** `ofText`: as a release before has stored it, with the words of its sentence. */
export const STORED_ANOMALY: { readonly anomaly: Anomaly; readonly bytes: string; readonly ofText: string; readonly text: string } = {
  anomaly: {
    ...NAME,
    id: ID,
    direction: "high",
    detector: "z_score",
    startedAtMs: 1_700_000_000_000,
    detectedAtMs: 1_700_000_012_345,
    observedAtMs: 1_700_000_010_000,
    resolvedAtMs: 1_700_000_312_345,
    resolvedBy: "recovered",
    endedAtMs: 1_700_000_300_000,
    z: VERDICT.z,
    verdict: VERDICT,
    explanation: null,
    streams: 3,
    openStreams: 0,
    founder: { episodeId: "ff".repeat(16), open: false },
    paging: {
      tier: "high",
      alertId: ALERT_ID,
      outcome: "suppressed",
      suppressedBy: "confirmation",
      decidedAtMs: 1_700_000_012_345,
      serial: 2,
      rcaTriggered: true,
    },
    feedback: { opinion: "true_positive", note: null, by: "ada", atMs: 1_700_000_400_000 },
  },
  bytes:
    "BekKAOCTBAD/////////////////////iKUC+OEJ8b4hLg5HNkADAAEC9goAqO6Ahwb38+9WEoouqi4wLjc60NAesjDqMC41FACoLTZkNWY4YzdiOWQteDJ4NGwOaRAxfQECV9O7kgMwgA/RlgGAlgGRlgEoJ4V6iXxbQNLSkJzma/XsgD9mZmZmZmYKQAQDB8ABBgMwCQNgIQnA69aFAZKWAar+3LqYdlQyEP7cuph2VDIQFgACR3sib3BpbmlvbiI6InRydWVfcG9zaXRpdmUiLCJub3RlIjpudWxsLCJieSI6ImFkYSIsImF0TXMiOjE3MDAwMDA0MDAwMDB9gDkwAAA=",
  text: SENTENCE,
  ofText:
    "BOkKAOCTBAD/////////////////////iKUC+OEJ8b4hLg5HNkADAAEC9goAqO6Ahwb38+9WEoouqi4wLjc60NAesjDqMC41FACoLTZkNWY4YzdiOWQteDJ4NGwOaRAxfT4BBKkyLjEAx5YuMwDIjDAuMQiKOS45CY0wLjMKjDALAlfTu5IDMIAP0ZYBgJYBkZYBKCeFeol8W0DS0pCc5mv17IA/ZmZmZmZmCkAEAwfAAQYDMAkDYCEJwOvWhQGSlgGq/ty6mHZUMhD+3LqYdlQyEBYAAkd7Im9waW5pb24iOiJ0cnVlX3Bvc2l0aXZlIiwibm90ZSI6bnVsbCwiYnkiOiJhZGEiLCJhdE1zIjoxNzAwMDAwNDAwMDAwfYA5MAAA",
};

export const STORED_DECISION: {
  readonly decision: PageDecision;
  readonly rowId: string;
  readonly bytes: string;
  readonly ofText: string;
  readonly text: string;
} = {
  rowId: `${ID.slice(0, -2)}02`,
  decision: {
    atMs: 1_700_000_012_345,
    tenant: NAME.tenant,
    environment: NAME.environment,
    serviceId: NAME.serviceId,
    metricName: NAME.metricName,
    detector: "z_score",
    family: familyOfDetector("z_score"),
    anomalyId: ID,
    alertId: ALERT_ID,
    tier: "high",
    score: anomalyScore(VERDICT.z),
    z: VERDICT.z,
    outcome: "suppressed",
    suppressedBy: "silenced",
    gates: [
      { name: "exclusion", passed: true, value: 1, limit: 1 },
      { name: "threshold", passed: true, value: VERDICT.z, limit: 3 },
      { name: "tier", passed: true, value: 2, limit: 1 },
      { name: "silenced", passed: false, value: 0, limit: 1 },
      { name: "tenant_silence", passed: true, value: 2.5, limit: 5 },
    ],
    rca: { name: "rca_cooldown", passed: false, value: 90_500 / 60_000, limit: 15 },
    explanation: {
      metricName: NAME.metricName,
      observed: VERDICT.observed,
      expected: VERDICT.expected,
      lower: VERDICT.lower,
      upper: VERDICT.upper,
      z: VERDICT.z,
      n: 120,
      isStill: false,
      pair: null,
      behind: " (silenced by s-1, deploy)",
    },
  },
  text: `${SENTENCE} (silenced by s-1, deploy)`,
  bytes:
    "BGoL//7cuph2VDIQ/ty6mHZUMhAYAfG+IS4ORzZAAvYKAKjugIcG9/PvASTTu5IDkZYBgA8oJ4V6iXxbQNLSHAAWcy0xLCBkZXBsb3kpBY8RAzAVASAQGAYQAA50ZW5hbnRfc2lsZW5jZQmAvpIBUB0IwLBY8AE=",
  ofText:
    "A2oL//7cuph2VDIQ/ty6mHZUMhAYAfG+IS4ORzZAAvYKAKjugIcG9/PvWgEEqTIuMQDHli4zAMiMMC4xCIo5LjkJjTAuMwqMMAsAFnMtMSwgZGVwbG95KQWPEQMwFQEgEBgGEAAOdGVuYW50X3NpbGVuY2UJgL6SAVAdCMCwWPAB",
};

export const STORED_FRAME: { readonly frame: PackedEpisode; readonly bytes: string } = {
  frame: {
    identity: Buffer.from(identityText(NAME)),
    episodeId: Buffer.from(ID, "hex"),
    transition: "update",
    detector: "z_score",
    direction: "high",
    startedAtMs: 1_700_000_000_000,
    observedAtMs: 1_700_000_010_000,
    z: VERDICT.z,
    verdict: VERDICT,
    arrivalMs: 12.5,
    level: { from: 1, to: 2.5 },
  },
  bytes:
    "AQEBABEiM0RVZneImaq7zN3u/wAAgFb+vHhCAADxWP68eELxviEuDkc2QAAAAAAAAClAAgAAAAAAAPA/AAAAAAAABEABngFbImRlZmF1bHQiLCJwcm9kdWN0aW9uIiwiYXV0aC1zZXJ2aWNlLTAwMDciLCJodHRwX3JlcXVlc3RzX3RvdGFsIix7ImkiOjEsImluc3RhbmNlIjoiMTAuNDIuMC43OjgwODAiLCJsZSI6IjAuNSIsInBvZCI6ImF1dGgtNmQ1ZjhjN2I5ZC14Mng0bCIsInN0YXR1cyI6IjUwMCJ9XQEBAAAAAADCeUBmZmZmZgZeQCgnhXqJfFtA0tIjqSFIYEDxviEuDkc2QJCc5mv17IA/AAAAAAAACEAAAAAAAABeQGZmZmZmBl5AZmZmZmZmCkAAAAAAACBeQAAAAAAAwJJAAAAEAwEAAAAAAABeQAAAAAAAAChABgHxviEuDkc2QAAAAAAAAAhACQHxviEuDkc2QAAAAAAAABhAIQFmZmZmZkByQIXrUbgeBShAAQI=",
};
