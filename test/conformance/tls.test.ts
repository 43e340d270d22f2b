/** TLS of both adapters and of the whole server, with real clients: renewal while connections are open, certificates of senders, commands, cookies. */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { request as requestTls } from "node:https";
import { connect as connectPlain } from "node:net";
import { connect, type TLSSocket } from "node:tls";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createHttpServer } from "../../src/adapters/http/http-engine.ts";
import type { HttpEngineName, HttpHandler, HttpServer } from "../../src/adapters/http/http-server.ts";
import { readTlsIdentity, type TlsIdentity } from "../../src/adapters/http/tls/tls-identity.ts";
import { type CertificateFiles, Certificates } from "../support/certificates.ts";
import { ENGINES, TEXT } from "../support/http-exchanges.ts";
import { HttpTestBench } from "../support/http-test-server.ts";
import { ServerBench, type ServerProcess } from "../support/server-process.ts";

const certificates = new Certificates();
const first = certificates.signed("first");
const second = certificates.signed("second");
const ca = readFileSync(certificates.authority.certificate);
afterAll(() => certificates.close());

/** Common name of the certificate that a new connection to a port is shown. */
async function shownName(port: number): Promise<string | undefined> {
  const socket = connect({ port, host: "127.0.0.1", ca });
  await once(socket, "secureConnect");
  const name = socket.getPeerCertificate().subject.CN;
  socket.destroy();
  return Array.isArray(name) ? name[0] : name;
}

interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly client?: CertificateFiles;
}

interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** Asks over a connection of its own. */
function ask(port: number, path: string, { method = "GET", headers = {}, body, client }: Asked = {}): Promise<Answered> {
  const shown = client === undefined ? {} : { cert: readFileSync(client.certificate), key: readFileSync(client.key) };
  return new Promise((resolve, reject) => {
    const options = {
      port,
      host: "127.0.0.1",
      path,
      method,
      headers: { Accept: "*/*", ...headers },
      servername: "localhost",
      ca,
      agent: false as const,
      ...shown,
    };
    const outgoing = requestTls(options, async (incoming) => {
      let text = "";
      for await (const chunk of incoming) text += String(chunk);
      resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text });
    });
    outgoing.on("error", reject).end(body);
  });
}

function identityOf({ certificate, key }: CertificateFiles, authorities = ""): TlsIdentity {
  const files = { TLS_CERT_FILE: certificate, TLS_KEY_FILE: key, TLS_CLIENT_CA_FILE: authorities };
  return readTlsIdentity(files, Date.now()) as TlsIdentity;
}

describe.each(ENGINES)("TLS over $kind", ({ kind, skipped }) => {
  const test = it.skipIf(skipped);
  const bench = new HttpTestBench();
  const servers: HttpServer[] = [];
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.drain(0)));
  });

  async function serve(
    handler: HttpHandler,
    tls: TlsIdentity,
    engine: HttpEngineName = kind,
  ): Promise<{ server: HttpServer; port: number }> {
    const server = createHttpServer(engine, { ...bench.options(), tls }, handler, () => {});
    servers.push(server);
    return { server, port: (await server.listen("127.0.0.1", 0)).port };
  }
  const echoLength: HttpHandler = (exchange) =>
    exchange.collectBody(100_000, (body) => void exchange.respond(200, TEXT, String(body.length)));

  test("bodies come and answers go", async () => {
    const { port } = await serve(echoLength, identityOf(first));
    expect(await ask(port, "/", { method: "POST", body: "x".repeat(70_000) })).toMatchObject({ status: 200, text: "70000" });
  });

  test("older versions of TLS are refused", async () => {
    const { port } = await serve(echoLength, identityOf(first));
    const socket = connect({ port, host: "127.0.0.1", ca, minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "ALL:@SECLEVEL=0" });
    await expect(once(socket, "secureConnect")).rejects.toThrow();
  });

  test("ciphers of TLS 1.2 without a seal are refused", async () => {
    const { port } = await serve(echoLength, identityOf(first));
    const old = { port, host: "127.0.0.1", ca, maxVersion: "TLSv1.2" } as const;
    const cbc = ["ECDHE-ECDSA-AES128-SHA", "ECDHE-RSA-AES128-SHA", "ECDHE-ECDSA-AES256-SHA384", "ECDHE-RSA-AES256-SHA384", "AES128-SHA"];
    await expect(once(connect({ ...old, ciphers: cbc.join(":") }), "secureConnect")).rejects.toThrow();
    const socket = connect(old);
    await once(socket, "secureConnect");
    expect(socket.getCipher().name).toMatch(/GCM|CHACHA20/);
    socket.destroy();
  });

  test("a renewal shows the new certificate, again and again, while an open connection goes on", async () => {
    const { server, port } = await serve(echoLength, identityOf(first));
    const open = connect({ port, host: "127.0.0.1", ca });
    await once(open, "secureConnect");
    expect(await shownName(port)).toBe("first");
    for (const [files, name] of [
      [second, "second"],
      [first, "first"],
      [second, "second"],
    ] as const) {
      await server.renewTls(identityOf(files));
      expect(await shownName(port)).toBe(name);
    }
    open.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc");
    const [answer] = (await once(open, "data")) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 200 OK[\s\S]*\r\n\r\n3$/);
    expect(server.openConnections).toBeGreaterThanOrEqual(1);
    open.destroy();
  });

  test("the end of draining does not wait for a handshake that never comes", async () => {
    const { server, port } = await serve(echoLength, identityOf(first));
    const silent = connectPlain({ port, host: "127.0.0.1" });
    await once(silent, "connect");
    const closed = once(silent, "close");
    silent.on("error", () => {});
    expect(await shownName(port)).toBe("first"); // the silent one has been accepted by then
    await server.drain(60_000);
    await closed;
  });
});

