// Findings of attacks that were closed before, asked again of the whole server over both engines: small bodies that grow, writes that a page of another site can send, and data that others of
// the machine can read.
import { execFileSync } from "node:child_process";
import { gzipSync } from "node:zlib";
import { compressSync } from "snappy";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ENGINES } from "../support/http-exchanges.ts";
import { encodeBody } from "../support/remote-write-body.ts";
import { ServerClient } from "../support/server-client.ts";
import { ServerBench, type ServerProcess } from "../support/server-process.ts";
import { extent } from "../support/test-extent.ts";

const JSON_TYPE = { "Content-Type": "application/json" };
/** Elements of a body that is nothing but elements: its 60 MiB are some 60 KB of gzip. */
const ELEMENTS = extent(20_000_000, 2_000_000);
const BOMBS: ReadonlyArray<readonly [path: string, open: string, close: string]> = [
  ["/api/v1/telemetry/batch", "[", "{}]"],
  ["/v1/logs", '{"resourceLogs":[', "{}]}"],
  ["/v1/metrics", '{"resourceMetrics":[{"scopeMetrics":[{"metrics":[', "{}]}]}]}"],
  ["/v1/traces", '{"resourceSpans":[{"scopeSpans":[{"spans":[', "{}]}]}]}"],
];

describe.each(ENGINES)("what was closed, over $kind", ({ kind, skipped }) => {
  const bench = new ServerBench();
  const test = it.skipIf(skipped);
  let server: ServerProcess;
  let client: ServerClient;
  beforeAll(async () => {
    if (skipped) return;
    server = await bench.start({ HTTP_ENGINE: kind, ENGINES: "1" });
    client = new ServerClient(server.origin);
  });
  afterAll(async () => {
    client?.close();
    await bench.close();
  });
  const record = () => JSON.stringify({ service_id: "s", metric_name: "m", value: 1, timestamp: new Date().toISOString() });

  test.each(BOMBS)(
    "%s refuses a small body of gzip with millions of elements, and others are answered meanwhile",
    async (path, open, close) => {
      const body = gzipSync(open + "{},".repeat(ELEMENTS) + close, { level: 1 });
      let isAnswered = false;
      const bomb = client.ask({ method: "POST", path, headers: { ...JSON_TYPE, "Content-Encoding": "gzip" }, body }).finally(() => {
        isAnswered = true;
      });
      do {
        const other = await client.ask({ method: "POST", path: "/api/v1/telemetry", headers: JSON_TYPE, body: record() });
        expect(other.status).toBe(200);
      } while (!isAnswered);
      expect([400, 413]).toContain((await bomb).status);
    },
  );

  test("no page of another site writes by remote-write", async () => {
    const series = { labels: [["__name__", "forged"]] as const, samples: [{ time: Date.now(), value: 1 }] };
    const body = compressSync(Buffer.from(encodeBody([series]))) as Buffer;
    const type = { "Content-Type": "application/x-protobuf", "Content-Encoding": "snappy" };
    const write = async (headers: Record<string, string>) =>
      (await client.ask({ method: "POST", path: "/api/v1/rwmetrics/write", headers, body })).status;
    expect(await write({ Origin: "http://evil.example", "Sec-Fetch-Site": "cross-site" })).toBeGreaterThanOrEqual(400);
    expect(await write({})).toBe(415);
    expect(await write({ "Content-Type": "text/plain" })).toBe(415);
    expect(await write({ ...type, Origin: "http://evil.example" })).toBe(401);
    expect(await write({ ...type, Host: `evil.example:${client.port}` })).toBe(401);
    expect(await write(type)).toBe(204);
  });

  test("nothing of the data folder is readable by others", () => {
    const found = execFileSync("find", [server.dataDir, "-perm", "/077", "-not", "-type", "l"], { encoding: "utf8" });
    expect(found).toBe("");
  });
});
