import { describe, expect, it } from "vitest";
import { TENANTS_MAX } from "../../../../src/core/layout/memory-map.ts";
import { type Tenant, tenantOperation } from "../../../../src/modules/access/tenant-book.ts";
import { answerSchema } from "../../../support/answer-schema.ts";
import { DAY_MS, logMark, Rig, START_MS } from "../../../support/coordinator-rig.ts";

const ACME = { tenant_id: "acme", name: "Acme Corp", plan: "starter", contact_email: "ops@acme.example" };
const JANUARY = 2026 * 12;
const POSITION = { epoch: 1, lane: 0, segment: 0, offset: 100 };
const NO_EVENTS = { metric: 0, log: 0, trace: 0, event: 0, profile: 0, slo: 0 };

const create = (rig: Rig, body: unknown) => rig.ask("createTenant", {}, {}, "default", body);
const list = async (rig: Rig, query: Record<string, string> = {}) => (await rig.ask("tenants", query)).body;
const accessOf = (rig: Rig) => rig.messages.flatMap((message) => (message.type === "access" ? message.changes : []));

describe("tenants", () => {
  it("are created once, listed without their contact, and there after a restart", async () => {
    const rig = await Rig.open();
    expect(rig.coordinator.loadAccess()).toEqual([{ type: "tenant", tenant: { tenant: "default", plan: "enterprise" } }]);
    const answer = await create(rig, ACME);
    expect(answer).toEqual({
      status: 201,
      body: {
        tenant_id: "acme",
        name: "Acme Corp",
        plan: "starter",
        created_at: new Date(START_MS).toISOString(),
        contact_email: ACME.contact_email,
      },
    });
    expect(answerSchema("createTenant", 201).safeParse(answer.body).success).toBe(true);
    expect(accessOf(rig)).toEqual([{ type: "tenant", tenant: { tenant: "acme", plan: "starter" } }]);
    expect(await create(rig, { ...ACME, name: "Other" })).toMatchObject({ status: 409, body: { error: "conflict", field: "tenant_id" } });
    expect((await create(rig, { tenant_id: "default", name: "x", plan: "free" })).status).toBe(409);
    const again = await rig.restarted();
    for (const each of [rig, again]) {
      const { tenants, total, page_token } = await list(each);
      expect(tenants).toEqual([
        { tenant_id: "acme", name: "Acme Corp", plan: "starter", created_at: new Date(START_MS).toISOString(), events_this_month: 0 },
        { tenant_id: "default", name: "Default", plan: "enterprise", created_at: new Date(START_MS).toISOString(), events_this_month: 0 },
      ]);
      expect([total, page_token]).toEqual([2, ""]);
      expect(answerSchema("tenants", 200).safeParse({ tenants, total, page_token }).success).toBe(true);
    }
    expect(again.coordinator.loadAccess().map((change) => (change.type === "tenant" ? change.tenant.tenant : ""))).toEqual([
      "default",
      "acme",
    ]);
    expect(JSON.stringify(again.durable())).toContain("tenant.create");
  });

  it("are refused with the field at fault", async () => {
    const rig = await Rig.open();
    const cases: ReadonlyArray<readonly [unknown, string]> = [
      [{ ...ACME, tenant_id: "" }, "tenant_id"],
      [{ ...ACME, tenant_id: "a b" }, "tenant_id"],
      [{ ...ACME, tenant_id: "../x" }, "tenant_id"],
      [{ ...ACME, tenant_id: "__proto__" }, "tenant_id"],
      [{ ...ACME, tenant_id: "a".repeat(64) }, "tenant_id"],
      [{ ...ACME, tenant_id: "x\r\nSet-Cookie: a" }, "tenant_id"],
      [{ ...ACME, tenant_id: 7 }, "tenant_id"],
      [{ name: "x" }, "tenant_id"],
      [{ ...ACME, name: "" }, "name"],
      [{ ...ACME, name: "  " }, "name"],
      [{ tenant_id: "a", plan: "free" }, "name"],
      [{ ...ACME, plan: "gold" }, "plan"],
      [{ ...ACME, contact_email: "nobody" }, "contact_email"],
      [{ ...ACME, contact_email: `${"a".repeat(300)}@x.example` }, "contact_email"],
      [{ ...ACME, created_at: "2020-01-01T00:00:00Z" }, "created_at"],
      [{ ...ACME, events_this_month: 5 }, "events_this_month"],
    ];
    for (const [body, field] of cases)
      expect(await create(rig, body), JSON.stringify(body)).toMatchObject({ status: 400, body: { field } });
    expect((await list(rig)).total).toBe(1);
    expect((await create(rig, { tenant_id: "a", name: "A" })).body.plan).toBe("free");
  });

  it("change plan, name and contact at once, never their id", async () => {
    const rig = await Rig.open();
    await create(rig, ACME);
    const change = (id: string, body: unknown) => rig.ask("changeTenant", {}, { id }, "default", body);
    expect(await change("acme", { plan: "pro" })).toMatchObject({
      status: 200,
      body: { tenant_id: "acme", name: "Acme Corp", plan: "pro" },
    });
    expect(accessOf(rig).at(-1)).toEqual({ type: "tenant", tenant: { tenant: "acme", plan: "pro" } });
    expect(await change("acme", { name: "Acme" })).toMatchObject({ status: 200, body: { name: "Acme", plan: "pro" } });
    expect((await change("acme", { tenant_id: "other" })).status).toBe(400);
    expect((await change("nobody", { plan: "pro" })).status).toBe(404);
    expect((await list(await rig.restarted())).tenants[0]).toMatchObject({ tenant_id: "acme", name: "Acme", plan: "pro" });
  });

  it("come in pages by id, and no more than there is room for", async () => {
    const first = await Rig.open();
    const stored = Array.from({ length: TENANTS_MAX - 2 }, (_, i): Tenant => {
      return { id: `t${String(i).padStart(5, "0")}`, name: "T", plan: "free", contactEmail: null, createdMs: START_MS };
    });
    await first.control.commit(stored.map(tenantOperation));
    const rig = await first.restarted();
    expect((await create(rig, { tenant_id: "last", name: "Last" })).status).toBe(201);
    expect((await create(rig, ACME)).status).toBe(422);
    const ids: string[] = [];
    let token = "";
    do {
      const page = await list(rig, { limit: "999", ...(token !== "" && { page_token: token }) });
      ids.push(...page.tenants.map(({ tenant_id }: { tenant_id: string }) => tenant_id));
      token = page.page_token;
    } while (token !== "");
    expect([ids.length, new Set(ids).size, [...ids].sort()]).toEqual([TENANTS_MAX, TENANTS_MAX, ids]);
  });
});

