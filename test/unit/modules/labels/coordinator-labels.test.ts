import { describe, expect, it } from "vitest";
import { LABEL_CHANGES_PER_HOUR_MAX, LABELS_PER_SERVICE_MAX } from "../../../../src/core/config/declaration-limits.ts";
import { answerSchema } from "../../../support/answer-schema.ts";
import { Rig, START_MS, serviceLabels } from "../../../support/coordinator-rig.ts";

const HOUR_MS = 3600 * 1000;

/** What a request answers; a success must be as its endpoint declares it. */
async function ask(rig: Rig, endpoint: string, ...rest: Parameters<Rig["ask"]> extends [string, ...infer R] ? R : never) {
  const answer = await rig.ask(endpoint, ...rest);
  if (answer.status < 300) expect(answerSchema(endpoint, answer.status).parse(answer.body)).toEqual(answer.body);
  return answer;
}

const put = (rig: Rig, service_id: string, key: string, value: string, tenant = "default") =>
  ask(rig, "setLabel", {}, {}, tenant, { service_id, key, value });

/** The labels in force: service/key=value (source), with what each overrides. */
async function labels(rig: Rig, query: Record<string, string> = {}, tenant = "default"): Promise<string[]> {
  const all: string[] = [];
  for (let page_token = ""; ; ) {
    const { status, body } = await ask(rig, "labels", { ...query, page_token }, {}, tenant);
    expect(status).toBe(200);
    for (const { service_id, key, value, source, overrides } of body.labels) {
      const others = overrides.map((other: { source: string; value: string }) => ` > ${other.source} ${other.value}`).join("");
      all.push(`${service_id}/${key}=${value} (${source})${others}`);
    }
    page_token = body.page_token;
    if (page_token === "") return all;
  }
}

const catalog = (owners: Record<string, string>) =>
  Object.entries(owners).map(([name, owner]) => ({ kind: "Component", metadata: { name }, spec: { owner } }));

