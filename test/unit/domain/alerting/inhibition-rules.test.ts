// Inhibition rules of people: which alert keeps which others quiet, through the pipeline to a page; the index that findings ask.
import { describe, expect, it } from "vitest";
import {
  compileInhibition,
  type InhibitionRule,
  type InhibitionRules,
} from "../../../../src/domain/alerting/inhibition/inhibition-rule.ts";
import type { LabelMatcher } from "../../../../src/domain/alerting/label-matcher.ts";
import { PagingMemory } from "../../../../src/domain/alerting/paging/paging-memory.ts";
import { PatternCache } from "../../../../src/domain/alerting/pattern/pattern-cache.ts";
import { PAGING_START_MS, PagingRig } from "../../../support/paging-rig.ts";

const MINUTE_MS = 60_000;
const service = (value: string, operator: LabelMatcher["operator"] = "="): LabelMatcher => ({ name: "service_id", operator, value });
const rule = (change: Partial<InhibitionRule> = {}): InhibitionRule => ({
  id: "a".repeat(32),
  tenant: "default",
  sourceMatchers: [service("db")],
  targetMatchers: [service("checkout|cart", "=~")],
  equal: ["environment"],
  comment: "they need the database",
  ...change,
});

const patterns = new PatternCache();
/** Rules that a test may change. */
class Rules implements InhibitionRules {
  list: InhibitionRule[];

  constructor(...list: InhibitionRule[]) {
    this.list = list;
  }

  rulesOf(tenant: string) {
    return this.list.filter((one) => one.tenant === tenant).map((one) => compileInhibition(one, patterns));
  }
}

function rigOf(...list: InhibitionRule[]) {
  const rig = new PagingRig();
  const rules = new Rules(...list);
  rig.memory = new PagingMemory(undefined, rules);
  return { rig, rules };
}