describe("billing", () => {
  it("counts what log marks bring, by tenant, type and month, once", async () => {
    const rig = await Rig.open({ engines: 2 });
    await create(rig, ACME);
    const usage = (tenant: string, month: number, ...counts: number[]) => ({ tenant, month, counts });
    rig.engines[0]?.frames.push(logMark(POSITION, [usage("acme", JANUARY, 1, 2, 0, 0, 0, 3), usage("default", JANUARY, 5, 0, 0, 0, 0, 0)]));
    rig.engines[0]?.frames.push(
      logMark({ ...POSITION, offset: 200 }, [usage("acme", JANUARY, 10, 0, 0, 0, 0, 0), usage("acme", JANUARY - 1, 7, 0, 0, 0, 0, 0)]),
    );
    rig.engines[1]?.frames.push(logMark({ ...POSITION, lane: 1 }, [usage("acme", JANUARY, 100, 0, 0, 0, 0, 0)]));
    // The store refuses for a while: the frames are applied again.
    rig.series.failAll("ENOSPC");
    await rig.drain();
    rig.series.failAll(undefined);
    rig.monotonicMs += 10_000;
    await rig.drain();
    for (const each of [rig, await rig.restarted()]) {
      const { status, body } = await each.ask("billingUsage");
      expect(status).toBe(200);
      expect(body).toEqual({
        period: { month: "2026-01", start: "2026-01-01T00:00:00.000Z", end: "2026-02-01T00:00:00.000Z" },
        total_events: 121,
        tenants: [
          { tenant_id: "acme", name: "Acme Corp", plan: "starter", events: 116, by_type: { ...NO_EVENTS, metric: 111, log: 2, slo: 3 } },
          { tenant_id: "default", name: "Default", plan: "enterprise", events: 5, by_type: { ...NO_EVENTS, metric: 5 } },
        ],
        total: 2,
        complete: true,
        page_token: "",
      });
      expect(answerSchema("billingUsage", 200).safeParse(body).success).toBe(true);
      expect((await list(each)).tenants.map(({ events_this_month }: { events_this_month: number }) => events_this_month)).toEqual([116, 5]);
      expect((await each.ask("billingUsage", { month: "2025-12" })).body).toMatchObject({
        total_events: 7,
        tenants: [{ events: 7 }, { events: 0 }],
      });
      expect((await each.ask("billingUsage", { month: "2025-13" })).status).toBe(400);
    }
    rig.nowMs = Date.UTC(2026, 1, 1);
    expect((await list(rig)).tenants[0].events_this_month).toBe(0);
  });

  it("keeps three years of months", async () => {
    const rig = await Rig.open();
    const usage = (month: number) => ({ tenant: "default", month, counts: [1, 0, 0, 0, 0, 0] });
    await rig.take(logMark(POSITION, [usage(JANUARY), usage(JANUARY - 36), usage(JANUARY - 37), usage(JANUARY - 400)]));
    rig.monotonicMs += DAY_MS;
    await rig.drain();
    expect(rig.series.contents.get("usage")?.size).toBe(2);
    expect((await rig.ask("billingUsage", { month: "2023-01" })).body.total_events).toBe(1);
  });

  it("says when an engine did not tell what it has counted", async () => {
    const rig = await Rig.open({ engines: 2 });
    (rig.engines[1] as { isDead: boolean }).isDead = true;
    expect((await rig.ask("billingUsage")).body.complete).toBe(false);
  });

  it("pages through all tenants, with a token that is good for that month only", async () => {
    const rig = await Rig.open();
    for (const id of ["a", "b", "c"]) await create(rig, { tenant_id: id, name: id });
    const first = (await rig.ask("billingUsage", { limit: "2", month: "2026-01" })).body;
    expect(first.tenants.map(({ tenant_id }: { tenant_id: string }) => tenant_id)).toEqual(["a", "b"]);
    const next = (await rig.ask("billingUsage", { limit: "2", month: "2026-01", page_token: first.page_token })).body;
    expect([next.tenants.map(({ tenant_id }: { tenant_id: string }) => tenant_id), next.page_token]).toEqual([["c", "default"], ""]);
    expect((await rig.ask("billingUsage", { month: "2026-02", page_token: first.page_token })).status).toBe(400);
    expect((await rig.ask("tenants", { page_token: first.page_token })).status).toBe(400);
  });
});
