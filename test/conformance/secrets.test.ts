// Secrets stand where they belong and nowhere else: everything that the server says and stores is searched for their bytes.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { SignJWT } from "jose";
import { afterEach, expect, it } from "vitest";
import { ENDPOINTS } from "../../src/api/endpoints.ts";
import { ServerClient } from "../support/server-client.ts";
import { ServerBench } from "../support/server-process.ts";

const JWT_SECRET = "jwt secret of this test, 32 bytes and more";
const MARKER = "a-value-that-is-no-secret";
/** Homes of the server's own secrets. */
const OWN_FILES = new Set(["admin-token", "jwt-secret"]);
const JSON_TYPE = { "Content-Type": "application/json" };

const bench = new ServerBench();
const closers: Array<() => void> = [];
afterEach(async () => {
  for (const close of closers.splice(0)) close();
  await bench.close();
});

/** Files of a folder and those below it, but for the server's own secrets. */
function* filesOf(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile() && !OWN_FILES.has(entry.name)) yield join(entry.parentPath, entry.name);
}

it("no secret is in a list, an error, the audit log, the metrics, the log or the data folder", async () => {
  const folder = bench.dataFolder();
  const settings = { ENGINES: "1", JWT_SECRET, LOG_LEVEL: "debug", DATA_DIR: folder };
  const server = await bench.start(settings);
  const client = new ServerClient(server.origin);
  closers.push(() => client.close());
  const adminToken = readFileSync(join(folder, "admin-token"), "utf8").trim();
  const exp = Math.floor(Date.now() / 1000) + 600;
  const claims = { sub: "ann", tenant_id: "default", role: "super_admin", exp };
  const jwt = await new SignJWT(claims).setProtectedHeader({ alg: "HS256" }).sign(Buffer.from(JWT_SECRET));
  const headers = { Authorization: `Bearer ${jwt}`, ...JSON_TYPE };
  const said: string[] = [];
  const ask = async (method: string, path: string, body?: unknown, more: Record<string, string> = {}) => {
    const content = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await client.ask({ method, path, headers: { ...headers, ...more }, ...content });
    return { ...answer, keep: () => said.push(answer.text, JSON.stringify(answer.headers)) };
  };

  const first = await ask("POST", "/api/v1/apikeys", { name: "first", scope: "readwrite" });
  expect(first.status).toBe(201);
  const { api_key: apiKey, key_id: keyId } = first.json();
  const rotated = await ask("POST", `/api/v1/keys/${keyId}/rotate`);
  const { api_key: newKey } = rotated.json();
  expect([rotated.status < 300, typeof newKey]).toEqual([true, "string"]);
  const wrongKey = `${apiKey.slice(0, -4)}AAAA`;
  const secrets: Record<string, string> = { apiKey, newKey, wrongKey, jwt, JWT_SECRET, adminToken };

  (await ask("PUT", "/api/v1/service-labels", { service_id: "checkout", key: "team", value: MARKER })).keep();
  (await ask("PUT", "/api/v1/saturation/limits", { metric: "heap", limit_value: 1 })).keep();
  // Requests that fail, with secrets where they should not be.
  for (const key of [apiKey, wrongKey]) (await ask("GET", "/api/v1/anomalies", undefined, { Authorization: "", "X-API-Key": key })).keep();
  (await ask("GET", "/api/v1/anomalies", undefined, { Authorization: `Bearer ${jwt}x` })).keep();
  (await ask("GET", `/api/v1/${encodeURIComponent(JWT_SECRET).slice(0, 4)}`)).keep();
  (await ask("PUT", "/api/v1/saturation/limits", { metric: "heap", limit_value: -1 })).keep();
  for (const { method, path, name } of ENDPOINTS) {
    if (method === "GET" && !path.includes("{") && name !== "stream") (await ask("GET", path)).keep();
  }
  const audit = await ask("GET", "/api/v1/audit?limit=1000");
  expect(audit.json().entries.length).toBeGreaterThanOrEqual(4);
  audit.keep();
  await server.stop();

  const places: Array<readonly [name: string, content: Buffer]> = [
    ["what it said", Buffer.from(said.join("\n"))],
    ["its output", Buffer.from(server.output)],
  ];
  for (const path of filesOf(folder)) places.push([path, readFileSync(path)]);
  // What is no secret is found by the same search.
  expect(places.filter(([, content]) => content.includes(MARKER)).map(([name]) => name.split("/").at(-2) ?? name)).toEqual(
    expect.arrayContaining(["what it said", "control"]),
  );
  const found = places.flatMap(([place, content]) =>
    Object.entries(secrets).flatMap(([name, secret]) => (content.includes(secret) ? [`${name} in ${place}`] : [])),
  );
  expect(found).toEqual([]);
  // Not even a key's random part alone: its prefix is shown.
  const random = (key: string) => key.split("_").slice(2).join("_"); // base64url has underscores of its own
  const parts = [random(apiKey), random(newKey), jwt.split(".")[2] as string];
  for (const part of parts) expect(part.length).toBeGreaterThan(30);
  expect(
    places.flatMap(([place, content]) => parts.filter((part) => content.includes(part)).map((part) => [place, part.slice(0, 4)])),
  ).toEqual([]);
});

it("the help shows how a secret is given, and not its value", async () => {
  const server = bench.launch({ JWT_SECRET, JWT_SECRET_FILE: "/dev/null" });
  expect(await server.ended).toBe(78);
  expect(server.output).toContain("JWT_SECRET and JWT_SECRET_FILE are both set");
  expect(server.output).not.toContain(JWT_SECRET);
});
