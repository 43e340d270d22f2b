// Bodies made to hold the coordinator, for every endpoint that takes one and by every way in: each gets an answer that is no failure of the server, which goes on.
// What they cost is counted where it arises (test/property/domain/codec/json-pieces, test/unit/api/body-bounds) and timed by the row odd-queries of native-bench.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Endpoint } from "../../src/api/endpoint.ts";
import { ENDPOINTS } from "../../src/api/endpoints.ts";
import { OBJECT_BODY_BYTES_MAX } from "../../src/core/config/body-limits.ts";
import { oddBodies } from "../support/odd-json-bodies.ts";
import { ServerClient } from "../support/server-client.ts";
import { ServerBench } from "../support/server-process.ts";
import { authorization, JWT_SECRET } from "../support/tokens.ts";

const bodied: readonly Endpoint[] = ENDPOINTS.filter((endpoint: Endpoint) => endpoint.body !== undefined);
/** Most shapes are as odd at this length; the longest that an endpoint takes is tried with one. */
const BYTES = 200_000;
const ROLES = ["viewer", "operator", "admin"] as const;

describe.each(["uws", "node"])("behind %s", (engine) => {
  const bench = new ServerBench();
  const headers = new Map<string, Record<string, string>>();
  let client: ServerClient;

  beforeAll(async () => {
    const server = await bench.start({ ENGINES: "1", HTTP_ENGINE: engine, JWT_SECRET, RUNBOOK_FOUR_EYES: "true" });
    client = new ServerClient(server.origin);
    for (const role of [...ROLES, "super_admin"]) headers.set(role, await authorization("default", role));
  });
  afterAll(async () => {
    client?.close();
    await bench.close();
  });

  const send = ({ method, path, bodyTypes }: Endpoint, body: string, role: string) =>
    client.ask({
      method,
      path: path.replaceAll(/\{\w+\}/g, "none"),
      headers: { "Content-Type": bodyTypes?.at(-1) ?? "application/json", ...headers.get(role) },
      body,
    });

  it.each(bodied)("$method $path answers odd bodies", async (endpoint) => {
    for (const { what, body } of oddBodies(endpoint, BYTES)) {
      const { status } = await send(endpoint, body, "super_admin");
      expect([what, status < 500]).toEqual([what, true]);
    }
    const [longest] = oddBodies(endpoint, Number.POSITIVE_INFINITY);
    for (const role of ROLES) expect((await send(endpoint, longest?.body ?? "", role)).status).toBeLessThan(500);
  });

  it.each(bodied)("$method $path refuses more bytes than it takes, unread", async (endpoint) => {
    const { bodyBytesMax = OBJECT_BODY_BYTES_MAX } = endpoint;
    const answer = await send(endpoint, " ".repeat(bodyBytesMax + 1), "super_admin");
    expect([answer.status, answer.json().error]).toEqual([413, "payload_too_large"]);
    expect(answer.json().message).toContain(String(bodyBytesMax));
  });

  it("goes on", async () => {
    expect((await client.ask({ path: "/healthz" })).json().status).toBe("ok");
    const { text } = await client.ask({ path: "/metrics" });
    expect(text).toMatch(/^vedette_coordinator_turn_seconds_count [1-9]/m);
  });
});
