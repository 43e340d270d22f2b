// What the pipeline to a page knows of services, through the whole server on a virtual clock: their age (rule 1.1.13) and their traffic.
import { compressSync } from "snappy";
import { describe, expect, it } from "vitest";
import { BODY_REMOTE_WRITE_1 } from "../../src/core/protocol/body-kind.ts";
import { encodeBody } from "../support/remote-write-body.ts";
import { MINUTE_MS, WatchedServer } from "../support/watched-server.ts";

const START = Date.UTC(2026, 0, 5, 6);
const DAY_MS = 24 * 3_600_000;
const WEEK_MS = 7 * DAY_MS;
const MATURE = 3;

interface Gate {
  readonly name: string;
  readonly passed: boolean;
  readonly value: number;
  readonly limit: number;
}

async function decisions(
  watched: WatchedServer,
): Promise<Array<{ metric_name: string; detector: string; suppressed_by: string | null; gates: Gate[] }>> {
  const answer = await watched.server.query("alertLedger", { service_id: "checkout", since: new Date(START).toISOString() });
  return (answer as { decisions: Array<{ metric_name: string; detector: string; suppressed_by: string | null; gates: Gate[] }> }).decisions;
}

/** An hour of a steady queue up to `endMs`, and then a spike of three samples. */
async function spike(watched: WatchedServer, endMs: number): Promise<void> {
  const sample = (i: number) => ({
    service: "checkout",
    metric: "queue_length",
    value: i <= 0 ? 50 + (((i + 60) * 7) % 5) : 500,
    atMs: endMs + (i - 3) * 1000,
  });
  await watched.send(Array.from({ length: 61 }, (_, i) => sample(i - 60)));
  await watched.send(Array.from({ length: 3 }, (_, i) => sample(i + 1)));
}

describe("rule 1.1.13 on the whole server: a younger service is somewhat more sensitive", () => {
  const thresholdAt = async (ageMs: number): Promise<number | undefined> => {
    const watched = await WatchedServer.open(START, 2);
    await watched.send([{ service: "checkout", metric: "first", value: 1 }]);
    await watched.minute();
    watched.machine.clock.advance(ageMs - 2 * MINUTE_MS);
    // Its age is that of its oldest stream, which outlives the process.
    await watched.kill();
    await watched.minute();
    expect(watched.nowMs).toBe(START + ageMs);
    await spike(watched, START + ageMs);
    const decision = (await decisions(watched)).find(
      ({ metric_name, detector }) => metric_name === "queue_length" && detector === "z_score",
    );
    return decision?.gates.find(({ name }) => name === "threshold")?.limit;
  };
  it.each([
    ["just below 24 hours", DAY_MS - 1, 0.9 * MATURE],
    ["at 24 hours", DAY_MS, 0.95 * MATURE],
    ["just above 24 hours", DAY_MS + 1, 0.95 * MATURE],
    ["just below 7 days", WEEK_MS - 1, 0.95 * MATURE],
    ["at 7 days", WEEK_MS, MATURE],
    ["just above 7 days", WEEK_MS + 1, MATURE],
  ])("%s", async (_, ageMs, threshold) => {
    expect(await thresholdAt(ageMs)).toBeCloseTo(threshold, 9);
  });
});

describe("minimum traffic on the whole server", () => {
  /** So many requests a minute, told by a counter every 30 seconds and by another that counts some of them; then latency jumps. */
  const heldBy = async (minimumTraffic: number, requests: number | null): Promise<string | null | undefined> => {
    const watched = await WatchedServer.open(START, 2);
    await watched.server.query("setWatchdogSettings", {}, "default", { service_id: "checkout", minimum_traffic: minimumTraffic });
    const counter = (name: string, route: string, share: number) => ({
      labels: [
        ["__name__", name],
        ["service", "checkout"],
        ["route", route],
      ] as Array<[string, string]>,
      samples: [1, 2].map((half) => ({
        value: ((watched.nowMs - START) / MINUTE_MS + half / 2) * (requests ?? 0) * share,
        time: watched.nowMs - MINUTE_MS + half * 30_000,
      })),
    });
    for (let minute = 0; minute < 12; minute++) {
      if (requests !== null) {
        const series = [
          counter("http_requests_total", "/pay", 0.75),
          counter("http_requests_total", "/cart", 0.25),
          counter("proxy_requests_total", "all", 0.5),
        ];
        const body = compressSync(Buffer.from(encodeBody(series)));
        watched.server.submit(0, BODY_REMOTE_WRITE_1, body, "", () => undefined);
      }
      await watched.minute();
    }
    const latency = (i: number) => ({
      service: "checkout",
      metric: "latency_ms",
      value: i <= 0 ? 50 + (((i + 60) * 7) % 5) : 900,
      atMs: watched.nowMs + (i - 4) * 1000,
    });
    await watched.send(Array.from({ length: 61 }, (_, i) => latency(i - 60)));
    await watched.send(Array.from({ length: 4 }, (_, i) => latency(i + 1)));
    return (await decisions(watched)).find(({ metric_name, detector }) => metric_name === "latency_ms" && detector === "z_score")
      ?.suppressed_by;
  };
  it("holds back what fewer requests than the minimum show: just below, at, just above", async () => {
    expect([await heldBy(100, 99), await heldBy(100, 100), await heldBy(100, 101)]).toEqual(["minimum_traffic", null, null]);
  });
  it("holds nothing back where no requests are counted", async () => {
    expect(await heldBy(100, null)).toBeNull();
  });
});