describe("certificates of senders on node:http", () => {
  const bench = new HttpTestBench();
  let server: HttpServer;
  let port: number;
  const good = certificates.signed("sender");
  const foreign = certificates.selfSigned("foreign");
  beforeAll(async () => {
    const tls = identityOf(first, certificates.authority.certificate);
    const tell: HttpHandler = (exchange) => void exchange.respond(200, TEXT, String(exchange.request.hasClientCertificate));
    server = createHttpServer("auto", { ...bench.options(), tls }, tell, () => {});
    ({ port } = await server.listen("127.0.0.1", 0));
  });
  afterAll(() => server.drain(0));

  it("uWebSockets.js, which cannot tell, is not taken for it", () => {
    expect(server.engineName).toBe("node");
    const tls = identityOf(first, certificates.authority.certificate);
    expect(() =>
      createHttpServer(
        "uws",
        { ...bench.options(), tls },
        () => {},
        () => {},
      ),
    ).toThrow(/TLS_CLIENT_CA_FILE/);
  });

  it.each([
    ["of the authority", good, "true"],
    ["of another", foreign, "false"],
    ["none", undefined, "false"],
  ])("%s", async (_, client, shown) => {
    expect((await ask(port, "/", client === undefined ? {} : { client })).text).toBe(shown);
  });

  it("a session that is taken up again shows what it showed at first, and not more", async () => {
    for (const [client, shown] of [
      [good, "true"],
      [undefined, "false"],
    ] as const) {
      const own = client === undefined ? {} : { cert: readFileSync(client.certificate), key: readFileSync(client.key) };
      const options = { port, host: "127.0.0.1", ca, ...own };
      const get = async (socket: TLSSocket): Promise<string> => {
        socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        const [answer] = (await once(socket, "data")) as [Buffer];
        return answer.toString().split("\r\n\r\n")[1] as string;
      };
      const before = connect(options);
      const session = once(before, "session") as Promise<[Buffer]>;
      await once(before, "secureConnect");
      expect(await get(before)).toBe(shown);
      const again = connect({ ...options, session: (await session)[0] });
      await once(again, "secureConnect");
      expect(again.isSessionReused()).toBe(true);
      expect(await get(again)).toBe(shown);
      for (const socket of [before, again]) socket.destroy();
    }
  });
});

