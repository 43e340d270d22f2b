import { describe, expect, it } from "vitest";
import { hash128 } from "../../../../src/core/hashing/hash128.ts";
import type { EpisodeFrame } from "../../../../src/core/protocol/coordinator-frame.ts";
import { type Anomaly, anomalyIdOf, applyEpisode, openKeyOf } from "../../../../src/domain/anomaly/anomaly.ts";

describe("the hash of identities", () => {
  it("is MurmurHash3 x86_128 of the UTF-8 bytes", () => {
    expect(hash128("The quick brown fox jumps over the lazy dog")).toBe("2f1583c3ecee2c675d7bf66ce5e91d2c");
    expect(hash128("")).toBe("0".repeat(32));
  });

  it("differs for texts of every length that differ in one place", () => {
    const texts = Array.from({ length: 70 }, (_, length) => [
      "a".repeat(length),
      `${"a".repeat(length)}b`,
      `b${"a".repeat(length)}`,
    ]).flat();
    expect(new Set(texts.map(hash128)).size).toBe(new Set(texts).size);
  });
});

describe("an episode", () => {
  const frame: EpisodeFrame = {
    tenant: "t",
    environment: "",
    serviceId: "s",
    metricName: "m",
    attributes: {},
    transition: "open",
    episodeId: "e",
    detector: "z_score",
    direction: "high",
    startedAtMs: 1,
    observedAtMs: 2,
    z: 4,
    verdict: null,
    explanation: "",
    arrivalMs: 0,
  };
  const opened = applyEpisode({ episode: undefined, anomaly: undefined }, frame, 10);
  const anomaly = opened.anomaly as Anomaly;

  it("gives its anomaly an id of identity, detector, direction and start alone", () => {
    expect(anomaly.id).toBe(anomalyIdOf({ ...frame, attributes: { other: 1 }, z: 9, observedAtMs: 99, arrivalMs: 5, episodeId: "f" }));
    const changes: Array<Partial<EpisodeFrame>> = [
      { tenant: "u" },
      { environment: "p" },
      { serviceId: "x" },
      { metricName: "x" },
      { direction: "low" },
      { detector: "x" },
      { startedAtMs: 3 },
    ];
    expect(new Set([{}, ...changes].map((change) => anomalyIdOf({ ...frame, ...change }))).size).toBe(8);
    expect(openKeyOf({ ...frame, serviceId: 's","m' })).not.toBe(openKeyOf(frame));
  });

  it("of an anomaly that somebody resolved closes, and neither raises nor opens it", () => {
    const episode = { tenant: "t", anomalyId: anomaly.id, detectedAtMs: 10, open: true };
    const resolved = { ...anomaly, resolvedAtMs: 20, resolvedBy: "ada" };
    expect(applyEpisode({ episode, anomaly: resolved }, { ...frame, transition: "update", z: 9 }, 30)).toEqual({ kind: "ignored" });
    expect(applyEpisode({ episode, anomaly: resolved }, { ...frame, transition: "close" }, 30)).toEqual({
      kind: "left",
      episode: { ...episode, open: false },
      anomaly: { ...resolved, openStreams: 0, founder: { episodeId: frame.episodeId, open: false } },
    });
    expect(applyEpisode({ episode, anomaly: undefined }, { ...frame, transition: "close" }, 30)).toEqual({
      kind: "left",
      episode: { ...episode, open: false },
    });
  });

  const ignores = (what: string, known: Parameters<typeof applyEpisode>[0], transition: EpisodeFrame["transition"]) =>
    it(`ignores ${what}`, () => expect(applyEpisode(known, { ...frame, transition }, 30)).toEqual({ kind: "ignored" }));
  const episode = { tenant: "t", anomalyId: anomaly.id, detectedAtMs: 10, open: true };
  ignores("an opening that is known", { episode, anomaly }, "open");
  ignores("an opening that is known and closed", { episode: { ...episode, open: false }, anomaly }, "open");
  it("an update of what a gate held back opens it", () => {
    expect(applyEpisode({ episode: undefined, anomaly: undefined }, { ...frame, transition: "update", z: 9 }, 30).kind).toBe("opened");
  });
  ignores("an end of what was never opened", { episode: undefined, anomaly }, "close");
  ignores("an update after the end", { episode: { ...episode, open: false }, anomaly }, "update");
  ignores("an update that is no higher", { episode, anomaly }, "update");
});
