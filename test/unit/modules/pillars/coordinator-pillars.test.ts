import { describe, expect, it } from "vitest";
import {
  CUSTOM_KEYS_MAX,
  PILLAR_VALUE_BYTES_MAX,
  SERVICE_MAP_ENTRIES_MAX,
  SERVICE_MAP_TENANT_ENTRIES_MAX,
} from "../../../../src/core/config/declaration-limits.ts";
import { PILLAR_HISTORY_STORE_MS } from "../../../../src/core/config/limits.ts";
import { AUDIT_ENTRY } from "../../../../src/modules/access/audit-log.ts";
import { entryRow } from "../../../../src/modules/pillars/service-map-book.ts";
import { TABLE_END, TABLE_START } from "../../../../src/modules/state/tables.ts";
import { answerSchema } from "../../../support/answer-schema.ts";
import { Rig } from "../../../support/coordinator-rig.ts";

const TICK_MS = 60_000;
const TURNS_MAX = 10_000;

interface Entry {
  service_id: string;
  tenant_id?: string;
  product_id?: string;
  custom_keys?: Record<string, string>;
}

function put(rig: Rig, entries: readonly Entry[], tenant = "default") {
  return rig.ask("setServiceMap", {}, {}, tenant, { entries });
}

async function wholeMap(rig: Rig, limit = "1000", tenant = "default"): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (let token = ""; ; ) {
    const { body } = await rig.ask("serviceMap", { limit, page_token: token }, {}, tenant);
    entries.push(...body.entries);
    token = body.page_token;
    if (token === "") return entries;
  }
}

function behave(rig: Rig, deviations: Record<string, readonly [number, number, number, number]>): void {
  const services = Object.keys(deviations).map((service) => JSON.stringify(["default", service]));
  for (const engine of rig.engines) engine.behaviour = { services: [], deviations: new Float32Array(0) };
  const [first] = rig.engines;
  if (first !== undefined) first.behaviour = { services, deviations: Float32Array.from(Object.values(deviations).flat()) };
}

/** A minute later: one tick, to its end. */
async function tick(rig: Rig): Promise<void> {
  rig.nowMs += TICK_MS;
  rig.monotonicMs += TICK_MS;
  const ended = () => rig.counter("vectorizerTicks") + rig.counter("vectorizerFailures");
  const before = ended();
  await rig.drain();
  for (let turns = 0; ended() === before && turns < TURNS_MAX; turns++) await new Promise((resolve) => setImmediate(resolve));
  expect(ended()).toBe(before + 1);
}

const audited = (rig: Rig) =>
  rig.control
    .range("audit", { from: TABLE_START, to: TABLE_END })
    .map(({ value }) => AUDIT_ENTRY.decode(value) as { action: string; before: unknown; after: { entries: unknown[] } });

