// More than the server can take: it says 503 with Retry-After to what it does not take, stays up, and goes on when the flood is over.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterEach, expect, it } from "vitest";
import { ServerBench } from "../support/server-process.ts";

const bench = new ServerBench();
afterEach(() => bench.close());

interface Flood {
  readonly statuses: Readonly<Record<string, number>>;
  readonly withoutRetryAfter: number;
  readonly rssBytes: readonly [middle: number, end: number];
}

it.each([
  ["small bodies", 256, 100],
  ["bodies of which one is held at a time", 64, 3_000],
])("refuses what finds no room, %s, and keeps what it took", async (_, connections, records) => {
  const server = await bench.start({ ENGINES: "1", OTLP_PORT: "0", ALERTS_PORT: "0" });
  const port = new URL(server.origin).port;
  const args = ["native-bench/clients/flood.mjs", port, server.pid, connections, 3, records].map(String);
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const { statuses, withoutRetryAfter, rssBytes } = JSON.parse(stdout) as Flood;
  expect(Object.keys(statuses)).toEqual(["200", "503"]);
  expect(withoutRetryAfter).toBe(0);
  expect(rssBytes[1] - rssBytes[0]).toBeLessThan(256 * 2 ** 20);
  const health = await server.get<{ status: string }>("/healthz");
  expect(health.status).toBe("ok");
  const { series } = await server.get<{ series: unknown[] }>("/api/v1/series", { service_id: "after" });
  expect(series.length).toBe(1);
});
