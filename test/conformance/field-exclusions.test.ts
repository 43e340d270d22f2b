/** LOG_FIELD_EXCLUSIONS on the real server: whatever a client puts into an excluded field, no file of the data folder ever holds it. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { compressSync } from "snappy";
import { afterEach, describe, expect, it } from "vitest";
import { beginReplay, finishedReplay, readDeadLetters } from "../support/dead-letter-client.ts";
import { type Generator, generator } from "../support/generator.ts";
import { encodeBody } from "../support/remote-write-body.ts";
import { ServerClient } from "../support/server-client.ts";
import { ServerBench } from "../support/server-process.ts";

const EXCLUSIONS = "password,user.email,attributes.*.token,labels.ssn";
const SECRET = "s3cr3t";
const KEPT = "plain-value";
const TYPES = ["metric", "log", "trace", "event", "profile", "slo", "nonsense", 7] as const;
const bench = new ServerBench();
afterEach(() => bench.close());

/** Everything that the folder's files hold. */
function* filesOf(folder: string): globalThis.Generator<readonly [name: string, bytes: Buffer]> {
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (entry.isFile()) yield [entry.name, readFileSync(join(entry.parentPath, entry.name))];
  }
}

function holders(folder: string, text: string): string[] {
  return [...filesOf(folder)]
    .filter(([, bytes]) => bytes.includes(text) || bytes.includes(Buffer.from(text, "utf16le")))
    .map(([name]) => name);
}

/** A record of any type, right or wrong, with secrets in excluded fields and plain values beside them. */
function recordOf({ uniform }: Generator, n: number): object {
  const secret = `${SECRET}-${n}`;
  const attributes = {
    kept: KEPT,
    ...(uniform() < 0.5 && { password: secret }),
    ...(uniform() < 0.5 && { user: { email: secret, id: n } }),
    ...(uniform() < 0.5 && { "user.email": secret }),
    ...(uniform() < 0.5 && { auth: { token: secret }, other: { token: [secret], deep: { x: 1 } } }),
  };
  const isJson = uniform() < 0.5;
  return {
    service_id: uniform() < 0.1 ? undefined : `s${n % 5}`,
    type: TYPES[Math.floor(uniform() * TYPES.length)],
    metric_name: "m",
    value: uniform() < 0.2 ? "x" : n,
    body: isJson ? JSON.stringify({ password: secret, text: KEPT, user: { email: secret } }) : KEPT,
    timestamp: new Date(Date.now() - Math.floor(uniform() * 3_600_000)).toISOString(),
    ...(uniform() < 0.3 && { password: secret }),
    ...(uniform() < 0.3 && { user: [{ email: secret }, secret.length] }),
    attributes: uniform() < 0.05 ? [KEPT] : attributes,
  };
}

/** Logs and spans of OpenTelemetry, of which one each is refused for its time. */
async function sendOtlp(client: ServerClient): Promise<void> {
  const nanos = (ms: number) => `${Math.floor(ms)}000000`;
  const text = (key: string, stringValue: string) => ({ key, value: { stringValue } });
  const attributes = [text("password", SECRET), text("user.email", SECRET), text("kept", KEPT)];
  const resource = { attributes: [text("service.name", "otel"), text("password", SECRET)] };
  const times = [Date.now(), Date.now() - 48 * 3_600_000];
  const logRecords = times.map((ms) => ({ timeUnixNano: nanos(ms), body: { stringValue: `{"password":"${SECRET}"}` }, attributes }));
  const spans = times.map((ms, i) => {
    const ids = { traceId: `${i}`.padStart(32, "a"), spanId: `${i}`.padStart(16, "b") };
    return { ...ids, name: "op", startTimeUnixNano: nanos(ms - 5), endTimeUnixNano: nanos(ms), attributes };
  });
  const answers = [
    await client.postJson("/v1/logs", { resourceLogs: [{ resource, scopeLogs: [{ logRecords }] }] }),
    await client.postJson("/v1/traces", { resourceSpans: [{ resource, scopeSpans: [{ spans }] }] }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
}

describe("excluded fields", () => {
  it.each([1, 2])("of records and dead letters of every type leave no trace in the data folder (seed %i)", async (seed) => {
    const random = generator(seed);
    const folder = bench.dataFolder();
    const server = await bench.start({ DATA_DIR: folder, ENGINES: "2", LOG_FIELD_EXCLUSIONS: EXCLUSIONS });
    const client = new ServerClient(server.origin);
    let failed = 0;
    for (let n = 0; n < 600; n += 20) {
      const records = Array.from({ length: 20 }, (_, i) => recordOf(random, n + i));
      failed += (await client.postJson("/api/v1/telemetry/batch", records)).json().failed;
      await client.postJson("/api/v1/telemetry", recordOf(random, n));
    }
    const labels: Array<[string, string]> = [
      ["job", "j"],
      ["ssn", SECRET],
      ["kept", KEPT],
    ];
    await client.postRemoteWrite(compressSync(Buffer.from(encodeBody([{ labels, samples: [{ value: 1, time: Date.now() }] }]))));
    await sendOtlp(client);
    const letters = await readDeadLetters(client);
    expect(letters.length).toBeGreaterThan(failed);
    const [first] = letters;
    const body = JSON.stringify(recordOf({ ...random, uniform: () => 0.4 }, 1));
    await client.ask({ method: "PUT", path: `/api/v1/dlq/${first?.dlq_id}`, headers: { "Content-Type": "application/json" }, body });
    await finishedReplay(client, await beginReplay(client, { filter: {} }));
    const csv = `timestamp,service_id,metric_name,value,password\n${Date.now()},imp,m,1,${SECRET}\n`;
    const token = readFileSync(join(folder, "admin-token"), "utf8").trim();
    const headers = { "Content-Type": "text/csv", Authorization: `Bearer ${token}` };
    expect((await client.ask({ method: "POST", path: "/api/v1/import", headers, body: csv })).json()).toMatchObject({ imported: 1 });
    expect(holders(folder, SECRET)).toEqual([]);
    expect(holders(folder, KEPT).length).toBeGreaterThan(0);
    client.close();
    await server.stop();
    expect(holders(folder, SECRET)).toEqual([]);
    expect(server.output).not.toContain(SECRET);
  });

  it("without the setting stay, and a setting that cannot be read stops the start with one line", async () => {
    const folder = bench.dataFolder();
    const server = await bench.start({ DATA_DIR: folder });
    const client = new ServerClient(server.origin);
    const record = { service_id: "s", type: "log", body: "b", timestamp: new Date().toISOString(), attributes: { password: SECRET } };
    await client.postJson("/api/v1/telemetry", record);
    client.close();
    await server.stop();
    expect(holders(folder, SECRET).length).toBeGreaterThan(0);
    const refused = bench.launch({ LOG_FIELD_EXCLUSIONS: "a..b" });
    expect(await refused.ended).toBe(78);
    expect(refused.output.trim()).toMatch(/^vedette: LOG_FIELD_EXCLUSIONS: "a\.\.b" has an empty name/);
  });
});
