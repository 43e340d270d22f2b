/**
 * Every endpoint answers what it declares: each is asked on the real server until it has answered with success, and asked wrongly in the ways that its
 * declaration allows. An endpoint that is not asked here fails the test.
 */
import { compressSync } from "snappy";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ENDPOINTS } from "../../src/api/endpoints.ts";
import { OBJECT_BODY_BYTES_MAX } from "../../src/core/config/body-limits.ts";
import { CONTRACT_CALLS } from "../support/contract-calls.ts";
import { ContractDriver, checkAnswer } from "../support/contract-driver.ts";
import { ServerClient } from "../support/server-client.ts";
import { ServerBench } from "../support/server-process.ts";

const bench = new ServerBench();
let client: ServerClient;
let driver: ContractDriver;

beforeAll(async () => {
  const server = await bench.start({
    ENGINES: "2",
    WATCHDOG_INTERVAL_SECONDS: "5",
    RUNBOOK_FOUR_EYES: "false",
    BACKUP_DIR: bench.dataFolder(),
  });
  client = new ServerClient(server.origin);
  // The link of the start gives the owner's token: a super-admin's.
  const link = server.signInLink.searchParams.get("token") as string;
  const signIn = new ContractDriver(client, {});
  const { access_token: token } = await signIn.call("signIn", 200, { query: { token: link } });
  driver = new ContractDriver(client, { Authorization: `Bearer ${token}` });
  driver.exercised.add("signIn");
});
afterAll(async () => {
  client?.close();
  await bench.close();
});

describe("every answer is as its endpoint declares", () => {
  for (const [name, ask] of Object.entries(CONTRACT_CALLS)) it(`of ${name}`, () => ask(driver));

  it("of signIn, whose link works once", async () => {
    await driver.call("signIn", 401, { query: { token: "used" } });
  });

  it("and every endpoint has answered with success", () => {
    const silent = ENDPOINTS.map(({ name }) => name as string).filter((name) => !driver.exercised.has(name));
    expect(silent, "add calls of these to test/support/contract-calls.ts").toEqual([]);
  });
});

describe("every endpoint refuses as its declaration says", () => {
  it.each(ENDPOINTS.filter(({ access }) => access !== "public"))("a wrong credential: $method $path", async (endpoint) => {
    const answer = await driver.send(endpoint, { headers: { Authorization: "Bearer wrong" } });
    expect(answer.status).toBe(401);
    checkAnswer(endpoint, answer);
  });

  it.each(ENDPOINTS)("a method that it does not take: $method $path", async (endpoint) => {
    const answer = await driver.send(endpoint, { method: "OPTIONS" });
    expect(answer.status).toBe(405);
    checkAnswer(endpoint, answer);
  });

  const strict = ENDPOINTS.filter(({ query }) => !query.safeParse({ "": "" }).success);
  it.each(strict)("a parameter that it does not know, as a problem where asked: $method $path", async (endpoint) => {
    const body = "body" in endpoint && "examples" in endpoint ? { body: endpoint.examples.body } : {};
    const answer = await driver.send(endpoint, { query: { nonsense: "1" }, headers: { Accept: "application/problem+json" }, ...body });
    expect([answer.status, answer.headers["content-type"]]).toEqual([400, "application/problem+json"]);
    checkAnswer(endpoint, answer);
    expect(answer.json()).toMatchObject({ error: "unknown_parameter", field: "nonsense" });
  });

  const withBody = ENDPOINTS.filter((endpoint) => "body" in endpoint || "takes" in endpoint);
  it.each(withBody)("another media type: $method $path", async (endpoint) => {
    const answer = await driver.send(endpoint, { body: "x", headers: { "Content-Type": "image/png" } });
    expect(answer.status).toBe(415);
    checkAnswer(endpoint, answer);
  });

  const ofSchema = ENDPOINTS.filter((endpoint) => "body" in endpoint && !("bodyTypes" in endpoint));
  it.each(ofSchema)("what is no JSON, and too much: $method $path", async (endpoint) => {
    const bad = await driver.send(endpoint, { body: "{" });
    expect([bad.status, bad.json().error]).toEqual([400, "invalid_json"]);
    checkAnswer(endpoint, bad);
    const most = "bodyBytesMax" in endpoint ? (endpoint.bodyBytesMax as number) : OBJECT_BODY_BYTES_MAX;
    const large = await driver.send(endpoint, { body: " ".repeat(most + 1) });
    expect(large.status).toBe(413);
    checkAnswer(endpoint, large);
  });

  it("more requests than a key may send, in every way in and out", async () => {
    const made = await driver.call("createKey", 201, { body: { name: "slow", scope: "admin", rate_limit_rps: 1 } });
    const headers = { Authorization: `Bearer ${made.api_key}` };
    for (const endpoint of ENDPOINTS.filter(({ access }) => access === "viewer" || access === "ingest")) {
      const ask = () => driver.send(endpoint, { headers, ...(endpoint.name === "stream" && { method: "HEAD" }) });
      const limited = (await Promise.all([ask(), ask(), ask(), ask()])).filter(({ status }) => status === 429);
      expect(limited.length, endpoint.path).toBeGreaterThan(0);
      if (endpoint.name !== "stream") for (const answer of limited) checkAnswer(endpoint, answer);
    }
  });

  it("telemetry that cannot be read, each way in its own words", async () => {
    for (const endpoint of ENDPOINTS.filter(({ handledBy, name }) => handledBy === "engine" && !name.startsWith("remoteWrite"))) {
      const answer = await driver.send(endpoint, { body: "{" });
      expect(answer.status, endpoint.path).toBe(400);
      checkAnswer(endpoint, answer);
    }
    const garbage = compressSync(Buffer.from("garbage"));
    for (const endpoint of ENDPOINTS.filter(({ name }) => name.startsWith("remoteWrite"))) {
      const headers = { "Content-Type": "application/x-protobuf", "Content-Encoding": "snappy" };
      const answer = await driver.send(endpoint, { body: garbage, headers });
      expect(answer.status, endpoint.path).toBe(400);
      checkAnswer(endpoint, answer);
    }
  });
});
