/** History on the real server: the endpoint, the command line, what a baseline knows of it afterwards. */
import { execFile, spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { ServerClient } from "../support/server-client.ts";
import { ServerBench, type ServerProcess } from "../support/server-process.ts";

const DAY_MS = 24 * 3600 * 1000;
const STEP_MS = 60_000;
const bench = new ServerBench();
const clients: ServerClient[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  await bench.close();
});

interface Started {
  readonly server: ServerProcess;
  readonly client: ServerClient;
  readonly folder: string;
  readonly token: string;
}

async function start(folder = bench.dataFolder(), settings: Record<string, string> = {}): Promise<Started> {
  const server = await bench.start({ DATA_DIR: folder, ENGINES: "2", ...settings });
  const client = new ServerClient(server.origin);
  clients.push(client);
  return { server, client, folder, token: readFileSync(join(folder, "admin-token"), "utf8").trim() };
}

/** A quiet series of one sample a minute up to `untilMs`. */
const quiet = (samples: number, untilMs: number) =>
  Array.from({ length: samples }, (_, i) => [untilMs - (samples - i) * STEP_MS, 50 + ((i * 7) % 11) / 10] as const);

function csvOf(service: string, samples: ReadonlyArray<readonly [number, number]>): string {
  return `timestamp,service_id,metric_name,value,zone\n${samples.map(([ms, value]) => `${ms},${service},cpu,${value},a`).join("\n")}\n`;
}

const post = ({ client, token }: Started, body: string | Uint8Array, headers: Record<string, string> = {}) =>
  client.ask({
    method: "POST",
    path: "/api/v1/import",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "text/csv", ...headers },
    body,
  });

async function readPoints({ client }: Started, service: string, query = "&limit=10000"): Promise<Array<readonly [number, number]>> {
  const answer = (await client.get(`/api/v1/series/data?service_id=${service}&metric_name=cpu${query}`)).json();
  return answer.points.map(({ timestamp, value }: { timestamp: string; value: number }) => [Date.parse(timestamp), value] as const);
}

/** Runs `vedette import` to its end. */
function runImport(started: Started, file: string, ...args: string[]): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    const all = ["dist/main.js", "import", file, "--url", started.server.origin, "--token", started.token, ...args];
    execFile(process.execPath, all, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr }),
    );
  });
}

describe("an import", () => {
  it("makes a baseline mature from the first live sample on, and declares nothing of the past", async () => {
    const started = await start();
    const nowMs = Date.now();
    const samples = quiet(3_000, nowMs).map(([ms, value], i) => [ms, i === 1_500 || i === 1_501 ? 900 : value] as const);
    expect((await post(started, csvOf("shop", samples))).json()).toEqual({
      status: "ok",
      imported: 3_000,
      series: 1,
      failed: 0,
      failures: [],
    });
    expect((await started.client.get("/api/v1/anomalies")).json().total).toBe(0);
    const live = { service_id: "shop", metric_name: "cpu", value: 90, timestamp: new Date(nowMs).toISOString(), attributes: { zone: "a" } };
    await started.client.postJson("/api/v1/telemetry", live);
    const found = (await started.client.get("/api/v1/anomalies")).json();
    expect(found).toMatchObject({ total: 1, anomalies: [{ service_id: "shop", metric_name: "cpu" }] });
    expect((await started.client.get("/api/v1/series?service_id=shop")).json().series[0]).toMatchObject({ maturity: "settling" });
  });

  it("is there after kill -9, also behind newer live samples, over more than 49 days, and in part where lines are bad", async () => {
    const folder = bench.dataFolder();
    const first = await start(folder);
    const nowMs = Date.now();
    const live = quiet(30, nowMs);
    for (const [ms, value] of live) {
      const record = { service_id: "shop", metric_name: "cpu", value, timestamp: new Date(ms).toISOString(), attributes: { zone: "a" } };
      await first.client.postJson("/api/v1/telemetry", record);
    }
    const recent = quiet(2_000, nowMs - 30 * STEP_MS);
    const old = [300, 200, 100, 50, 20].map((days) => [nowMs - days * DAY_MS, days] as const);
    const body = `${csvOf("shop", [...recent, ...old])}x,shop,cpu,1,a\n`;
    const answer = (await post(first, gzipSync(body), { "Content-Encoding": "gzip" })).json();
    expect(answer).toMatchObject({
      status: "partial",
      imported: 2_005,
      failed: 1,
      failures: [{ at: "line 2007", error: "invalid_timestamp" }],
    });
    const expected = [...old, ...recent, ...live];
    const query = `&limit=10000&since=${new Date(nowMs - 400 * DAY_MS).toISOString()}`;
    expect(await readPoints(first, "shop", query)).toEqual(expected);
    await first.server.kill();
    const second = await start(folder, { ENGINES: "3" });
    expect(await readPoints(second, "shop", query)).toEqual(expected);
    expect((await post(second, body)).json()).toMatchObject({ imported: 2_005 });
    expect(await readPoints(second, "shop", query)).toEqual(expected);
    expect((await readPoints(second, "shop", "&limit=40")).length).toBe(40);
    expect(await readPoints(second, "shop", "&limit=40")).toEqual(expected.slice(-40));
    expect((await second.client.get("/api/v1/anomalies")).json().total).toBe(0);
  });

  it("is for admins, of a known form and of bounded size", async () => {
    const started = await start();
    const bad: Array<[status: number, code: string, body: string, headers: Record<string, string>]> = [
      [401, "unauthorized", "", { Authorization: "Bearer x" }],
      [415, "unsupported_media_type", "", { "Content-Type": "text/plain" }],
      [422, "unprocessable", "", {}],
      [422, "unprocessable", "a,b\n1,2\n", {}],
      [400, "invalid_json", "{", { "Content-Type": "application/json" }],
      [400, "invalid_json", "[".repeat(1_000), { "Content-Type": "application/json" }],
      [422, "unprocessable", "{}", { "Content-Type": "application/json" }],
      [400, "batch_too_large", csvOf("a", quiet(10_001, Date.now())), {}],
      [413, "payload_too_large", " ".repeat(4 * 1024 * 1024 + 1), {}],
      [400, "batch_too_large", `{"resourceMetrics":[${"{},".repeat(300_000)}{}]}`, { "Content-Type": "application/json" }],
    ];
    for (const [status, code, body, headers] of bad) {
      const answer = await post(started, body, headers);
      expect([answer.status, answer.json().error]).toEqual([status, code]);
    }
    const local = await started.client.ask({ method: "POST", path: "/api/v1/import", headers: { "Content-Type": "text/csv" }, body: "" });
    expect([local.status, local.json().error]).toEqual([403, "forbidden"]);
    expect(statSync(join(started.folder, "admin-token")).mode & 0o777).toBe(0o600);
    expect((await started.client.get("/api/v1/series")).json().total).toBe(0);
  });
});