describe("labels of services", () => {
  it("are of the last of three sources, and a removed one uncovers the next", async () => {
    const rig = await Rig.open();
    await rig.take(serviceLabels({ team: "told", owner: "jane" }));
    expect(await labels(rig)).toEqual(["checkout/owner=jane (telemetry)", "checkout/team=told (telemetry)"]);
    expect((await ask(rig, "importCatalog", {}, {}, "default", catalog({ checkout: "group:payments" }))).body).toMatchObject({ set: 1 });
    expect((await put(rig, "checkout", "team", "mine")).status).toBe(201);
    await rig.take(serviceLabels({ team: "told again" }));
    await ask(rig, "importCatalog", {}, {}, "default", catalog({ checkout: "group:billing" }));
    const stack = ["checkout/owner=jane (telemetry)", "checkout/team=mine (manual) > catalog billing > telemetry told again"];
    expect(await labels(rig)).toEqual(stack);
    expect(await labels(await rig.restarted())).toEqual(stack);
    const remove = (source?: string) =>
      ask(rig, "deleteLabel", { service_id: "checkout", key: "team", ...(source === undefined ? {} : { source }) });
    expect((await remove()).status).toBe(204);
    expect(await labels(rig, { key: "team" })).toEqual(["checkout/team=billing (catalog) > telemetry told again"]);
    const again = await remove();
    expect([again.status, again.body.message]).toEqual([404, expect.stringContaining("source=telemetry")]);
    expect((await remove("catalog")).status).toBe(204);
    expect((await remove("telemetry")).status).toBe(204);
    expect(await labels(rig)).toEqual(["checkout/owner=jane (telemetry)"]);
  });

  it("set by hand are answered with what they override; the same again changes nothing", async () => {
    const rig = await Rig.open();
    await rig.take(serviceLabels({ team: "told" }));
    const first = await put(rig, "checkout", "team", "mine");
    expect(first.body).toEqual({
      service_id: "checkout",
      key: "team",
      value: "mine",
      source: "manual",
      updated_at: new Date(START_MS).toISOString(),
      overrides: [{ source: "telemetry", value: "told", updated_at: new Date(START_MS).toISOString() }],
    });
    rig.nowMs += 1000;
    expect(await put(rig, "checkout", "team", "mine")).toMatchObject({ status: 200, body: { updated_at: first.body.updated_at } });
    expect(await put(rig, "checkout", "team", "yours")).toMatchObject({ status: 200, body: { value: "yours" } });
    const { body } = await ask(rig, "audit");
    expect(body.entries.map(({ action, after }: { action: string; after: { value: string } }) => [action, after.value])).toEqual([
      ["label.set", "yours"],
      ["label.set", "mine"],
    ]);
  });

  it("are each tenant's own", async () => {
    const rig = await Rig.open();
    await put(rig, "checkout", "team", "a", "acme");
    await rig.take(serviceLabels({ team: "b" }, "checkout", "other"));
    expect(await labels(rig, {}, "acme")).toEqual(["checkout/team=a (manual)"]);
    expect(await labels(rig, {}, "other")).toEqual(["checkout/team=b (telemetry)"]);
    expect(await labels(rig, {}, "acm")).toEqual([]);
    expect((await ask(rig, "deleteLabel", { service_id: "checkout", key: "team" }, {}, "other")).status).toBe(404);
    const { body } = await ask(rig, "labels", { limit: "1" }, {}, "acme");
    expect(body.page_token).toBe("");
    await put(rig, "cart", "team", "a", "acme");
    const token = (await ask(rig, "labels", { limit: "1" }, {}, "acme")).body.page_token;
    expect((await ask(rig, "labels", { limit: "1", page_token: token }, {}, "other")).body.error).toBe("invalid_page_token");
  });

  it("come in pages, by service and by key, whatever the filter", async () => {
    const rig = await Rig.open();
    const expected: string[] = [];
    for (let i = 0; i < 30; i++) {
      const serviceId = `service-${String(i).padStart(2, "0")}`;
      await rig.take(serviceLabels({ team: `t${i}`, owner: "o" }, serviceId));
      if (i % 3 === 0) await put(rig, serviceId, "team", "mine");
      expected.push(
        `${serviceId}/owner=o (telemetry)`,
        `${serviceId}/team=${i % 3 === 0 ? `mine (manual) > telemetry t${i}` : `t${i} (telemetry)`}`,
      );
    }
    for (const limit of ["1", "7", "59", "60", "61", "1000"]) expect(await labels(rig, { limit }), limit).toEqual(expected);
    expect(await labels(rig, { key: "owner", limit: "4" })).toEqual(expected.filter((label) => label.includes("/owner=")));
    expect(await labels(rig, { service_id: "service-03", limit: "1" })).toEqual(expected.slice(6, 8));
    expect(await labels(rig, { service_id: "service-0" })).toEqual([]);
  });

  it("of telemetry that contradicts itself change a few times an hour, and no more", async () => {
    const rig = await Rig.open();
    for (let i = 0; i < 20; i++) await rig.take(serviceLabels({ team: i % 2 === 0 ? "a" : "b" }));
    expect(rig.counter("labelsRefused")).toBe((20 - 1 - LABEL_CHANGES_PER_HOUR_MAX + 1) / 2);
    expect(await labels(rig)).toEqual(["checkout/team=a (telemetry)"]);
    rig.nowMs += HOUR_MS;
    await rig.take(serviceLabels({ team: "c" }));
    expect(await labels(rig)).toEqual(["checkout/team=c (telemetry)"]);
  });

  it("of telemetry in one transaction, and again after a replay of it, are what was said last", async () => {
    const rig = await Rig.open();
    const frames = [serviceLabels({ team: "a" }), serviceLabels({ team: "b" }), serviceLabels({ owner: "o" }, "\u0000".repeat(1000))];
    await rig.take(...frames);
    expect(await labels(rig)).toEqual(["checkout/team=b (telemetry)"]);
    const before = rig.durable();
    await rig.take(serviceLabels({ team: "b" }));
    expect(rig.durable()).toEqual(before);
    expect(rig.counter("serviceLabels")).toBe(1);
  });

  it("are bounded for each service", async () => {
    const rig = await Rig.open();
    for (let i = 0; i < LABELS_PER_SERVICE_MAX; i++) expect((await put(rig, "checkout", `k${i}`, "v")).status).toBe(201);
    expect(await put(rig, "checkout", "more", "v")).toMatchObject({ status: 422, body: { error: "unprocessable" } });
    expect((await put(rig, "checkout", "k1", "w")).status).toBe(200);
    expect((await put(rig, "cart", "more", "v")).status).toBe(201);
    const { body } = await ask(rig, "importCatalog", {}, {}, "default", catalog({ checkout: "x", cart: "x" }));
    expect(body).toMatchObject({ set: 1, skipped: 1, skipped_by_reason: { limit: 1 } });
  });

  const refused: Array<[title: string, body: unknown, code: string, field: string | undefined]> = [
    ["a value with a line break", { service_id: "a", key: "team", value: "x\r\nBcc: y" }, "invalid_field", "value"],
    ["an empty value", { service_id: "a", key: "team", value: "" }, "invalid_field", "value"],
    ["a value that is too long", { service_id: "a", key: "team", value: "x".repeat(1025) }, "invalid_field", "value"],
    ["a number for a value", { service_id: "a", key: "team", value: 1e308 }, "invalid_field", "value"],
    ["a key with spaces", { service_id: "a", key: "my team", value: "x" }, "invalid_field", "key"],
    ["a service with a NUL", { service_id: "a\u0000", key: "team", value: "x" }, "invalid_field", "service_id"],
    ["no service", { key: "team", value: "x" }, "missing_field", "service_id"],
    [
      "a source, which is not for a client to say",
      { service_id: "a", key: "team", value: "x", source: "telemetry" },
      "unknown_field",
      "source",
    ],
    ["a tenant", { service_id: "a", key: "team", value: "x", tenant: "other" }, "unknown_field", "tenant"],
    ["a prototype", '{"service_id":"a","key":"team","value":"x","__proto__":{"tenant":"other"}}', "unknown_field", "__proto__"],
    ["a list", "[]", "invalid_json", undefined],
  ];
  it.each(refused)("are refused with %s", async (_title, body, code, field) => {
    const rig = await Rig.open();
    const answer = await ask(rig, "setLabel", {}, {}, "default", body);
    expect([answer.status, answer.body.error, answer.body.field]).toEqual([400, code, field]);
    expect(await labels(rig)).toEqual([]);
  });

  it("may have names of prototypes and paths as names like any other", async () => {
    const rig = await Rig.open();
    for (const name of ["__proto__", "constructor", "../../etc/passwd"])
      await put(rig, name, name === "../../etc/passwd" ? "team" : name, name);
    expect(await labels(rig)).toEqual([
      "../../etc/passwd/team=../../etc/passwd (manual)",
      "__proto__/__proto__=__proto__ (manual)",
      "constructor/constructor=constructor (manual)",
    ]);
    expect(Object.hasOwn(Object.prototype, "value")).toBe(false);
  });
});

