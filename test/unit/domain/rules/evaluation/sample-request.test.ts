import { uncompressSync } from "snappy";
import { describe, expect, it } from "vitest";
import { Labels } from "../../../../../src/domain/promql/labels/labels.ts";
import { isStale } from "../../../../../src/domain/promql/stale-marker.ts";
import { sampleRequest } from "../../../../../src/domain/rules/evaluation/sample-request.ts";
import { decodeBody } from "../../../../support/remote-write-body.ts";

const decoded = (body: Uint8Array) => decodeBody(new Uint8Array(uncompressSync(Buffer.from(body)) as Buffer));

describe("a request of samples", () => {
  it("has their labels, times and values, stale markers by their bits", () => {
    const labels = Labels.of([["__name__", "ALERTS"], ["zone", "ü"]]); // biome-ignore format: a pair each
    const samples = [
      { labels, timeMs: 1_795_770_207_360, value: -1.5, isStale: false },
      { labels, timeMs: 5, value: Number.NaN, isStale: true },
    ];
    const [first, second] = decoded(sampleRequest(samples));
    expect(first).toEqual({ labels: [...labels.entries()], samples: [{ value: -1.5, time: 1_795_770_207_360 }] });
    expect(isStale(Float64Array.of(second?.samples[0]?.value ?? 0), 0) || Number.isNaN(second?.samples[0]?.value)).toBe(true);
    expect(sampleRequest([])).toHaveLength(0);
  });

  it("may be longer than a literal of snappy", () => {
    const many = Array.from({ length: 3_000 }, (_, i) => ({
      labels: Labels.of([["__name__", `series_${i}_${"x".repeat(40)}`]]),
      timeMs: i,
      value: i,
      isStale: false,
    }));
    expect(decoded(sampleRequest(many)).map(({ samples }) => samples[0]?.value)).toEqual(many.map(({ value }) => value));
  });
});
