import { describe, expect, it } from "vitest";
import { type Sender, TenantAdmission } from "../../../../../src/actors/front/tenants/tenant-admission.ts";
import { KEY_BUCKETS_MAX } from "../../../../../src/core/config/limits.ts";
import { parsePlanRates } from "../../../../../src/domain/access/plans.ts";
import { TenantDirectory } from "../../../../../src/domain/access/tenant-directory.ts";

function gate(limits = "") {
  const clock = { ms: 5_000 };
  const announced: Array<readonly [number, string]> = [];
  const tenants = new TenantAdmission({
    monotonicMs: () => clock.ms,
    rates: parsePlanRates(limits),
    announce: (number, name) => announced.push([number, name]),
  });
  const put = (tenant: string, plan: string) => tenants.take([{ type: "tenant", tenant: { tenant, plan } }]);
  put("default", "enterprise");
  const admitted = (sender: Sender, requests: number, isIngestion = true) =>
    Array.from({ length: requests }, () => tenants.admit(sender, isIngestion)).filter((refusal) => refusal === undefined).length;
  return { clock, announced, tenants, put, admitted };
}

describe("the gate of tenants", () => {
  it("limits each tenant by its plan and by nobody else's requests; default is not limited", () => {
    const { put, admitted, clock, tenants } = gate();
    for (const [tenant, plan] of [
      ["f", "free"],
      ["g", "free"],
      ["s", "starter"],
      ["p", "pro"],
      ["e", "enterprise"],
    ] as const)
      put(tenant, plan);
    const counts = ["f", "g", "s", "p", "e", "default"].map((tenant) => admitted({ tenant }, 5_000));
    expect(counts).toEqual([10, 10, 100, 1_000, 5_000, 5_000]);
    clock.ms += 500;
    expect([admitted({ tenant: "f" }, 50), admitted({ tenant: "s" }, 500)]).toEqual([5, 50]);
    expect(tenants.admit({ tenant: "f" }, true)?.refusal).toMatchObject({
      code: "rate_limit_exceeded",
      message: /plan free.* 10 requests per second/,
    });
    expect(Object.fromEntries(tenants.limited)).toMatchObject({
      free: 4990 * 2 + 45 + 1,
      starter: 4900 + 450,
      pro: 4000,
      enterprise: 0,
      key: 0,
    });
    expect(admitted({ tenant: "f" }, 100, false)).toBe(100); // only telemetry counts
  });

  it("has a change of plan in force at once, and PLAN_LIMITS over the plans' own rates", () => {
    const { put, admitted, clock, tenants } = gate("free=20, pro=unlimited");
    put("a", "free");
    expect(admitted({ tenant: "a" }, 50)).toBe(20);
    put("a", "pro");
    expect(admitted({ tenant: "a" }, 50_000)).toBe(50_000);
    put("a", "starter");
    expect(admitted({ tenant: "a" }, 500)).toBe(100);
    expect(tenants.admit({ tenant: "a" }, true)?.refusal.message).toMatch(/plan starter.* 100 requests per second/);
    put("a", "free");
    expect(tenants.admit({ tenant: "a" }, true)?.refusal.message).toMatch(/plan free.* 20 requests per second/);
    put("a", "starter"); // another name, say
    expect(admitted({ tenant: "a" }, 500)).toBe(0);
    clock.ms += 1_000;
    expect(admitted({ tenant: "a" }, 500)).toBe(100);
  });

  it("limits each API key by its own rate, whatever it asks, without taking from the tenant for what the key refuses", () => {
    const { put, admitted, tenants } = gate();
    put("a", "starter");
    const key = (keyId: string, rateLimitRps: number | null) => ({ tenant: "a", keyId, rateLimitRps });
    expect([admitted(key("k", 7), 50), admitted(key("l", 3), 50, false), admitted(key("m", null), 500)]).toEqual([7, 3, 93]);
    expect(tenants.admit(key("k", 7), true)?.refusal).toMatchObject({
      code: "rate_limit_exceeded",
      message: /this API key allows 7 requests per second/,
    });
    expect(admitted({ tenant: "default", keyId: "d", rateLimitRps: 4 }, 50)).toBe(4);
    // What the tenant refuses is not taken from the key.
    expect(admitted(key("n", 5), 5)).toBe(0);
    expect(admitted(key("n", 5), 9, false)).toBe(5);
  });

  it("remembers no more keys than its bound", () => {
    const { admitted, clock } = gate();
    for (let i = 0; i < KEY_BUCKETS_MAX; i++) admitted({ tenant: "default", keyId: `k${i}`, rateLimitRps: 1 }, 1);
    expect(admitted({ tenant: "default", keyId: "k1", rateLimitRps: 1 }, 1)).toBe(0);
    clock.ms += 999;
    expect(admitted({ tenant: "default", keyId: "late", rateLimitRps: 1 }, 2)).toBe(1);
    expect(admitted({ tenant: "default", keyId: "late", rateLimitRps: 1 }, 1)).toBe(0);
  });

  it("gives numbers in order, tells of each once, and knows none that are not there", () => {
    const { put, tenants, announced } = gate();
    put("a", "free");
    put("b", "free");
    put("a", "pro");
    expect(announced).toEqual([
      [1, "a"],
      [2, "b"],
    ]);
    expect(tenants.names).toEqual(["default", "a", "b"]);
    tenants.take([{ type: "tenant-gone", tenant: "a" }]);
    expect([tenants.number("a"), tenants.numberOfAny("a"), tenants.number("nobody"), tenants.size]).toEqual([undefined, 1, undefined, 2]);
    put("a", "free");
    expect([tenants.number("a"), announced.length]).toEqual([1, 2]);
  });
});

describe("PLAN_LIMITS", () => {
  it("is refused where it is not plans with rates", () => {
    for (const text of [
      "gold=1",
      "free",
      "free=0",
      "free=-1",
      "free=1.5",
      "free=1,free=2",
      "free=1=2",
      "free=lots",
      "free=9999999",
      "__proto__=1",
    ])
      expect(() => parsePlanRates(text), text).toThrow(RangeError);
    expect(parsePlanRates(" starter = 5 ,")).toEqual({ free: 10, starter: 5, pro: 1_000, enterprise: Number.POSITIVE_INFINITY });
  });
});

describe("the directory of tenants", () => {
  it("is the same in every thread that learns in order, and refuses what would make them differ", () => {
    const directory = new TenantDirectory(["default"]);
    directory.learn(1, "__proto__");
    expect([directory.number("__proto__"), directory.name(1), directory.number("constructor"), directory.name(2)]).toEqual([
      1,
      "__proto__",
      undefined,
      undefined,
    ]);
    expect(() => directory.learn(3, "c")).toThrow(RangeError);
    expect(() => directory.learn(2, "default")).toThrow(RangeError);
  });
});