describe("the import of a catalog", () => {
  const yaml = `---
kind: Component
metadata: {name: checkout}
spec: {owner: "group:default/payments"}
---
kind: Component
metadata: {name: cart}
spec: {owner: "user:jane"}
---
kind: System
metadata: {name: shop}
---
kind: Component
metadata: {name: search}
spec: {}
---
a: *nothing
`;

  it("says of each entity what was set or why not, and leaves one row in the audit log", async () => {
    const rig = await Rig.open();
    await put(rig, "checkout", "team", "mine");
    const { body } = await ask(rig, "importCatalog", {}, {}, "default", yaml, "text/yaml");
    const { results, ...counts } = body;
    expect(counts).toEqual({
      dry_run: false,
      entities: 5,
      set: 2,
      unchanged: 0,
      skipped: 3,
      skipped_by_reason: { other_kind: 1, missing_owner: 1, unreadable: 1 },
    });
    const rows = results.map((row: Record<string, unknown>) => [
      row.line,
      row.service_id,
      row.outcome,
      row.key,
      row.value,
      row.overridden_by,
      row.reason,
    ]);
    expect(rows).toEqual([
      [1, "checkout", "set", "team", "payments", "manual", null],
      [5, "cart", "set", "owner", "jane", null, null],
      [9, "shop", "skipped", null, null, null, "other_kind"],
      [12, "search", "skipped", null, null, null, "missing_owner"],
      [16, null, "skipped", null, null, null, "unreadable"],
    ]);
    expect(await labels(rig)).toEqual(["cart/owner=jane (catalog)", "checkout/team=mine (manual) > catalog payments"]);
    const audit = (await ask(rig, "audit", { action: "catalog.import" })).body.entries;
    expect(audit).toMatchObject([
      {
        after: {
          set: 2,
          labels: [
            { service_id: "checkout", value: "payments" },
            { service_id: "cart", value: "jane" },
          ],
        },
      },
    ]);
  });

  it("again changes nothing; a component that changes hands loses what it said before; others keep theirs", async () => {
    const rig = await Rig.open();
    await ask(rig, "importCatalog", {}, {}, "default", yaml, "application/yaml");
    const before = rig.durable();
    expect((await ask(rig, "importCatalog", {}, {}, "default", yaml, "application/x-yaml")).body).toMatchObject({ set: 0, unchanged: 2 });
    expect(rig.durable()).toEqual(before);
    await ask(rig, "importCatalog", {}, {}, "default", catalog({ checkout: "user:joe" }));
    expect(await labels(rig)).toEqual(["cart/owner=jane (catalog)", "checkout/owner=joe (catalog)"]);
  });

  it("can be rehearsed", async () => {
    const rig = await Rig.open();
    const before = rig.durable();
    expect((await ask(rig, "importCatalog", { dry_run: "true" }, {}, "default", yaml, "text/yaml")).body).toMatchObject({
      dry_run: true,
      set: 2,
    });
    expect(rig.durable()).toEqual(before);
  });

  const refused: Array<[title: string, content: string, mediaType: string, status: number, code: string]> = [
    ["JSON that is none", "{", "application/json", 400, "invalid_json"],
    ["YAML sent as JSON", yaml, "application/json", 400, "invalid_json"],
    ["nothing", "", "text/yaml", 400, "bad_request"],
    ["an empty list", "[]", "application/json", 400, "bad_request"],
    ["text", "hello", "text/yaml", 422, "unprocessable"],
    ["YAML that is none", 'a: "', "text/yaml", 422, "unprocessable"],
    ["too many entities", `[${Array(10_001).fill("1").join()}]`, "application/json", 413, "payload_too_large"],
  ];
  it.each(refused)("is refused with %s", async (_title, content, mediaType, status, code) => {
    const rig = await Rig.open();
    const answer = await ask(rig, "importCatalog", {}, {}, "default", content, mediaType);
    expect([answer.status, answer.body.error]).toEqual([status, code]);
  });
});
