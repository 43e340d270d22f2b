import { describe, expect, it } from "vitest";
import { RULES_PER_GROUP_MAX } from "../../../../src/core/config/rule-limits.ts";
import { answerSchema } from "../../../support/answer-schema.ts";
import { Rig } from "../../../support/coordinator-rig.ts";
import { answerRuleWork, settled, withRuleWork } from "../../../support/rules-rig.ts";

const file = (name: string, ...rules: string[]) => `groups:\n- name: ${name}\n  rules:\n${rules.map((rule) => `  - ${rule}\n`).join("")}`;
const DOWN = "{alert: Down, expr: up == 0, for: 2m, labels: {severity: critical}}";

async function put(rig: Rig, name: string, body: string, tenant = "default") {
  return withRuleWork(rig, rig.ask("setRuleGroup", {}, { name }, tenant, body, "application/yaml"));
}

async function files(rig: Rig, texts: Readonly<Record<string, string>>, unread: readonly string[] = []) {
  await rig.coordinator.handle({ type: "rule-files", files: Object.entries(texts).map(([name, text]) => ({ file: name, text })), unread });
  await settled();
  await answerRuleWork(rig);
}

const names = async (rig: Rig, tenant = "default") =>
  (await rig.ask("ruleGroups", {}, {}, tenant)).body.rule_groups.map(
    (group: { file: string; name: string }) => `${group.file};${group.name}`,
  );

describe("groups of rules by the API", () => {
  it("are made, changed, ended, and outlive a restart; each tenant has its own", async () => {
    const rig = await Rig.open();
    const made = await put(rig, "shop", file("shop", DOWN));
    answerSchema("setRuleGroup", 201).parse(made.body);
    expect(made).toMatchObject({ status: 201, body: { name: "shop", source: "api", definition: { rules: [{ for: "2m" }] } } });
    expect((await put(rig, "shop", file("shop", DOWN))).status).toBe(200);
    expect((await put(rig, "shop", file("shop", DOWN), "other")).status).toBe(201);
    const restarted = await rig.restarted();
    expect((await restarted.ask("ruleGroup", {}, { name: "shop" })).body).toEqual(made.body);
    await restarted.coordinator.step();
    expect([restarted.counter("rules"), restarted.counter("ruleGroups")]).toEqual([2, 2]);
    expect((await restarted.ask("deleteRuleGroup", {}, { name: "shop" })).status).toBe(204);
    expect((await restarted.ask("deleteRuleGroup", {}, { name: "shop" })).status).toBe(404);
    expect([await names(restarted), await names(restarted, "other")]).toEqual([[], [";shop"]]);
    expect(await names(await restarted.restarted())).toEqual([]);
  });

  it("are refused with the lines of what is wrong, and of another name than the path's", async () => {
    const rig = await Rig.open();
    const wrong = await put(rig, "shop", file("shop", "{alert: Down, exp: up == 0}", "{alert: Down, expr: 'up =='}"));
    expect(wrong).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining("line 4: field exp not found in type rulefmt.Rule") },
    });
    expect((await put(rig, "other", file("shop", DOWN))).status).toBe(400);
    expect((await put(rig, "shop", "")).status).toBe(400);
    expect((await put(rig, "shop", file("shop", ...Array(RULES_PER_GROUP_MAX + 1).fill(DOWN)))).status).toBe(422);
    expect(await names(rig)).toEqual([]);
  });

  it("have room for as many rules as there may be", async () => {
    const rig = await Rig.open({ sharedLimits: { rules: 2 } });
    expect((await put(rig, "a", file("a", DOWN))).status).toBe(201);
    expect((await put(rig, "b", file("b", DOWN, DOWN))).status).toBe(422);
  });
});

describe("groups of rules of RULES_DIR", () => {
  it("follow their files, are not changed by the API, and keep what they were where a file is wrong", async () => {
    const rig = await Rig.open();
    await files(rig, { "a.yml": file("shop", DOWN), "b.yml": file("cart", DOWN) });
    expect(await names(rig)).toEqual(["a.yml;shop", "b.yml;cart"]);
    expect((await put(rig, "shop", file("shop", DOWN))).status).toBe(409);
    expect((await rig.ask("deleteRuleGroup", {}, { name: "shop" })).status).toBe(409);
    await files(rig, { "a.yml": "groups: [{name: shop, rule: []}]" });
    expect(await names(rig)).toEqual(["a.yml;shop"]);
    expect(rig.messages).toContainEqual(
      expect.objectContaining({ type: "log", level: "error", component: "rules", msg: expect.stringContaining("a.yml") }),
    );
    await files(rig, {}, ["EACCES: permission denied"]);
    expect(await names(rig)).toEqual(["a.yml;shop"]);
    await files(rig, {});
    expect(await names(rig)).toEqual([]);
    await rig.coordinator.step();
    expect(rig.counter("rules")).toBe(0);
  });

  it("are left out where the API has their name", async () => {
    const rig = await Rig.open();
    await put(rig, "shop", file("shop", DOWN));
    await files(rig, { "a.yml": `${file("shop", DOWN)}- name: cart\n  rules:\n  - ${DOWN}\n` });
    expect(await names(rig)).toEqual([";shop", "a.yml;cart"]);
  });
});
