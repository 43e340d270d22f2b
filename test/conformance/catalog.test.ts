// Catalogs, labels and limits against the real server: media types, sizes, and how soon a label counts.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { CATALOG_BODY_BYTES_MAX } from "../../src/core/config/declaration-limits.ts";
import { ENGINES } from "../support/http-exchanges.ts";
import { ServerClient } from "../support/server-client.ts";
import { ServerBench } from "../support/server-process.ts";

const bench = new ServerBench();
const closers: Array<() => void> = [];
afterEach(async () => {
  for (const close of closers.splice(0)) close();
  await bench.close();
});

const YAML = "---\nkind: Component\nmetadata: {name: checkout}\nspec: {owner: 'group:default/payments'}\n---\nkind: API\n";
const JSON_TEXT = JSON.stringify([{ kind: "Component", metadata: { name: "checkout" }, spec: { owner: "user:jane" } }]);

describe.each(ENGINES)("catalogs over $kind", ({ kind, skipped }) => {
  const test = it.skipIf(skipped);

  async function start() {
    const folder = bench.dataFolder();
    const server = await bench.start({ ENGINES: "1", HTTP_ENGINE: kind, DATA_DIR: folder });
    const client = new ServerClient(server.origin);
    closers.push(() => client.close());
    const admin = { Authorization: `Bearer ${readFileSync(join(folder, "admin-token"), "utf8").trim()}` };
    const importAs = (type: string | undefined, body: string, more: Record<string, string> = {}) =>
      client.ask({
        method: "POST",
        path: "/api/v1/atlas/import/catalog",
        headers: { ...admin, ...(type === undefined ? {} : { "Content-Type": type }), ...more },
        body,
      });
    const labels = async () => (await client.get("/api/v1/service-labels", admin)).json().labels;
    return { client, admin, importAs, labels };
  }

  test("are read by their media type, and no other is taken", async () => {
    const { importAs, labels } = await start();
    for (const type of ["application/yaml", "text/yaml", "application/x-yaml", "Text/YAML; charset=utf-8"]) {
      const answer = await importAs(type, YAML);
      expect([type, answer.status, answer.json().skipped_by_reason]).toEqual([type, 200, { other_kind: 1 }]);
    }
    expect(await labels()).toMatchObject([{ service_id: "checkout", key: "team", value: "payments", source: "catalog" }]);
    expect((await importAs("application/json", JSON_TEXT)).json()).toMatchObject({ set: 1, skipped: 0 });
    expect(await labels()).toMatchObject([{ service_id: "checkout", key: "owner", value: "jane", source: "catalog" }]);
    for (const type of [undefined, "text/plain", "application/xml", "application/yamlx", "application/json, text/yaml"]) {
      const answer = await importAs(type, YAML);
      expect([type, answer.status, answer.json().error]).toEqual([type, 415, "unsupported_media_type"]);
      expect(answer.json().message).toContain("application/yaml");
    }
    expect((await importAs("text/yaml", YAML, { "Content-Encoding": "gzip" })).status).toBe(415);
    expect((await importAs("application/json", YAML)).json()).toMatchObject({ error: "invalid_json" });
    expect((await importAs("text/yaml", "a: \xff".repeat(3))).status).toBe(422);
  });

  test("have a size", async () => {
    const { importAs } = await start();
    const answer = await importAs("text/yaml", `# ${"x".repeat(CATALOG_BODY_BYTES_MAX)}`);
    expect([answer.status, answer.json().error]).toEqual([413, "payload_too_large"]);
    expect((await importAs("text/yaml", `# ${"x".repeat(CATALOG_BODY_BYTES_MAX / 2)}\n${YAML}`)).status).toBe(200);
  });

  test("and telemetry label a service; other endpoints take JSON alone", async () => {
    const { client, admin, labels } = await start();
    const record = { service_id: "cart", metric_name: "m", value: 1, timestamp: new Date().toISOString(), attributes: { team: "shop" } };
    expect((await client.postJson("/api/v1/telemetry", record)).status).toBe(200);
    expect(await labels()).toMatchObject([{ service_id: "cart", key: "team", value: "shop", source: "telemetry" }]);
    const put = (type: string) =>
      client.ask({
        method: "PUT",
        path: "/api/v1/service-labels",
        headers: { ...admin, "Content-Type": type },
        body: '{"service_id":"cart","key":"team","value":"mine"}',
      });
    expect((await put("text/yaml")).status).toBe(415);
    expect((await put("application/json")).status).toBe(201);
    expect((await client.ask({ method: "DELETE", path: "/api/v1/service-labels?service_id=cart&key=team", headers: admin })).status).toBe(
      204,
    );
    expect(await labels()).toMatchObject([{ value: "shop" }]);
    const { entries } = (await client.get("/api/v1/audit", admin)).json();
    expect(entries).toMatchObject([
      { action: "label.delete", object: "cart/team", source_address: expect.stringContaining("127.0.0.1") },
      { action: "label.set", source_address: expect.stringContaining("127.0.0.1") },
    ]);
  });
});
