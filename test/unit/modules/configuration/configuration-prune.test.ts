// What an import does besides writing: rules, deletion of what a document lacks, and the hash of what it was made of.
import { describe, expect, it } from "vitest";
import { answerSchema } from "../../../support/answer-schema.ts";
import { Rig } from "../../../support/coordinator-rig.ts";
import { withRuleWork } from "../../../support/rules-rig.ts";

const RULES = [{ name: "shop", rules: [{ alert: "Down", expr: "up == 0", for: "2m" }] }];
const DOCUMENT = {
  format: 1,
  detection_settings: [{ service_id: "checkout", z_threshold: 4 }],
  labels: [{ service_id: "checkout", key: "team", value: "payments" }],
  saturation_limits: [{ service_id: "checkout", metric: "heap", limit_value: 100, unit: "bytes" }],
  inhibitions: [
    {
      source_matchers: [{ name: "a", operator: "=", value: "b" }],
      target_matchers: [{ name: "c", operator: "=", value: "d" }],
      equal: ["service_id"],
    },
  ],
  routing_rules: [{ name: "pay", priority: 10, label_matchers: { team: "payments" }, channels: ["pager:payments"] }],
  webhooks: [{ name: "hook", url: "https://example.com/", secret: "s".repeat(16) }],
  runbooks: [{ id: "wait", name: "wait", steps: [{ type: "wait", seconds: 1 }] }],
  page_budgets: [{ team: "payments", pages_per_week: 3 }],
  calendar: [{ date: "2026-12-25", name: "Christmas", like: "weekend", yearly: true }],
  rule_groups: RULES,
};
const KINDS = Object.keys(DOCUMENT).filter((name) => name !== "format");

async function load(rig: Rig, document: object, query: Record<string, string> = {}, ifMatch?: string) {
  const principal = { tenant: "default", subject: "test", role: "admin" } as const;
  return withRuleWork(rig, rig.askAs(principal, "importConfiguration", { query, content: { format: 1, ...document }, ifMatch }));
}

const exported = async (rig: Rig) => (await rig.ask("exportConfiguration")).body;

describe("an import of the configuration with prune", () => {
  it("deletes what the sections of the document lack, of all kinds, and says so before", async () => {
    const rig = await Rig.open();
    expect((await load(rig, DOCUMENT)).body.problems).toEqual([]);
    const before = await exported(rig);
    answerSchema("exportConfiguration", 200).parse(before);
    const same = (await load(rig, before, { prune: "true" })).body;
    expect([same.changes, same.problems]).toEqual([[], []]);
    const empty = Object.fromEntries(KINDS.map((name) => [name, []]));
    const plan = (await load(rig, empty, { prune: "true", dry_run: "true" })).body;
    answerSchema("importConfiguration", 200).parse(plan);
    expect(plan.changes.map(({ section, action }: { section: string; action: string }) => [section, action]).sort()).toEqual(
      KINDS.map((name) => [name, "delete"]).sort(),
    );
    expect(await exported(rig)).toEqual(before);
    const done = (await load(rig, empty, { prune: "true" })).body;
    expect([done.problems, done.changes]).toEqual([[], plan.changes]);
    const after = await exported(rig);
    expect(KINDS.map((name) => after[name])).toEqual(KINDS.map(() => []));
    expect((await load(rig, before, { prune: "true" })).body.sections.rule_groups).toMatchObject({ created: 1, deleted: 0 });
  });

  it("deletes nothing without it, of sections that the document has not, nor where an entry cannot be used", async () => {
    const rig = await Rig.open();
    await load(rig, DOCUMENT);
    const before = await exported(rig);
    await load(rig, { labels: [], rule_groups: [] });
    await load(rig, {}, { prune: "true" });
    expect(await exported(rig)).toEqual(before);
    const wrong = (await load(rig, { rule_groups: [{ name: "other", rules: [{ alert: "A", exp: "up" }] }] }, { prune: "true" })).body;
    expect(wrong.sections.rule_groups).toEqual({ created: 0, changed: 0, unchanged: 0, refused: 1, deleted: 0 });
    expect(wrong.problems[0].message).toContain("field exp not found");
    expect(await exported(rig)).toEqual(before);
  });

  it("writes nothing where the configuration is another than that of the hash", async () => {
    const rig = await Rig.open();
    await load(rig, DOCUMENT);
    const before = await exported(rig);
    const labels = [{ service_id: "checkout", key: "team", value: "shop" }];
    expect((await load(rig, { labels }, {}, `"${before.hash}"`)).status).toBe(200);
    const late = await load(rig, { labels: [], rule_groups: [] }, { prune: "true" }, before.hash);
    expect([late.status, late.body.error]).toEqual([412, "precondition_failed"]);
    expect((await exported(rig)).rule_groups).toEqual(RULES);
    expect((await exported(rig)).hash).not.toBe(before.hash);
  });

  it("has one winner among those that import with the same hash at once, and others who write wait for it", async () => {
    const rig = await Rig.open();
    await load(rig, DOCUMENT);
    const { hash } = await exported(rig);
    const labels = (value: string) => [{ service_id: "checkout", key: "team", value }];
    const budgets = (pages: number) => [{ team: "payments", pages_per_week: pages }];
    const values = ["one", "two", "three"];
    const imports = values.map((value, at) => load(rig, { labels: labels(value), page_budgets: budgets(10 + at) }, {}, hash));
    const single = rig.ask("setLabel", {}, {}, "default", JSON.stringify(labels("single")[0]));
    const statuses = (await Promise.all(imports)).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([200, 412, 412]);
    expect((await single).status).toBeLessThan(300);
    const after = await exported(rig);
    expect(after.page_budgets).toEqual(budgets(10 + statuses.indexOf(200)));
    expect(after.labels).toEqual(labels("single"));
  });

  it("writes nothing where somebody changes a single setting at the same time", async () => {
    const rig = await Rig.open();
    await load(rig, DOCUMENT);
    const { hash } = await exported(rig);
    const single = rig.ask("setLabel", {}, {}, "default", JSON.stringify({ service_id: "checkout", key: "team", value: "single" }));
    const late = load(rig, { page_budgets: [{ team: "payments", pages_per_week: 9 }] }, {}, hash);
    expect([(await single).status, (await late).status]).toEqual([200, 412]);
    expect((await exported(rig)).page_budgets).toEqual(DOCUMENT.page_budgets);
  });
});
