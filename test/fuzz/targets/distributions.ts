// Points of histograms and summaries, as messages and checkpoints hold them: what is read is bounded, comes back the same when it is written again, and neither
// comparing two of them nor estimating a quantile throws, hangs or leaves the numbers.
import { ByteWriter } from "../../../src/domain/codec/byte-writer.ts";
import {
  BUCKETS_MAX,
  type Distribution,
  distributionProblem,
  EMPTY_DISTRIBUTION,
  QUANTILES_MAX,
} from "../../../src/domain/distribution/distribution.ts";
import { readDistribution, writeDistribution } from "../../../src/domain/distribution/distribution-coding.ts";
import { intervalBetween } from "../../../src/domain/distribution/interval.ts";
import { quantileOf } from "../../../src/domain/distribution/quantile.ts";
import { explicitPoint, exponentialPoint } from "../../support/distribution-points.ts";
import type { InputWriter } from "../input/input-writer.ts";
import type { Random } from "../input/random.ts";
import { type FuzzTarget, magnitude, must } from "../target.ts";

const KINDS = ["explicit", "exponential", "summary"];
const BOUNDS = [1, 2, 5, 10, 20, 50, 100];

export function distributionTarget(): FuzzTarget {
  const [first, second] = [new ByteWriter(), new ByteWriter()];
  let previous: Distribution = EMPTY_DISTRIBUTION;
  const check = (input: Uint8Array): number => {
    const cursor = { bytes: input, at: 0, end: input.length };
    const point = readDistribution(cursor);
    if (point === undefined) return -1;
    must(cursor.at <= input.length, "read behind its end");
    const { bucketCounts, bounds, positive, negative, quantiles } = point;
    must(bucketCounts.length <= BUCKETS_MAX && bounds.length <= BUCKETS_MAX && quantiles.length <= QUANTILES_MAX, "more than it may hold");
    must(positive.counts.length + negative.counts.length <= 2 * BUCKETS_MAX, "more buckets than it may hold");
    const written = write(first, point);
    const again = readDistribution({ bytes: written, at: 0, end: written.length });
    must(again !== undefined, "what was written again is none");
    must(Buffer.compare(write(second, again), written) === 0, "what was written again is another point");
    if (point.isStale || distributionProblem(point) !== undefined) return KINDS.indexOf(point.kind);
    compare(point);
    return 4 + KINDS.indexOf(point.kind) + 4 * (magnitude(bucketCounts.length + positive.counts.length) + 16 * magnitude(quantiles.length));
  };
  const compare = (point: Distribution) => {
    for (const [before, after] of [
      [previous, point],
      [point, previous],
    ] as const) {
      const { added } = intervalBetween(before, after);
      must(added.count >= 0 && added.bucketCounts.every((count) => count >= 0), "an interval took something away");
      const estimate = quantileOf(added, 0.95);
      must(Number.isNaN(estimate) || Number.isFinite(estimate), `a quantile of ${estimate}`);
    }
    previous = point;
  };
  return { name: "distribution", bytesMax: 1024, tokens: [], write: writePoint, check };
}

function write(sink: ByteWriter, point: Distribution): Uint8Array {
  sink.at = 0;
  writeDistribution(sink, point);
  return sink.bytes.subarray(0, sink.at);
}

const sink = new ByteWriter();

function writePoint(out: InputWriter, random: Random): void {
  const samples = Array.from({ length: random.below(30) }, () => random.between(1, 1000) / 8);
  const made = random.oneIn(2) ? explicitPoint(samples, BOUNDS.slice(0, random.below(8))) : exponentialPoint(samples, random.between(0, 8));
  const quantiles = samples.slice(0, 5).map((value, i) => ({ quantile: i / 5, value }));
  const timeMs = 1_795_220_000_000 + random.below(1e9);
  const times = { timeMs, startMs: random.oneIn(2) ? timeMs - random.below(1e6) : 0 };
  const extremes = random.oneIn(2) ? { min: 0.125, max: 125 } : {};
  const kind = random.oneIn(4) ? { kind: "summary" as const, quantiles } : {};
  out.raw(write(sink, { ...made, ...times, ...extremes, ...kind, temporality: random.oneIn(2) ? "cumulative" : "delta" }));
}