describe("the service map", () => {
  it("is an upsert by service: the last entry wins, in a request and across requests", async () => {
    const rig = await Rig.open();
    const first = await put(rig, [
      { service_id: "b", tenant_id: "acme", product_id: "shop" },
      { service_id: "a", tenant_id: "acme" },
      { service_id: "b", tenant_id: "globex", custom_keys: { region: "eu", cell: "1" } },
    ]);
    expect(first).toEqual({ status: 200, body: { status: "ok", upserted: 2, created: 2, updated: 0, unchanged: 0 } });
    expect(answerSchema("setServiceMap", 200).safeParse(first.body).success).toBe(true);
    expect(await wholeMap(rig)).toEqual([
      { service_id: "a", tenant_id: "acme", product_id: "", custom_keys: {} },
      { service_id: "b", tenant_id: "globex", product_id: "", custom_keys: { cell: "1", region: "eu" } },
    ]);
    const second = await put(rig, [
      { service_id: "a", tenant_id: "acme" },
      { service_id: "b", tenant_id: "globex", custom_keys: { cell: "1", region: "us" } },
      { service_id: "c" },
    ]);
    expect(second.body).toEqual({ status: "ok", upserted: 3, created: 1, updated: 1, unchanged: 1 });
    const restarted = await rig.restarted();
    expect(await wholeMap(restarted)).toEqual(await wholeMap(rig));
    expect((await wholeMap(restarted)).map(({ service_id }) => service_id)).toEqual(["a", "b", "c"]);
  });

  it("writes what changed, and one row of the audit log with a sample", async () => {
    const rig = await Rig.open();
    const entries = Array.from({ length: 500 }, (_, i) => ({ service_id: `service-${i}`, tenant_id: "acme" }));
    await put(rig, entries);
    expect(audited(rig)).toMatchObject([{ action: "service_map.set", before: { entries: [] }, after: { created: 500, updated: 0 } }]);
    expect(audited(rig)[0]?.after.entries).toHaveLength(10);
    await put(rig, entries);
    expect(audited(rig)).toHaveLength(1);
    const before = rig.control.contents.get("service_map");
    expect(before?.size).toBe(500);
  });

  it("pages by service, for one tenant, with tokens of this tenant and endpoint alone", async () => {
    const rig = await Rig.open();
    await put(
      rig,
      Array.from({ length: 250 }, (_, i) => ({ service_id: `s${String(i).padStart(3, "0")}` })),
    );
    await put(rig, [{ service_id: "theirs" }], "other");
    const { body } = await rig.ask("serviceMap");
    expect([body.entries.length, body.total]).toEqual([100, 250]);
    expect(answerSchema("serviceMap", 200).safeParse(body).success).toBe(true);
    // What comes in behind the page is on the next one; what comes in before it moves nothing.
    await put(rig, [{ service_id: "s000a" }, { service_id: "s100a" }]);
    const second = await rig.ask("serviceMap", { page_token: body.page_token });
    expect(second.body.entries[0].service_id).toBe("s100");
    expect(second.body.entries[1].service_id).toBe("s100a");
    expect((await wholeMap(rig, "7")).length).toBe(252);
    expect((await wholeMap(rig, "7", "other")).map(({ service_id }) => service_id)).toEqual(["theirs"]);
    const foreign = await rig.ask("serviceMap", { page_token: body.page_token }, {}, "other");
    expect([foreign.status, foreign.body.error]).toEqual([400, "invalid_page_token"]);
    expect((await rig.ask("pillarScores", { page_token: body.page_token })).status).toBe(400);
    expect((await rig.ask("serviceMap", { limit: "1001" })).body.error).toBe("invalid_limit");
  });

  it.each<[string, unknown, string]>([
    [
      "more entries than a request may have",
      { entries: Array.from({ length: SERVICE_MAP_ENTRIES_MAX + 1 }, () => ({ service_id: "a" })) },
      "entries",
    ],
    ["no service", { entries: [{ tenant_id: "acme" }] }, "entries.0.service_id"],
    ["an empty service", { entries: [{ service_id: "" }] }, "entries.0.service_id"],
    ["an unknown member", { entries: [{ service_id: "a", team: "x" }] }, "entries.0.team"],
    ["a long value", { entries: [{ service_id: "a", tenant_id: "x".repeat(PILLAR_VALUE_BYTES_MAX + 1) }] }, "entries.0.tenant_id"],
    ["a zero in its name", { entries: [{ service_id: "a\0" }] }, "entries.0.service_id"],
    [
      "too many custom keys",
      {
        entries: [
          { service_id: "a", custom_keys: Object.fromEntries(Array.from({ length: CUSTOM_KEYS_MAX + 1 }, (_, i) => [`k${i}`, "v"])) },
        ],
      },
      "entries.0.custom_keys",
    ],
    ["a key that would be left out", '{"entries":[{"service_id":"a","custom_keys":{"__proto__":"x"}}]}', "entries.0.custom_keys"],
    ["a value that is no text", { entries: [{ service_id: "a", custom_keys: { region: 1 } }] }, "entries.0.custom_keys.region"],
  ])("is refused with %s, and nothing is stored", async (_, body, field) => {
    const rig = await Rig.open();
    const answer = await rig.ask("setServiceMap", {}, {}, "default", body);
    expect([answer.status, answer.body.field]).toEqual([400, field]);
    expect(await wholeMap(rig)).toEqual([]);
  });

  it("is bounded for each tenant", async () => {
    const empty = await Rig.open();
    const unmapped = { tenantId: "", productId: "", customKeys: [] };
    const serviceIds = Array.from({ length: SERVICE_MAP_TENANT_ENTRIES_MAX - 2 }, (_, i) => `service-${String(i).padStart(6, "0")}`);
    await empty.control.commit(serviceIds.map((serviceId) => entryRow("default", { serviceId, ...unmapped })));
    const rig = await empty.restarted();
    expect((await put(rig, [{ service_id: "last-but-one" }, { service_id: "last" }])).status).toBe(200);
    const over = await put(rig, [{ service_id: "service-000001", tenant_id: "acme" }, { service_id: "one-more" }]);
    expect([over.status, over.body.error]).toEqual([422, "unprocessable"]);
    expect((await put(rig, [{ service_id: "service-000001", tenant_id: "acme" }])).body.updated).toBe(1);
    expect((await put(rig, [{ service_id: "one-more" }], "other")).status).toBe(200);
  });

  it("keeps names that objects have of themselves", async () => {
    const rig = await Rig.open();
    await rig.ask(
      "setServiceMap",
      {},
      {},
      "default",
      '{"entries":[{"service_id":"__proto__","custom_keys":{"constructor":"x","toString":"y"}}]}',
    );
    expect(await wholeMap(rig)).toEqual([
      { service_id: "__proto__", tenant_id: "", product_id: "", custom_keys: { constructor: "x", toString: "y" } },
    ]);
  });
});