describe("an inhibition rule", () => {
  it("keeps its targets quiet while its source fires, says so, and lets them page afterwards", () => {
    const { rig } = rigOf(rule());
    expect(rig.fire({ serviceId: "cart" })).toMatchObject({ outcome: "paged" });
    const source = rig.fire({ serviceId: "db", metricName: "up" });
    expect(source).toMatchObject({ outcome: "paged", suppressedBy: null });
    const held = rig.fire({ atMs: PAGING_START_MS + MINUTE_MS });
    expect(held).toMatchObject({ outcome: "suppressed", suppressedBy: "inhibited" });
    expect(held.explanation).toBe(
      `why (inhibited by ${"a".repeat(32)}, they need the database: while the metric alert on db in prod fires)`,
    );
    expect(rig.again(PAGING_START_MS + 2 * MINUTE_MS)).toEqual([]);
    rig.end(source, PAGING_START_MS + 3 * MINUTE_MS);
    expect(rig.again(PAGING_START_MS + 4 * MINUTE_MS)).toMatchObject([
      { outcome: "paged", serviceId: "checkout", alertId: held.alertId, explanation: "why" },
    ]);
  });

  it("asks for the same values of its equal labels, where a label that both lack is the same", () => {
    const zone = (value?: string) => ({ attributes: value === undefined ? {} : { zone: value } });
    const { rig } = rigOf(rule({ equal: ["environment", "zone"] }));
    rig.fire({ serviceId: "db", ...zone("a") });
    const outcomes = [zone("a"), zone("b"), zone(), { ...zone("a"), environment: "test" }].map(
      (change, i) => rig.fire({ ...change, serviceId: i % 2 === 0 ? "checkout" : "cart", detector: `detector-${i}` }).suppressedBy,
    );
    expect(outcomes).toEqual(["inhibited", null, null, null]);
    const { rig: bare } = rigOf(rule({ equal: ["environment", "zone"] }));
    bare.fire({ serviceId: "db" });
    expect(bare.fire()).toMatchObject({ suppressedBy: "inhibited" });
    expect(bare.fire({ serviceId: "cart", ...zone("a") })).toMatchObject({ suppressedBy: null });
  });

  it("does not take one value for the beginning of another", () => {
    const { rig } = rigOf(rule({ equal: ["x", "y"] }));
    rig.fire({ serviceId: "db", attributes: { x: "1", y: "2 3" } });
    expect(rig.fire({ attributes: { x: "1 2", y: "3" } })).toMatchObject({ suppressedBy: null });
    expect(rig.fire({ serviceId: "cart", attributes: { x: "1", y: "2 3" } })).toMatchObject({ suppressedBy: "inhibited" });
  });

  it("asks for all of its matchers, and for none of another tenant", () => {
    const sourceMatchers = [service("db"), { name: "severity", operator: "=", value: "high" } as const];
    const { rig } = rigOf(rule({ sourceMatchers }), rule({ id: "b".repeat(32), tenant: "other" }));
    rig.fire({ serviceId: "db", detector: "saturation", z: 2.1 });
    expect(rig.fire()).toMatchObject({ suppressedBy: null });
    rig.fire({ serviceId: "db", detector: "saturation", z: 3.1, metricName: "up" });
    expect(rig.fire({ serviceId: "cart" })).toMatchObject({ suppressedBy: "inhibited" });
    expect(rig.fire({ tenant: "other", serviceId: "cart" })).toMatchObject({ suppressedBy: null });
    expect(rig.fire({ serviceId: "search" })).toMatchObject({ suppressedBy: null });
  });

  it("never has an alert keep itself quiet, nor two that are both source and target each other", () => {
    const { rig } = rigOf(rule({ sourceMatchers: [service(".+", "=~")], targetMatchers: [service(".+", "=~")] }));
    expect(rig.fire({ serviceId: "db" })).toMatchObject({ outcome: "paged" });
    expect(rig.fire({ serviceId: "cart" })).toMatchObject({ outcome: "paged" });
    expect(rig.again(PAGING_START_MS + MINUTE_MS)).toEqual([]);
    // A source that is no target keeps those quiet which are both.
    const { rig: one } = rigOf(rule({ sourceMatchers: [service("db|cart", "=~")], targetMatchers: [service("cart|web", "=~")] }));
    one.fire({ serviceId: "db" });
    expect(one.fire({ serviceId: "cart" })).toMatchObject({ suppressedBy: "inhibited" });
    const { rig: other } = rigOf(rule({ sourceMatchers: [service("db|cart", "=~")], targetMatchers: [service("cart|web", "=~")] }));
    other.fire({ serviceId: "cart" });
    expect(other.fire({ serviceId: "cart", metricName: "up", z: 20 }).suppressedBy).not.toBe("inhibited");
    expect(other.fire({ serviceId: "web" })).toMatchObject({ suppressedBy: "inhibited" });
    expect(other.fire({ serviceId: "db" })).toMatchObject({ suppressedBy: null });
  });

  it("is in force from its making to its end, for what fires already too", () => {
    const { rig, rules } = rigOf();
    rig.fire({ serviceId: "db" });
    expect(rig.fire()).toMatchObject({ suppressedBy: null });
    rules.list = [rule()];
    rig.memory.rulesChanged("default");
    expect(rig.fire({ serviceId: "cart" })).toMatchObject({ suppressedBy: "inhibited" });
    rules.list = [];
    rig.memory.rulesChanged("default");
    expect(rig.again(PAGING_START_MS + MINUTE_MS)).toMatchObject([{ outcome: "paged", serviceId: "cart" }]);
  });

  it("sees what the same transaction has changed, and forgets it with the transaction", () => {
    const { rig } = rigOf(rule());
    const base = rig.memory;
    rig.memory = new PagingMemory(base);
    const source = rig.fire({ serviceId: "db" });
    expect(rig.fire()).toMatchObject({ suppressedBy: "inhibited" });
    const taken = rig.memory;
    rig.memory = new PagingMemory(base);
    expect(rig.fire({ serviceId: "cart" })).toMatchObject({ suppressedBy: null });
    base.take(taken);
    rig.memory = new PagingMemory(base);
    expect(rig.fire({ serviceId: "cart" })).toMatchObject({ suppressedBy: "inhibited" });
    // Its end counts before it is taken over.
    rig.end(source, PAGING_START_MS + MINUTE_MS);
    expect(rig.fire({ serviceId: "cart", detector: "manual" })).toMatchObject({ suppressedBy: null });
  });

  it("is asked by the values of a finding, however many alerts fire", () => {
    const { rig, rules } = rigOf(
      rule({ sourceMatchers: [service("db-.*", "=~")], targetMatchers: [service("web-.*", "=~")], equal: ["zone"] }),
    );
    for (let i = 0; i < 2_000; i++) rig.fire({ serviceId: `db-${i}`, attributes: { zone: `zone-${i}` } });
    let asked = 0;
    const [compiled] = rules.rulesOf("default");
    rules.rulesOf = () => [{ ...(compiled as NonNullable<typeof compiled>), isTarget: () => ++asked > 0 }];
    const labels = { service_id: "web-1", zone: "zone-7", environment: "prod", family: "metric" };
    expect(rig.memory.ruleInhibitors.holdFor("default", labels)?.comment).toContain("db-7");
    expect(asked).toBe(1);
    expect(rig.memory.ruleInhibitors.holdFor("default", { ...labels, zone: "elsewhere" })).toBeUndefined();
    expect(asked).toBe(1);
  });
});