describe("a server with a certificate", () => {
  const bench = new ServerBench();
  const shown = certificates.files("shown");
  const dataDir = bench.dataFolder();
  let server: ServerProcess;
  let port: number;
  const run = promisify(execFile);
  const vedette = (args: readonly string[], env: Readonly<Record<string, string>>) =>
    run(process.execPath, ["dist/main.js", ...args], { env }).then(
      ({ stdout }) => ({ code: 0, text: stdout }),
      (error: { code: number; stderr: string }) => ({ code: error.code, text: error.stderr }),
    );

  beforeAll(async () => {
    certificates.replace(shown, first);
    server = await bench.start({
      DATA_DIR: dataDir,
      ENGINES: "1",
      TLS_CERT_FILE: shown.certificate,
      TLS_KEY_FILE: shown.key,
      TLS_CLIENT_CA_FILE: certificates.authority.certificate,
      METRICS_AUTH: "required",
    });
    port = Number(new URL(server.origin).port);
  });
  afterAll(() => bench.close());

  it("listens on https, and its sign-in link is one", () => {
    expect(server.origin).toBe(`https://127.0.0.1:${port}`);
    expect(server.signInLink.protocol).toBe("https:");
  });

  it("takes telemetry over connections with a certificate of the senders' authority only", async () => {
    const body = JSON.stringify({ service_id: "s", metric_name: "m", value: 1, timestamp: new Date().toISOString() });
    const post = { method: "POST", headers: { "Content-Type": "application/json" }, body };
    const refused = await ask(port, "/api/v1/telemetry", post);
    expect([refused.status, refused.text]).toEqual([401, expect.stringContaining("TLS_CLIENT_CA_FILE")]);
    expect((await ask(port, "/api/v1/telemetry", { ...post, client: second })).status).toBe(200);
    for (const path of ["/api/v1/alerts/webhook", "/api/v1/import"]) {
      expect((await ask(port, path, { ...post, body: "[]" })).text, path).toContain("TLS_CLIENT_CA_FILE");
      expect((await ask(port, path, { ...post, body: "[]", client: second })).text, path).not.toContain("TLS_CLIENT_CA_FILE");
    }
    expect((await ask(port, "/api/v1/services")).status).toBe(200); // reading is by credential, here by loopback
  });

  it("METRICS_AUTH=required: health is public, metrics are not", async () => {
    const foreign = { headers: { Host: "elsewhere.example" } };
    expect((await ask(port, "/healthz", foreign)).status).toBe(200);
    expect((await ask(port, "/metrics", foreign)).status).toBe(401);
    const page = await ask(port, "/metrics");
    expect([page.status, page.text]).toEqual([200, expect.stringMatching(/^vedette_tls_certificate_expiry_timestamp_seconds \d+/m)]);
  });

  it("its cookies are Secure, and without https's own port it says nothing of other ports", async () => {
    const token = readFileSync(`${dataDir}/admin-token`, "utf8").trim();
    const session = await ask(port, "/sign-in", { method: "POST", headers: { Authorization: `Bearer ${token}` } });
    expect([session.status, String(session.headers["set-cookie"])]).toEqual([204, expect.stringMatching(/; Secure$/)]);
    expect(session.headers["strict-transport-security"]).toBeUndefined();
  });

  it("commands believe it by its own certificate file, or by VEDETTE_CA_FILE, and nobody else", async () => {
    const own = { PORT: String(port), DATA_DIR: dataDir, TLS_CERT_FILE: shown.certificate, TLS_KEY_FILE: shown.key };
    expect(await vedette(["status"], own)).toMatchObject({ code: 0, text: expect.stringContaining("ok") });
    const other = await vedette(["status"], { ...own, TLS_CERT_FILE: second.certificate });
    expect(other).toMatchObject({ code: 69, text: expect.stringContaining("certificate") });
    const named = { VEDETTE_URL: `https://localhost:${port}`, VEDETTE_TOKEN: readFileSync(`${dataDir}/admin-token`, "utf8").trim() };
    expect((await vedette(["status"], named)).code).toBe(69);
    expect((await vedette(["status"], { ...named, VEDETTE_CA_FILE: certificates.authority.certificate })).code).toBe(0);
  });

  it("shows a certificate that was put in its place, and keeps the one before where the new one cannot be used", async () => {
    expect(await shownName(port)).toBe("first");
    writeFileSync(shown.key, "nonsense");
    server.signal("SIGHUP");
    await server.says(/TLS: the certificate before stays in force: TLS_KEY_FILE holds no private key/);
    expect(await shownName(port)).toBe("first");
    certificates.replace(shown, second);
    await server.says(/TLS: the certificate was renewed/);
    expect(await shownName(port)).toBe("second");
  });

  it("a start with a key of another certificate ends with 78 and one line", async () => {
    const broken = bench.launch({ TLS_CERT_FILE: first.certificate, TLS_KEY_FILE: second.key });
    expect(await broken.ended).toBe(78);
    expect(broken.errors.trim().split("\n")).toEqual([expect.stringContaining("TLS_KEY_FILE is not the key of TLS_CERT_FILE")]);
  });
});