describe("the vectorizer", () => {
  const MAP: Entry[] = [
    { service_id: "cart", tenant_id: "acme", product_id: "shop", custom_keys: { region: "eu" } },
    { service_id: "pay", tenant_id: "acme", product_id: "shop" },
    { service_id: "find", tenant_id: "acme", product_id: "search" },
  ];

  it("scores what is mapped, and names what drives it", async () => {
    const rig = await Rig.open({ engines: 2, vectorizerIntervalMs: TICK_MS });
    await put(rig, MAP);
    for (let minute = 0; minute < 300; minute++) {
      const wave = 0.5 * Math.sin(minute);
      behave(rig, { cart: [wave, 0, wave, Number.NaN], pay: [0, 0, 0.2 + 0.1 * wave, 0], find: [wave, 0.1, 0, 0], unmapped: [9, 9, 9, 9] });
      await tick(rig);
    }
    behave(rig, { cart: [0, 0, 1, Number.NaN], pay: [0, 0, 7, 0], find: [0.1, 0.1, 0, 0] });
    await tick(rig);
    const { body } = await rig.ask("pillarScores");
    expect(answerSchema("pillarScores", 200).safeParse(body).error).toBeUndefined();
    expect(body.scores.map((one: { pillar: string; value: string }) => `${one.pillar} ${one.value}`)).toEqual([
      "custom:region eu",
      "product search",
      "product shop",
      "tenant acme",
    ]);
    const [, search, shop] = body.scores;
    expect(shop).toMatchObject({ members: 2, evaluated: 2, maturity: "young", history_minutes: 301 });
    expect(shop.score).toBeCloseTo(1 - 1 / (300 / 15 + 1), 6);
    expect(shop.score + shop.p_value).toBeCloseTo(1, 12);
    expect(shop.deviations.latency).toBe(4);
    expect(shop.drivers.map((one: { service_id: string }) => one.service_id)).toEqual(["pay", "cart"]);
    expect(shop.drivers[0].contribution + shop.drivers[1].contribution).toBeCloseTo(1, 12);
    expect(shop.drivers[1].deviations.saturation).toBeNull();
    expect(search.score).toBeLessThan(shop.score);
    expect(JSON.stringify(body)).not.toContain("unmapped");
    expect((await rig.ask("pillarScores", { min_score: "0.9", pillar: "product" })).body.scores).toEqual([shop]);
    expect((await rig.ask("pillarScores", { value: "acme" })).body.total).toBe(1);
    expect((await rig.ask("pillarScores", {}, {}, "other")).body).toEqual({ scores: [], total: 0, page_token: "" });
    const paged = await rig.ask("pillarScores", { limit: "3" });
    const rest = await rig.ask("pillarScores", { limit: "3", page_token: paged.body.page_token });
    expect([...paged.body.scores, ...rest.body.scores]).toEqual(body.scores);
    expect((await rig.ask("pillarScores", { pillar: "tenant", page_token: paged.body.page_token })).status).toBe(400);
  });

  it("takes changes of the map from the next tick on", async () => {
    const rig = await Rig.open({ vectorizerIntervalMs: TICK_MS });
    await put(rig, MAP);
    behave(rig, { cart: [1, 0, 0, 0], pay: [1, 0, 0, 0], find: [1, 0, 0, 0] });
    await tick(rig);
    await put(rig, [{ service_id: "find", product_id: "shop", custom_keys: { region: "" } }]);
    await tick(rig);
    const { body } = await rig.ask("pillarScores");
    const members = body.scores.map((one: { value: string; members: number; evaluated: number }) => [
      one.value,
      one.members,
      one.evaluated,
    ]);
    expect(members).toEqual([
      ["eu", 1, 1],
      ["shop", 3, 3],
      ["acme", 2, 2],
    ]);
  });

  it("goes on after a restart with the history that is stored", async () => {
    const rig = await Rig.open({ vectorizerIntervalMs: TICK_MS });
    await put(rig, MAP);
    const minutes = (3 * PILLAR_HISTORY_STORE_MS) / TICK_MS;
    for (let minute = 0; minute < minutes; minute++) {
      behave(rig, { cart: [0.5, 0, 0, 0] });
      await tick(rig);
    }
    const restarted = await rig.restarted({ vectorizerIntervalMs: TICK_MS });
    behave(restarted, { cart: [5, 0, 0, 0] });
    await tick(restarted);
    const [eu] = (await restarted.ask("pillarScores", { value: "eu" })).body.scores;
    // At most ten minutes are lost.
    expect(eu.history_minutes).toBeGreaterThan(minutes - PILLAR_HISTORY_STORE_MS / TICK_MS);
    expect(eu.score).toBeGreaterThan(0.5);
  });

  it("is idle while nothing is mapped, ok after its ticks, behind where an engine does not answer", async () => {
    const rig = await Rig.open({ vectorizerIntervalMs: TICK_MS });
    const state = async () => (await rig.ask("status")).body.components.vectorizer;
    await rig.drain();
    expect(await state()).toBe("idle");
    await put(rig, MAP);
    behave(rig, { cart: [1, 0, 0, 0] });
    await tick(rig);
    expect(await state()).toBe("ok");
    const { body } = await rig.ask("status");
    expect(body.vectorizer).toMatchObject({ services: 3, services_evaluated: 1, pillar_values: 4, last_run: expect.any(String) });
    for (const engine of rig.engines) engine.isDead = true;
    for (let minute = 0; minute < 3; minute++) await tick(rig);
    expect(rig.counter("vectorizerFailures")).toBe(3);
    expect(await state()).toBe("behind");
    for (const engine of rig.engines) engine.isDead = false;
    await tick(rig);
    expect(await state()).toBe("ok");
    const off = await Rig.open();
    expect((await off.ask("status")).body.components.vectorizer).toBe("disabled");
  });
});