describe("vedette import", () => {
  it("sends a file with what it must leave out named, and goes on where it was killed", async () => {
    const started = await start();
    const file = join(started.folder, "..", `history-${process.pid}.csv`);
    const nowMs = Date.now();
    const services = Array.from({ length: 40 }, (_, i) => `s${i}`);
    const samples = quiet(1_500, nowMs);
    const lines = services.flatMap((service) => csvOf(service, samples).split("\n").slice(1, -1));
    writeFileSync(file, `timestamp,service_id,metric_name,value,zone\n${lines.join("\n")}\nx,a,b,1,\n`);
    try {
      const child = spawn(process.execPath, ["dist/main.js", "import", file, "--url", started.server.origin, "--token", started.token]);
      const killed = new Promise((resolve) => child.on("close", resolve));
      let output = "";
      child.stdout.on("data", (text: Buffer) => {
        output += text.toString();
        if (/\b20 %/.test(output)) child.kill("SIGKILL");
      });
      await killed;
      expect(existsSync(`${file}.import-progress`)).toBe(true);
      const again = await runImport(started, file);
      expect(again.output).toMatch(/line 60002: invalid_timestamp/);
      expect(again.output).toMatch(/\d+ of them are there already: going on from there/);
      expect(again.output).toMatch(/done: 60000 samples are in, 1 left out/);
      expect(again.code).toBe(1);
      expect(existsSync(`${file}.import-progress`)).toBe(false);
      for (const service of ["s0", "s17", "s39"]) expect(await readPoints(started, service)).toEqual(samples);
    } finally {
      for (const path of [file, `${file}.import-progress`]) rmSync(path, { force: true });
    }
  });

  it("tells its outcome as JSON, and what happens meanwhile on standard error", async () => {
    const started = await start();
    const file = join(tmpdir(), `vedette-import-${process.pid}.csv`);
    writeFileSync(file, `service_id,metric_name,timestamp,value\nj,cpu,${new Date(Date.now() - 60_000).toISOString()},1\nj,cpu,never,2\n`);
    try {
      const { code, output } = await runImport(started, file, "--json");
      const outcome = { file, url: started.server.origin, series: 1, imported: 1, left_out: 1 };
      expect(JSON.parse(output.slice(0, output.indexOf("\n}\n") + 2))).toMatchObject({ ...outcome, problems: [{ at: "line 3" }] });
      expect(code).toBe(1);
    } finally {
      rmSync(file, { force: true });
    }
  });

  it("says in one line what is wrong with how it was called", async () => {
    const started = await start();
    const calls: Array<[args: string[], message: RegExp, exit: number]> = [
      [["none.csv"], /none\.csv cannot be read/, 1],
      [["package.json", "--format", "xml"], /--format must be one of csv, json/, 2],
      [["package.json"], /must have data\.result/, 1],
      [["README.md", "--format", "json"], /not JSON/, 1],
      [["package.json", "--nope"], /has no option --nope/, 2],
    ];
    for (const [[file = "", ...args], message, exit] of calls) {
      const { code, output } = await runImport(started, file, ...args);
      expect([code, output.trim().split("\n").length]).toEqual([exit, 1]);
      expect(output).toMatch(message);
    }
  });
});
