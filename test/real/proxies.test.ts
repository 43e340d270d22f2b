/**
 * A real nginx and a real HAProxy, each with the plainest configuration there is, before the real server: nobody who comes through them is taken for the
 * machine's own operator, telemetry passes, and one bad request does not spoil the connection that they share between clients.
 */
import { compressSync } from "snappy";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { ENGINES } from "../support/http-exchanges.ts";
import { RawHttpClient } from "../support/http-raw-client.ts";
import { missingProxy, ProxyPeers } from "../support/proxy-peers.ts";
import { encodeBody } from "../support/remote-write-body.ts";
import { ServerClient } from "../support/server-client.ts";
import { ServerBench, type ServerProcess } from "../support/server-process.ts";

const missing = missingProxy();
if (missing !== undefined)
  process.stderr.write(`proxies.test.ts is skipped: ${missing} is not installed (apt-get install nginx-light haproxy)\n`);

const WHO = "/api/v1/rbac/permissions";
const SILENCES = "/api/v1/silences";
const EVERYTHING = {
  matchers: [{ name: "service_id", operator: "=~", value: ".+" }],
  starts_at: "2026-01-01T00:00:00Z",
  ends_at: "2099-01-01T00:00:00Z",
};

describe.skipIf(missing !== undefined).each(ENGINES)("behind real proxies over $kind", ({ kind, skipped }) => {
  const test = it.skipIf(skipped);
  const bench = new ServerBench();
  const peers = new ProxyPeers();
  const clients: ServerClient[] = [];
  let server: ServerProcess;
  let own: ServerClient;
  const address = () => server.origin.slice("http://".length);

  beforeAll(async () => {
    server = await bench.start({ ENGINES: "1", HTTP_ENGINE: kind });
    own = new ServerClient(server.origin);
    clients.push(own);
  });
  afterEach(() => {
    for (const client of clients.splice(1)) client.close();
  });
  afterAll(async () => {
    own?.close();
    await peers.close();
    await bench.close();
  });

  /** A client of the proxy at a port. */
  const through = (port: number): ServerClient => {
    const client = new ServerClient(`http://127.0.0.1:${port}`);
    clients.push(client);
    return client;
  };

  /** What a client on the network must not be able to do, and what it must. */
  async function judge(client: ServerClient, isServed: boolean): Promise<void> {
    const who = await client.get(WHO);
    expect([who.status, who.text.includes("local")]).toEqual([isServed ? 401 : expect.toSatisfy((status: number) => status >= 400), false]);
    const silence = await client.postJson(SILENCES, EVERYTHING);
    expect(silence.status).toBeGreaterThanOrEqual(400);
    expect((await own.get(SILENCES)).json().silences).toEqual([]);
    if (!isServed) return;
    expect((await client.get("/healthz")).status).toBe(200);
    const record = { service_id: "s", metric_name: "m", value: 1, timestamp: new Date().toISOString() };
    expect((await client.postJson("/api/v1/telemetry", record)).status).toBe(200);
    const body = encodeBody([
      {
        labels: [
          ["__name__", "m"],
          ["job", "j"],
        ],
        samples: [{ value: 1, time: Date.now() }],
      },
    ]);
    expect((await client.postRemoteWrite(compressSync(Buffer.from(body)))).status).toBe(204);
  }

  // uws refuses HTTP/1.0 by itself.
  test("nginx, `proxy_pass` alone, which speaks HTTP/1.0", async () => judge(through(await peers.nginx(server.origin)), kind === "node"));

  test("nginx, `proxy_pass` and HTTP/1.1", async () => judge(through(await peers.nginx(server.origin, ["proxy_http_version 1.1;"])), true));

  test("nginx as its own guide has it, with kept connections and X-Forwarded-For", async () => {
    const lines = [
      "proxy_http_version 1.1;",
      'proxy_set_header Connection "";',
      "proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;",
    ];
    await judge(through(await peers.nginx(server.origin, lines)), true);
  });

  test("HAProxy, a frontend and a server alone", async () => judge(through(await peers.haproxy(address())), true));

  test("the first was told in the log, with advice, once", () => {
    expect(server.output.match(/ warn +access: .*READ_AUTH=required/g)).toHaveLength(1);
  });

  test("HAProxy passes on a Host that looks local: READ_AUTH=required holds, as docs/proxy.md says", async () => {
    const locked = await bench.start({ ENGINES: "1", HTTP_ENGINE: kind, READ_AUTH: "required" });
    const lockedAddress = locked.origin.slice("http://".length);
    const proxied = through(await peers.haproxy(lockedAddress));
    expect((await proxied.get(WHO, { Host: lockedAddress })).status).toBe(401);
    expect((await proxied.postJson(SILENCES, EVERYTHING, { Host: lockedAddress })).status).toBe(401);
  });

  test.each<[string, readonly string[], string]>([
    ["Transfer-Encoding: xchunked", ["Transfer-Encoding: xchunked"], "0\r\n\r\n"],
    ["chunked, identity", ["Transfer-Encoding: chunked, identity"], "0\r\n\r\n"],
    ["two lengths", ["Content-Length: 0", "Content-Length: 200"], ""],
  ])("nothing is smuggled through them behind %s", async (_, lines, body) => {
    const host = address();
    const content = JSON.stringify(EVERYTHING);
    const inner = `POST ${SILENCES} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: ${content.length}\r\n\r\n${content}`;
    const ports = [
      await peers.haproxy(host),
      await peers.nginx(server.origin, ["proxy_http_version 1.1;", 'proxy_set_header Connection "";']),
    ];
    for (const port of ports) {
      const raw = await RawHttpClient.open(port);
      const rest = raw.rest();
      await raw.send(
        `${["POST /healthz HTTP/1.1", "Host: shop.example", "X-Forwarded-For: 6.6.6.6", ...lines].join("\r\n")}\r\n\r\n${body}${inner}`,
      );
      await Promise.race([rest, new Promise((resolve) => setTimeout(resolve, 300))]);
      raw.socket.destroy();
      expect((await rest).toString()).not.toMatch(/HTTP\/1\.1 201/);
    }
    expect((await own.get(SILENCES)).json().silences).toEqual([]);
  });
});
