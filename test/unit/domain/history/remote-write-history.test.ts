import { describe, expect, it } from "vitest";
import { HistoryCollector, HistoryError } from "../../../../src/domain/history/history-collector.ts";
import { readRemoteWriteHistory } from "../../../../src/domain/history/remote-write-history.ts";
import { REPLICA_LABELS } from "../../../../src/domain/series/replica-labels.ts";
import { encodeBody2 } from "../../../support/remote-write-2-body.ts";
import { encodeBody } from "../../../support/remote-write-body.ts";

const NOW = Date.UTC(2026, 0, 5);
const DAY = 86_400_000;
const LABELS = [
  ["__name__", "requests_total"],
  ["job", "api"],
  ["replica", "1"],
  ["zone", "b"],
] as const;
const SAMPLES = [
  { time: NOW - 300 * DAY, value: 5 },
  { time: NOW - 299 * DAY, value: 1e300 },
];

function read(bytes: Uint8Array, version: 1 | 2, samplesMax = 10) {
  const collector = new HistoryCollector({ nowMs: NOW, samplesMax });
  readRemoteWriteHistory(bytes, version, REPLICA_LABELS, collector);
  const series = collector.finish().map(({ serviceId, metricName, attributes, times, values, length }) => ({
    name: [serviceId, metricName, attributes],
    samples: Array.from({ length }, (_, at) => [times[at], values[at]]),
  }));
  return { series, problems: collector.problems };
}

const READ = {
  name: ["api", "requests_total", { zone: "b", metric_type: "counter" }],
  samples: SAMPLES.map(({ time, value }) => [time, value]),
};

describe("history of remote-write", () => {
  it("is read of any age, by the labels of both versions, without those of replicas", () => {
    expect(read(encodeBody([{ labels: LABELS, samples: SAMPLES }]), 1)).toEqual({ series: [READ], problems: [] });
    expect(read(encodeBody2([{ labels: LABELS, samples: SAMPLES }]), 2)).toEqual({ series: [READ], problems: [] });
  });

  it("names what is no value, and is refused as a whole where it has too many samples or is no message", () => {
    const stale = { time: NOW - DAY, value: Number.NaN };
    expect(read(encodeBody([{ labels: LABELS, samples: [...SAMPLES, stale] }]), 1)).toMatchObject({
      series: [READ],
      problems: [{ at: "series 0, sample 2", error: "invalid_value" }],
    });
    expect(() => read(encodeBody([{ labels: LABELS, samples: SAMPLES }]), 1, 1)).toThrow(HistoryError);
    expect(() => read(Uint8Array.of(10, 200, 1), 1)).toThrow("not a snappy block holding a remote-write message");
    expect(() => read(Uint8Array.of(42, 3, 10, 1, 7), 2)).not.toThrow();
    expect(() => read(Uint8Array.of(42, 4, 10, 2, 7, 8), 2)).toThrow("refers to no symbol");
  });
});
