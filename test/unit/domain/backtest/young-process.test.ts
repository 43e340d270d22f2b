// What a process does by itself in its first twenty minutes pages nobody (report A5 of an operator: Prometheus and node_exporter, each 15 s).
import { expect, it } from "vitest";
import { decisionsOf, MINUTE_MS, START_MS } from "../../../support/backtest-rig.ts";
import { generator } from "../../../support/generator.ts";

const STEP_MS = 15_000;
const MINUTES = 20;
const noise = generator(5);

/** By the minute since the start of the process. */
const COURSES: Readonly<Record<string, (minute: number) => number>> = {
  go_gc_duration_seconds: (minute) => (minute < 4.5 ? 0.000167 : 0.000183),
  prometheus_tsdb_head_chunks: (minute) => (minute >= 12 && minute < 14.5 ? 1_848 : 922),
  node_netstat_TcpExt_SyncookiesSent: (minute) => (minute === 17 ? 21.33 : 21),
  process_resident_memory_bytes: (minute) => 4e7 * (1 + Math.min(minute, 8) / 16) + 2e5 * noise.uniform(),
  go_goroutines: (minute) => (minute < 2 ? 12 : 31),
};

it.each(Object.entries(COURSES))("A5 of %s pages nobody", async (metricName, course) => {
  const count = (MINUTES * MINUTE_MS) / STEP_MS;
  const times = Float64Array.from({ length: count }, (_, i) => START_MS + STEP_MS * i);
  const values = times.map((timeMs) => course((timeMs - START_MS) / MINUTE_MS));
  const name = { tenant: "default", environment: "", serviceId: "prometheus", metricName, attributes: {} };
  const decided = await decisionsOf([{ name, flags: 0, times, values }], MINUTES);
  expect(decided.filter(({ outcome }) => outcome === "paged")).toEqual([]);
  // What is found of it is said, and no step of few per cent is as bad as can be.
  if (metricName === "go_gc_duration_seconds") expect(decided.filter(({ tier }) => tier === "high")).toEqual([]);
});
