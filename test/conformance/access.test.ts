// Credentials against the real server: every endpoint with every role and scope, tokens of a secret and of a provider, revocation, sign-in, the command line.
import { execFileSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { exportJWK, SignJWT } from "jose";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { ENDPOINTS } from "../../src/api/endpoints.ts";
import { KEY_SCOPES, ROLES } from "../../src/core/protocol/access.ts";
import { type Access, refuseAccess } from "../../src/domain/access/access-policy.ts";
import { rightsOf } from "../../src/domain/access/key-scopes.ts";
import { ENGINES } from "../support/http-exchanges.ts";
import { type Question, ServerClient } from "../support/server-client.ts";
import { ServerBench, type ServerProcess, type ServerSettings } from "../support/server-process.ts";

const SECRET = "a secret of the tests, 32 bytes or more";
const JSON_TYPE = { "Content-Type": "application/json" };
const bench = new ServerBench();
const closers: Array<() => void> = [];
afterEach(async () => {
  for (const close of closers.splice(0)) close();
  await bench.close();
});

async function start(settings: ServerSettings = {}) {
  const folder = settings.DATA_DIR ?? bench.dataFolder();
  const server = await bench.start({ ENGINES: "1", JWT_SECRET: SECRET, ...settings, DATA_DIR: folder });
  const client = new ServerClient(server.origin);
  closers.push(() => client.close());
  return { server, client, folder };
}

function token(claims: Record<string, unknown> = {}, secret = SECRET): Promise<string> {
  const content = { sub: "ann", tenant_id: "default", role: "admin", exp: Math.floor(Date.now() / 1000) + 600, ...claims };
  return new SignJWT(content).setProtectedHeader({ alg: "HS256" }).sign(Buffer.from(secret));
}
const bearer = (text: string) => ({ Authorization: `Bearer ${text}` });
const who = (client: ServerClient, headers: Record<string, string>) => client.ask({ path: "/api/v1/rbac/permissions", headers });
const record = () => JSON.stringify({ service_id: "s", metric_name: "m", value: 1, timestamp: new Date().toISOString() });

async function makeKey(client: ServerClient, content: object = {}, headers: Record<string, string> = {}) {
  const body = JSON.stringify({ name: "k", scope: "readwrite", ...content });
  const answer = await client.ask({
    method: "POST",
    path: "/api/v1/apikeys",
    headers: { ...bearer(await token()), ...JSON_TYPE, ...headers },
    body,
  });
  expect(answer.status).toBe(201);
  return answer.json() as { key_id: string; api_key: string };
}

describe.each(ENGINES)("credentials over $kind", ({ kind, skipped }) => {
  const test = it.skipIf(skipped);
  const settings = { HTTP_ENGINE: kind };
  const sharedBench = new ServerBench();
  let started: Promise<ServerProcess> | undefined;
  afterAll(() => sharedBench.close());
  /** The server of these tests, where each has credentials of its own; started for the first. */
  async function shared() {
    started ??= sharedBench.start({ ENGINES: "1", JWT_SECRET: SECRET, ...settings });
    const server = await started;
    const client = new ServerClient(server.origin);
    closers.push(() => client.close());
    return { server, client };
  }

  test("every endpoint is open to the roles and scopes that it declares, and to no others", async () => {
    const { client } = await start({ ...settings, INGEST_AUTH: "required", READ_AUTH: "required" });
    const callers: Array<{ name: string; headers: Record<string, string>; allowed: (access: Access) => boolean }> = [
      { name: "nobody", headers: {}, allowed: () => false },
    ];
    for (const role of ROLES) {
      const headers = bearer(await token({ role, sub: `sub-${role}` }));
      callers.push({ name: role, headers, allowed: (access) => refuseAccess(access, { tenant: "default", subject: "x", role }) === null });
    }
    for (const scope of KEY_SCOPES) {
      const { api_key } = await makeKey(client, { scope });
      const principal = { tenant: "default", subject: "x", role: rightsOf(scope).role, scope };
      callers.push({
        name: `${scope} key`,
        headers: { "X-API-Key": api_key },
        allowed: (access) => refuseAccess(access, principal) === null,
      });
    }
    let asked = 0;
    for (const { name, method, path, access } of ENDPOINTS) {
      if (access === "public") continue;
      for (const caller of callers) {
        // An event stream has no end; HEAD asks for its head.
        const question: Question = {
          method: name === "stream" ? "HEAD" : method,
          path: path.replaceAll(/\{\w+\}/g, "none"),
          headers: caller.headers,
        };
        const { status, headers } = await client.ask(question);
        const expected = caller.name === "nobody" ? 401 : caller.allowed(access) ? "admitted" : 403;
        expect(`${name} for ${caller.name}: ${status === 401 || status === 403 ? status : "admitted"}`).toBe(
          `${name} for ${caller.name}: ${expected}`,
        );
        if (status === 401) expect(headers["www-authenticate"]).toContain("Bearer");
        asked++;
      }
    }
    expect(asked).toBeGreaterThan(250);
  });

  test("a wrong credential is 401 everywhere, never the default tenant", async () => {
    const { client } = await shared();
    const good = await token();
    const wrong: ReadonlyArray<Record<string, string>> = [
      bearer("hello"),
      bearer(await token({ exp: 1 })),
      bearer(await token({}, "another secret that is 32 bytes long")),
      bearer(await token({ tenant_id: "nobody" })),
      bearer(`${good.slice(0, -3)}AAA`),
      { Authorization: "Basic YTpi" },
      { "X-API-Key": `vdt_00000000_${"A".repeat(43)}` },
      { "X-API-Key": "" },
      { ...bearer(good), "X-API-Key": good },
    ];
    for (const headers of wrong) {
      expect((await client.ask({ path: "/api/v1/anomalies", headers })).status).toBe(401);
      const write = await client.ask({ method: "POST", path: "/api/v1/telemetry", headers: { ...JSON_TYPE, ...headers }, body: record() });
      expect(write.status).toBe(401);
      expect(write.json()).toMatchObject({ status: "error", error: "unauthorized", request_id: expect.any(String) });
      expect((await client.ask({ path: "/healthz", headers })).status).toBe(200);
    }
    expect((await client.ask({ path: "/api/v1/anomalies" })).status).toBe(200);
  });

  test("a body that comes with a token that is new here is taken whole, once its token is known", async () => {
    const { client } = await shared();
    const records = Array.from({ length: 10_000 }, (_, i) => ({
      service_id: `s${i % 50}`,
      metric_name: `m${i}`,
      value: i,
      timestamp: new Date().toISOString(),
      attributes: { filler: "x".repeat(100) },
    }));
    const body = JSON.stringify(records);
    expect(body.length).toBeGreaterThan(1_000_000);
    const answers = await Promise.all(
      Array.from({ length: 4 }, async (_, i) =>
        client.ask({
          method: "POST",
          path: "/api/v1/telemetry/batch",
          headers: { ...JSON_TYPE, ...bearer(await token({ sub: `sender-${i}` })) },
          body,
        }),
      ),
    );
    for (const answer of answers) expect(answer.json()).toMatchObject({ status: "ok", queued: 10_000, failed: 0 });
    const refused = await client.ask({
      method: "POST",
      path: "/api/v1/telemetry/batch",
      headers: { ...JSON_TYPE, ...bearer(await token({ exp: 1 })) },
      body,
    });
    expect(refused.status).toBe(401);
  });

  test("a key that is revoked or rotated ends with the answer that says so, on connections that are open too", async () => {
    const { client, server } = await shared();
    const other = new ServerClient(server.origin);
    closers.push(() => other.close());
    const admin = bearer(await token());
    const { key_id, api_key } = await makeKey(client);
    expect((await who(other, { "X-API-Key": api_key })).json()).toMatchObject({ user_id: `key:${key_id}`, role: "operator" });
    const rotated = await client.ask({ method: "POST", path: `/api/v1/keys/${key_id}/rotate`, headers: admin });
    expect(rotated.status).toBe(201);
    const { key_id: newId, api_key: newKey } = rotated.json() as { key_id: string; api_key: string };
    expect((await who(other, { "X-API-Key": api_key })).status).toBe(401);
    expect((await who(other, { "X-API-Key": newKey })).status).toBe(200);
    expect((await client.ask({ method: "DELETE", path: `/api/v1/apikeys/${newId}`, headers: admin })).status).toBe(204);
    expect((await who(other, { "X-API-Key": newKey })).status).toBe(401);
  });

  test("admins manage what is their tenant's; a super admin names another tenant", async () => {
    const { client } = await shared();
    const superAdmin = bearer(await token({ role: "super_admin", sub: "sue" }));
    const tenant = { tenant_id: "acme", name: "Acme", plan: "pro", contact_email: "ops@acme.example" };
    expect((await client.postJson("/api/v1/tenants", tenant, superAdmin)).status).toBe(201);
    const theirs = bearer(await token({ tenant_id: "acme" }));
    const ours = bearer(await token());
    const { key_id, api_key } = await makeKey(client, {}, theirs);
    expect((await who(client, { "X-API-Key": api_key })).json()).toMatchObject({ tenant_id: "acme" });
    const own = (await client.get("/api/v1/apikeys", ours)).json() as { keys: ReadonlyArray<{ key_id: string }> };
    expect(own.keys.map((key) => key.key_id)).not.toContain(key_id);
    expect((await client.get("/api/v1/apikeys", { ...superAdmin, "X-Tenant-ID": "acme" })).json().keys).toMatchObject([{ key_id }]);
    for (const [method, path] of [
      ["DELETE", `/api/v1/apikeys/${key_id}`],
      ["POST", `/api/v1/keys/${key_id}/rotate`],
    ] as const) {
      expect((await client.ask({ method, path, headers: ours })).status).toBe(404);
      expect((await client.ask({ method, path, headers: { ...ours, "X-Tenant-ID": "acme" } })).status).toBe(403);
    }
    expect((await who(client, { "X-API-Key": api_key, "X-Tenant-ID": "default" })).status).toBe(403);
    const adminKey = await makeKey(client, { scope: "admin" }, theirs);
    expect((await who(client, { "X-API-Key": adminKey.api_key, "X-Tenant-ID": "default" })).status).toBe(403);
    const user = { user_id: "sub", role: "super_admin" };
    expect((await client.postJson("/api/v1/users", user, { "X-API-Key": adminKey.api_key })).status).toBe(403);
    expect((await client.postJson("/api/v1/users", { ...user, tenant_id: "default" }, theirs)).status).toBe(400);
  });

  test("an event stream ends with the credential that it was opened with; others stay", async () => {
    const { client } = await shared();
    const admin = bearer(await token());
    const { key_id, api_key } = await makeKey(client);
    const open = (headers: Record<string, string>) => client.open({ path: "/api/v1/stream", headers });
    const [byKey, byToken, local] = [await open({ "X-API-Key": api_key }), await open(bearer(await token({ sub: "bob" }))), await open({})];
    const ended: string[] = [];
    for (const [name, stream] of Object.entries({ byKey, byToken, local })) {
      expect(stream.statusCode).toBe(200);
      stream.resume().once("end", () => ended.push(name));
    }
    expect((await client.ask({ method: "DELETE", path: `/api/v1/apikeys/${key_id}`, headers: admin })).status).toBe(204);
    await expect.poll(() => ended).toEqual(["byKey"]);
    const body = JSON.stringify({ user_id: "bob", role: "viewer", disabled: true });
    expect((await client.ask({ method: "POST", path: "/api/v1/users", headers: { ...admin, ...JSON_TYPE }, body })).status).toBe(201);
    await expect.poll(() => ended).toEqual(["byKey", "byToken"]);
    expect((await client.ask({ path: "/api/v1/stream", headers: bearer(await token({ sub: "bob" })) })).status).toBe(401);
    local.destroy();
  });

  test("X-Tenant-ID, both headers, and credentials in the URL", async () => {
    const { client } = await shared();
    const named = { "X-Tenant-ID": "nobody" };
    expect((await who(client, { ...bearer(await token()), ...named })).status).toBe(403);
    expect((await who(client, named)).status).toBe(403);
    expect((await who(client, { ...bearer(await token({ role: "super_admin" })), ...named })).status).toBe(404);
    expect((await who(client, { ...bearer(await token({ role: "super_admin" })), "X-Tenant-ID": "default" })).status).toBe(200);
    const inUrl = await client.ask({ path: `/api/v1/anomalies?access_token=${await token()}` });
    expect(inUrl.status).toBe(400);
    expect(inUrl.json().message).toMatch(/X-API-Key/);
    expect(inUrl.text).not.toContain(await token());
    const posted = await client.ask({ method: "POST", path: "/api/v1/telemetry?api_key=x", headers: JSON_TYPE, body: record() });
    expect(posted.status).toBe(400);
  });
});

describe("the first start", () => {
  async function startOwn(folder = bench.dataFolder()) {
    const server = await bench.start({ ENGINES: "1", DATA_DIR: folder });
    const client = new ServerClient(server.origin);
    closers.push(() => client.close());
    return { server, client, folder };
  }

  it("makes a secret and a link that only their owner reads; the link works once, and is not in the log", async () => {
    const { server, client, folder } = await startOwn();
    expect(statSync(join(folder, "jwt-secret")).mode & 0o777).toBe(0o600);
    const { pathname, search } = server.signInLink;
    expect(statSync(join(folder, "sign-in-link")).mode & 0o777).toBe(0o600);
    expect(server.output).toContain(join(folder, "sign-in-link"));
    expect(server.output).not.toMatch(/token=|[0-9a-f]{32}/);
    expect(server.output).not.toContain(readFileSync(join(folder, "jwt-secret"), "utf8").trim());
    expect((await client.ask({ path: "/sign-in?token=guess" })).status).toBe(401);
    expect((await client.ask({ method: "HEAD", path: pathname + search })).status).toBe(200);
    const signedIn = await client.ask({ path: pathname + search, headers: { Accept: "text/html" } });
    expect(signedIn.status).toBe(200);
    expect((await client.ask({ path: pathname + search })).status).toBe(401);
    const cookie = String(signedIn.headers["set-cookie"]).split(";", 1)[0] as string;
    expect(cookie).toMatch(new RegExp(`^vedette_session_${client.port}=`));
    const host = `localhost:${client.port}`;
    expect((await who(client, { Cookie: cookie })).json()).toMatchObject({ role: "super_admin", tenant_id: "default" });
    const change: Question = {
      method: "POST",
      path: "/api/v1/apikeys",
      headers: { ...JSON_TYPE, Cookie: cookie, Host: host },
      body: JSON.stringify({ name: "k", scope: "readonly" }),
    };
    expect((await client.ask({ ...change, headers: { ...change.headers, Origin: "https://evil.example" } })).status).toBe(403);
    expect((await client.ask(change)).status).toBe(403);
    expect((await client.ask({ ...change, headers: { ...change.headers, Origin: `http://${host}` } })).status).toBe(201);
  });

  it("a program gets a token by the link, and `vedette token` makes others; both end with the secret", async () => {
    const { server, client, folder } = await startOwn();
    const { pathname, search } = server.signInLink;
    const { access_token } = (await client.ask({ path: pathname + search })).json() as { access_token: string };
    expect((await who(client, bearer(access_token))).json()).toMatchObject({ role: "super_admin", user_id: "owner" });
    const minted = run(["--role", "operator", "--subject", "me", "--expires", "5m"], { DATA_DIR: folder });
    expect((await who(client, bearer(minted))).json()).toMatchObject({ role: "operator", user_id: "me" });
    const path = join(folder, "jwt-secret");
    writeFileSync(`${path}.new`, `${"cd".repeat(32)}\n`, { mode: 0o600 });
    renameSync(`${path}.new`, path);
    await expect.poll(async () => (await who(client, bearer(minted))).status).toBe(401);
    expect((await who(client, bearer(run([], { DATA_DIR: folder })))).json()).toMatchObject({ role: "viewer" });
  });

  it("keys, users and secret outlive a kill", async () => {
    const { server, client, folder } = await startOwn();
    const admin = { ...bearer(run(["--role", "admin", "--subject", "me"], { DATA_DIR: folder })), ...JSON_TYPE };
    const { api_key } = await makeKey(client, {}, admin);
    const body = JSON.stringify({ user_id: "bob", role: "viewer" });
    expect((await client.ask({ method: "POST", path: "/api/v1/users", headers: admin, body })).status).toBe(201);
    await server.kill();
    const again = await startOwn(folder);
    expect((await who(again.client, { "X-API-Key": api_key })).status).toBe(200);
    const bob = run(["--role", "admin", "--subject", "bob"], { DATA_DIR: folder });
    expect((await who(again.client, bearer(bob))).json()).toMatchObject({ role: "viewer" });
    const disable = { method: "PATCH", path: "/api/v1/users/bob", headers: admin, body: '{"disabled":true}' };
    expect((await again.client.ask(disable)).status).toBe(200);
    expect((await who(again.client, bearer(bob))).status).toBe(401);
  });

  it.each<[string, ServerSettings, RegExp]>([
    ["a short secret", { JWT_SECRET: "too short" }, /JWT_SECRET must have at least 32 bytes, got 9/],
    ["two sources of one secret", { JWT_SECRET: SECRET, JWT_SECRET_FILE: "/dev/null" }, /both set/],
    ["a file of a secret that is not there", { JWT_SECRET_FILE: "/nowhere/secret" }, /JWT_SECRET_FILE names a file that cannot be read/],
    ["a file of keys that is not there", { JWKS_FILE: "/nowhere/jwks.json" }, /JWKS_FILE cannot be read/],
    ["another protocol", { JWKS_URL: "file:///etc/passwd" }, /http or https/],
    [
      "a provider whose tokens count whoever they are for",
      { JWKS_URL: "https://idp.example/jwks" },
      /JWT_ISSUER .* and JWT_AUDIENCE .*=iss,aud$/m,
    ],
    [
      "a provider without an audience",
      { JWKS_URL: "https://idp.example/jwks", JWT_ISSUER: "x" },
      /set JWT_AUDIENCE [^.]*JWT_UNCHECKED_CLAIMS=aud$/m,
    ],
    [
      "a provider without an issuer",
      { JWKS_URL: "https://idp.example/jwks", JWT_AUDIENCE: "x" },
      /set JWT_ISSUER [^.]*JWT_UNCHECKED_CLAIMS=iss$/m,
    ],
    [
      "a provider of which another claim is unchecked",
      { JWKS_URL: "https://idp.example/jwks", JWT_UNCHECKED_CLAIMS: "iss" },
      /set JWT_AUDIENCE [^.]*=iss,aud$/m,
    ],
    ["a password in the URL", { JWKS_URL: "https://ann:secret@idp.example/jwks" }, /no credentials/],
  ])("with %s is refused in one line", async (_, settings, message) => {
    const server = bench.launch(settings);
    expect(await server.ended).toBe(78);
    expect(server.output).toMatch(message);
    expect(server.output).not.toContain(settings.JWT_SECRET ?? "never");
    expect(server.output.trim().split("\n")).toHaveLength(1);
  });
});

describe("a provider's keys", () => {
  const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const ec = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const claims = () => ({ sub: "ann", org: "default", grade: "Super-Admin", exp: Math.floor(Date.now() / 1000) + 600 });
  const sign = (alg: "RS256" | "ES256", kid: string) =>
    new SignJWT({ ...claims(), iss: "https://idp.example", aud: ["vedette"] })
      .setProtectedHeader({ alg, kid })
      .sign(alg === "RS256" ? rsa.privateKey : ec.privateKey);
  const jwks = async (...which: Array<"rsa" | "ec">) =>
    JSON.stringify({
      keys: await Promise.all(which.map(async (one) => ({ ...(await exportJWK((one === "rsa" ? rsa : ec).publicKey)), kid: one }))),
    });
  const names: ServerSettings = {
    JWT_SECRET: SECRET,
    JWT_CLAIM_TENANT: "org",
    JWT_CLAIM_ROLE: "grade",
    JWT_ISSUER: "https://idp.example",
    JWT_AUDIENCE: "vedette",
  };

  it("in a file count as soon as it changes, and the old ones no more", async () => {
    const file = join(bench.dataFolder(), "jwks.json");
    writeFileSync(file, await jwks("rsa"));
    const { client, server } = await start({ ...names, JWKS_FILE: file });
    const [first, second] = [bearer(await sign("RS256", "rsa")), bearer(await sign("ES256", "ec"))];
    expect((await who(client, first)).json()).toMatchObject({ role: "super_admin", user_id: "ann" });
    expect((await who(client, second)).status).toBe(401);
    writeFileSync(file, await jwks("ec"));
    await expect.poll(async () => (await who(client, first)).status).toBe(401);
    expect((await who(client, second)).status).toBe(200);
    writeFileSync(file, "not json");
    await expect.poll(() => server.output).toMatch(/JWKS_FILE: it is not.*stay in force/);
    expect((await who(client, second)).status).toBe(200);
  });

  it("count for tokens that were made for anybody only where that is said to be wanted", async () => {
    const file = join(bench.dataFolder(), "jwks.json");
    writeFileSync(file, await jwks("rsa"));
    const { JWT_ISSUER: _, JWT_AUDIENCE: __, ...others } = names;
    const { client } = await start({ ...others, JWKS_FILE: file, JWT_UNCHECKED_CLAIMS: "iss,aud" });
    expect((await who(client, bearer(await sign("RS256", "rsa")))).status).toBe(200);
  });

  it("at a URL are fetched; while that is down tokens get 503, and telemetry without a credential goes on", async () => {
    let body = await jwks("rsa");
    let status = 500;
    const provider: Server = createServer((_, response) => response.writeHead(status).end(body));
    await once(provider.listen(0, "127.0.0.1"), "listening");
    closers.push(() => provider.close());
    const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/jwks`;
    const { client, server } = await start({ ...names, JWKS_URL: url, JWKS_REFRESH_SECONDS: "10" });
    const first = bearer(await sign("RS256", "rsa"));
    const down = await who(client, first);
    expect(down.status).toBe(503);
    expect(down.headers["retry-after"]).toBeDefined();
    expect(server.output).toMatch(/JWKS_URL.*answers 500/);
    expect(await client.metric("vedette_jwks_failing")).toBe(1);
    const write = await client.ask({ method: "POST", path: "/api/v1/telemetry", headers: JSON_TYPE, body: record() });
    expect(write.status).toBe(200);
    status = 200;
    await expect.poll(async () => (await who(client, first)).status, { interval: 200 }).toBe(200);
    body = "x".repeat(1024 * 1024);
    expect((await who(client, first)).status).toBe(200);
    expect(
      (await who(client, bearer(await token({ org: "default", grade: "admin", iss: "https://idp.example", aud: "vedette" })))).status,
    ).toBe(200);
    expect((await who(client, bearer(await token({ org: "default", grade: "admin", iss: "https://idp.example" })))).status).toBe(401);
  });
});

/** Runs `vedette token`. */
function run(args: readonly string[], settings: ServerSettings): string {
  return execFileSync(process.execPath, ["dist/main.js", "token", ...args], { env: { ...settings }, encoding: "utf8" }).trim();
}
