// Who is local, who may write, and what every answer carries: the real server on both HTTP adapters, asked as browsers, proxies and their attackers would.
import { execFileSync } from "node:child_process";
import { existsSync, lstatSync, writeFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { join } from "node:path";
import { SignJWT } from "jose";
import { compressSync } from "snappy";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { freePort } from "../support/alertmanager-peer.ts";
import { ENGINES } from "../support/http-exchanges.ts";
import { RawHttpClient } from "../support/http-raw-client.ts";
import { encodeBody } from "../support/remote-write-body.ts";
import { REMOTE_WRITE_HEADERS, ServerClient } from "../support/server-client.ts";
import { ServerBench, type ServerProcess, type ServerSettings } from "../support/server-process.ts";

const SECRET = "a secret of the tests, 32 bytes or more";
const WRITE = "/api/v1/rwmetrics/write";
const WHO = "/api/v1/rbac/permissions";
const EVERYTHING = JSON.stringify({
  matchers: [{ name: "service_id", operator: "=~", value: ".+" }],
  starts_at: "2026-01-01T00:00:00Z",
  ends_at: "2099-01-01T00:00:00Z",
  comment: "smuggled",
});
const bench = new ServerBench();
const closers: Array<() => void> = [];
afterEach(async () => {
  for (const close of closers.splice(0)) close();
  await bench.close();
});

async function start(settings: ServerSettings) {
  const server = await bench.start({ ENGINES: "1", JWT_SECRET: SECRET, ...settings });
  const client = new ServerClient(server.origin);
  closers.push(() => client.close());
  return { server, client };
}

/** Asks over a Unix socket; the status and the body. */
function askOver(
  socketPath: string,
  path: string,
  headers: Record<string, string> = {},
): Promise<[status: number | undefined, body: string]> {
  return new Promise((resolve, reject) => {
    httpRequest({ socketPath, path, headers }, (response) => {
      let body = "";
      response.on("data", (chunk: Buffer) => (body += chunk.toString()));
      response.on("end", () => resolve([response.statusCode, body]));
    })
      .on("error", reject)
      .end();
  });
}

const remoteWrite = (name: string) => {
  const labels = [
    ["__name__", name],
    ["job", "j"],
  ] as const;
  return compressSync(Buffer.from(encodeBody([{ labels, samples: [{ value: 1, time: Date.now() }] }])));
};
const record = () => ({ service_id: "s", metric_name: "m", value: 1, timestamp: new Date().toISOString() });

/** The port for alerts asks no credential, refuses wrong ones and pages of other sites, and takes right ones for whose they are. */
async function declareAlerts(client: ServerClient, port: number): Promise<void> {
  const alerts = new ServerClient(`http://127.0.0.1:${port}`);
  closers.push(() => alerts.close());
  const body = JSON.stringify({ alerts: [{ status: "firing", labels: { alertname: "Down", service: "shop" } }] });
  const post = async (headers: Record<string, string>) => {
    const answer = await alerts.ask({
      method: "POST",
      path: "/api/v1/alerts/webhook",
      headers: { "Content-Type": "application/json", ...headers },
      body,
    });
    return [answer.status, answer.headers["www-authenticate"] !== undefined];
  };
  const token = (role: string) =>
    new SignJWT({ sub: "ann", tenant_id: "default", role, exp: Math.floor(Date.now() / 1000) + 60 })
      .setProtectedHeader({ alg: "HS256" })
      .sign(Buffer.from(SECRET));
  for (const headers of [
    { Origin: "http://evil.example" },
    { Origin: `http://127.0.0.1:${client.port}` },
    { Host: `evil.example:${port}`, Origin: `http://evil.example:${port}` },
    { "X-API-Key": "vdt_wrong" },
    { Authorization: "Bearer wrong" },
    { Authorization: "Bearer a.b.c" },
  ]) {
    expect([headers, ...(await post(headers))]).toEqual([headers, 401, true]);
  }
  expect(await post({ Authorization: `Bearer ${await token("viewer")}` })).toEqual([403, false]);
  expect(await post({ "X-Tenant-ID": "acme" })).toEqual([403, false]);
  expect((await client.get("/api/v1/anomalies")).json().anomalies).toEqual([]);
  expect(await post({ Authorization: `Bearer ${await token("operator")}`, Origin: "http://evil.example" })).toEqual([200, false]);
  expect(await post({})).toEqual([200, false]);
  expect((await client.get("/api/v1/anomalies")).json().anomalies).toHaveLength(1);
}

describe.each(ENGINES)("trust over $kind", ({ kind, skipped }) => {
  const test = it.skipIf(skipped);
  const settings = { HTTP_ENGINE: kind };
  const sharedBench = new ServerBench();
  let started: Promise<ServerProcess> | undefined;
  afterAll(() => sharedBench.close());
  /** The server of the tests that only ask; started for the first. */
  async function shared() {
    started ??= sharedBench.start({ ENGINES: "1", JWT_SECRET: SECRET, ...settings });
    const client = new ServerClient((await started).origin);
    closers.push(() => client.close());
    return { client };
  }

  const SMUGGLED: ReadonlyArray<[lines: readonly string[], body: string]> = [
    [["Transfer-Encoding: xchunked"], "0\r\n\r\n"],
    [["Transfer-Encoding: chunked, identity"], "0\r\n\r\n"],
    [["Content-Length: 0", "Content-Length: 300"], ""],
  ];

  test("a silence of everything behind a request whose length is in doubt is not made", async () => {
    const { client } = await start(settings);
    const host = `Host: 127.0.0.1:${client.port}`;
    const silence = ["POST /api/v1/silences HTTP/1.1", host, "Content-Type: application/json", `Content-Length: ${EVERYTHING.length}`];
    const smuggled = `${silence.join("\r\n")}\r\n\r\n${EVERYTHING}`;
    for (const [lines, body] of SMUGGLED) {
      const head = ["POST /healthz HTTP/1.1", "Host: shop.example", "X-Forwarded-For: 6.6.6.6", ...lines].join("\r\n");
      for (const apart of [false, true]) {
        const raw = await RawHttpClient.open(client.port);
        const rest = raw.rest();
        await raw.send(`${head}\r\n\r\n${body}${apart ? "" : smuggled}`);
        if (apart) await new Promise((resolve) => setTimeout(resolve, 50));
        if (apart) await raw.send(smuggled).catch(() => {});
        expect((await rest).toString(), lines.join()).not.toMatch(/HTTP\/1\.1 2/);
      }
      expect((await client.get("/api/v1/silences")).json().silences, lines.join()).toEqual([]);
    }
    // The same bytes by themselves do make one, so it was not they that were at fault.
    const own = await client.postJson("/api/v1/silences", EVERYTHING);
    expect(own.status).toBe(201);
  });

  test("a request that looks forwarded is nobody's, and the first is told with advice, once", async () => {
    const { client, server } = await start(settings);
    expect((await client.get(WHO)).json()).toMatchObject({ user_id: "local", role: "operator" });
    expect(server.output).not.toContain("READ_AUTH=required");
    for (const name of [
      "Via",
      "Forwarded",
      "X-Forwarded-Proto",
      "X-Client-IP",
      "CF-Connecting-IP",
      "True-Client-IP",
      "X-Real-IP",
      "CDN-Loop",
    ]) {
      expect([name, (await client.get(WHO, { [name]: "1" })).status]).toEqual([name, 401]);
    }
    for (const host of ["127.0.0.1", "localhost", `localhost:${client.port + 1}`, `shop.example:${client.port}`]) {
      expect([host, (await client.get(WHO, { Host: host })).status]).toEqual([host, 401]);
    }
    const raw = await RawHttpClient.open(client.port);
    await raw.send(`GET ${WHO} HTTP/1.0\r\nHost: 127.0.0.1:${client.port}\r\n\r\n`);
    expect((await raw.response()).status).toBe(kind === "node" ? 401 : 505);
    expect((await client.get(WHO)).status).toBe(200);
    expect(server.output.match(/ warn +access: .*READ_AUTH=required/g)).toHaveLength(1);
    expect(server.output).toMatch(/it has the header via/);
  });

  test("no page of another site writes telemetry or declares alerts, nor one under a name that was bound anew to this machine", async () => {
    const alertsPort = await freePort();
    const { client } = await start({ ...settings, ALERTS_PORT: String(alertsPort) });
    const evil = { Origin: "http://evil.example" };
    const rebound = { Host: `evil.example:${client.port}` };
    const post = (path: string, headers: Record<string, string>, body: string | Uint8Array) =>
      client.ask({ method: "POST", path, headers, body }).then(({ status }) => status);
    const json = JSON.stringify(record());
    for (const headers of [
      evil,
      rebound,
      { ...rebound, Origin: `http://evil.example:${client.port}` },
      { ...rebound, "X-Forwarded-For": "1.2.3.4" },
    ]) {
      expect(await post(WRITE, { ...REMOTE_WRITE_HEADERS, ...headers }, remoteWrite("pwned"))).toBe(401);
      expect(await post("/api/v1/telemetry", { "Content-Type": "application/json", ...headers }, json)).toBe(401);
      expect(await post("/v1/logs", { "Content-Type": "application/json", ...headers }, '{"resourceLogs":[]}')).toBe(401);
    }
    expect((await client.get("/api/v1/series")).json().series).toEqual([]);
    const { port } = client;
    for (const headers of [
      {},
      { Origin: `http://127.0.0.1:${port}` },
      { Host: "localhost" },
      { "X-Forwarded-For": "1.2.3.4", Via: "1.1 x" },
    ]) {
      expect(await post("/api/v1/telemetry", { "Content-Type": "application/json", ...headers }, json)).toBe(200);
    }
    await declareAlerts(client, alertsPort);
  });

  test("every write wants its Content-Type: a body without one is what pages of any site can send", async () => {
    const { client } = await shared();
    const body = remoteWrite("m");
    for (const path of [
      WRITE,
      "/api/v1/telemetry",
      "/api/v1/telemetry/batch",
      "/v1/metrics",
      "/v1/logs",
      "/v1/traces",
      "/api/v1/silences",
    ]) {
      const bare = await client.ask({ method: "POST", path, body });
      expect([path, bare.status]).toEqual([path, 415]);
      for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]) {
        expect((await client.ask({ method: "POST", path, headers: { "Content-Type": type }, body })).status).toBe(415);
      }
    }
    const bare = await client.ask({ method: "POST", path: WRITE, body });
    expect(bare.json()).toMatchObject({
      error: "unsupported_media_type",
      message: expect.stringMatching(/application\/x-protobuf.*got none/),
    });
    // As a Prometheus of Debian 12 sends.
    const prometheus = { "User-Agent": "Prometheus/2.42.0+ds", ...REMOTE_WRITE_HEADERS };
    expect((await client.ask({ method: "POST", path: WRITE, headers: prometheus, body })).status).toBe(204);
  });

  test("the Unix socket is its owner's, local whatever the settings say, and goes with the server", async () => {
    const folder = bench.dataFolder();
    const path = join(folder, "vedette.sock");
    const locked = { ...settings, DATA_DIR: folder, SOCKET: path, READ_AUTH: "required", INGEST_AUTH: "required" };
    const first = await start(locked);
    expect(lstatSync(path).mode & 0o777).toBe(0o600);
    const [status, body] = await askOver(path, WHO);
    expect([status, JSON.parse(body)]).toEqual([200, expect.objectContaining({ user_id: "local", role: "operator" })]);
    expect((await askOver(path, WHO, { "X-Forwarded-Proto": "https" }))[0]).toBe(401);
    expect((await askOver(path, WHO, { Authorization: "Bearer wrong" }))[0]).toBe(401);
    expect((await first.client.get(WHO)).status).toBe(401);
    // A second server must not take it away.
    const second = bench.launch({ ...settings, SOCKET: path });
    expect([await second.ended, second.output]).toEqual([78, expect.stringMatching(/SOCKET: .*another process listens there/)]);
    expect((await askOver(path, "/healthz"))[0]).toBe(200);
    // One that was left by a kill is replaced.
    await first.server.kill();
    expect(existsSync(path)).toBe(true);
    const again = await start(locked);
    expect((await askOver(path, WHO))[0]).toBe(200);
    const history = join(folder, "history.csv");
    writeFileSync(history, `timestamp,service_id,metric_name,value\n${new Date(Date.now() - 3_600_000).toISOString()},shop,cpu,1\n`);
    const imported = ["dist/main.js", "import", history, "--url", `unix:${path}`, "--token-file", join(folder, "admin-token")];
    expect(execFileSync(process.execPath, imported, { encoding: "utf8" })).toContain("1 samples are in");
    await again.server.stop();
    expect(existsSync(path)).toBe(false);
  });

  test("SOCKET never replaces what is no socket", async () => {
    const path = join(bench.dataFolder(), "precious");
    writeFileSync(path, "data");
    const server = bench.launch({ ...settings, SOCKET: path });
    expect([await server.ended, server.output]).toEqual([78, expect.stringMatching(/SOCKET: .*something else is there/)]);
    expect(lstatSync(path).isFile()).toBe(true);
  });

  test("every answer says nosniff and no-store, and none says what serves it", async () => {
    const { client } = await shared();
    const answers = await Promise.all([
      client.get("/healthz"),
      client.get("/metrics"),
      client.get("/api/v1/anomalies"),
      client.get("/nowhere"),
      client.get(WHO, { Via: "x" }),
      client.get("/sign-in?token=x"),
      client.ask({ method: "HEAD", path: "/api/v1/stream" }),
      client.ask({ method: "PUT", path: "/healthz" }),
      client.postJson("/api/v1/telemetry", record()),
      client.postJson("/api/v1/telemetry", "{"),
      client.postJson("/v1/metrics", "{"),
      client.postRemoteWrite(remoteWrite("m")),
      client.ask({ method: "POST", path: "/api/v1/telemetry", headers: { "Transfer-Encoding": "gzip, chunked" } }),
    ]);
    for (const { status, headers } of answers) {
      expect([status, headers["x-content-type-options"], headers["cache-control"]]).toEqual([status, "nosniff", "no-store"]);
      expect(Object.keys(headers)).not.toEqual(expect.arrayContaining(["uwebsockets"]));
      expect(headers.server).toBeUndefined();
    }
    expect(new Set(answers.map(({ status }) => status)).size).toBeGreaterThan(5);
    for (const path of ["/docs", "/openapi.json"]) {
      const { headers } = await client.get(path);
      expect([headers["x-content-type-options"], headers["cache-control"]]).toEqual(["nosniff", "no-cache"]);
    }
  });

  test("an event stream ends when its token does, and not when the token would be refused", async () => {
    const { client } = await shared();
    const exp = Math.floor(Date.now() / 1000) + 3;
    const claims = { sub: "ann", tenant_id: "default", role: "viewer", exp };
    const token = await new SignJWT(claims).setProtectedHeader({ alg: "HS256" }).sign(Buffer.from(SECRET));
    const headers = { Authorization: `Bearer ${token}` };
    const stream = await client.open({ path: "/api/v1/stream", headers });
    expect(stream.statusCode).toBe(200);
    for await (const _ of stream);
    expect(Date.now()).toBeGreaterThanOrEqual(exp * 1000);
    // JWT_CLOCK_SKEW_SECONDS: for a while the token still opens what is new, so it was its own end that ended the stream.
    expect((await client.get(WHO, headers)).status).toBe(200);
  });
});

it("says at the start, once, that everybody on the network may write telemetry, and nothing of it where that is not so", async () => {
  const lines = async (settings: ServerSettings) =>
    (await start(settings)).server.output.split("\n").filter((line) => line.includes("may write telemetry"));
  expect(await lines({ HOST: "0.0.0.0" })).toEqual([
    expect.stringMatching(/warn.*everybody who reaches 0\.0\.0\.0 .*INGEST_AUTH=required/),
  ]);
  expect(await lines({})).toEqual([]);
});
