import { describe, expect, it } from "vitest";
import { INHIBITION_EQUAL_MAX, INHIBITIONS_PER_TENANT_MAX } from "../../../../src/core/config/limits.ts";
import { answerSchema } from "../../../support/answer-schema.ts";
import { Rig } from "../../../support/coordinator-rig.ts";

const matcher = (value: string) => ({ name: "service_id", operator: "=", value });
const RULE = { source_matchers: [matcher("db")], target_matchers: [matcher("api")], equal: ["environment"], comment: "needs it" };
const create = (rig: Rig, body: unknown, tenant = "default") => rig.ask("createInhibition", {}, {}, tenant, body);

describe("inhibition rules", () => {
  it("are made, read, ended, and outlive a restart; each tenant has its own", async () => {
    const rig = await Rig.open();
    const made = await create(rig, RULE);
    expect(made).toMatchObject({ status: 201, body: RULE });
    answerSchema("createInhibition", 201).parse(made.body);
    const restarted = await rig.restarted();
    const path = { id: made.body.inhibition_id };
    expect((await restarted.ask("inhibition", {}, path)).body).toEqual(made.body);
    expect((await restarted.ask("inhibition", {}, path, "other")).status).toBe(404);
    expect((await restarted.ask("inhibitions", {}, {}, "other")).body).toMatchObject({ total: 0, inhibitions: [] });
    expect((await restarted.ask("deleteInhibition", {}, path, "other")).status).toBe(404);
    await restarted.coordinator.step();
    expect(restarted.counter("inhibitions")).toBe(1);
    expect((await restarted.ask("deleteInhibition", {}, path)).status).toBe(204);
    expect((await restarted.ask("deleteInhibition", {}, path)).status).toBe(404);
    expect((await (await restarted.restarted()).ask("inhibitions")).body.total).toBe(0);
  });

  it("are listed in the order in which they are asked, in pages", async () => {
    const rig = await Rig.open();
    for (const comment of ["first", "second", "third"]) {
      await create(rig, { ...RULE, comment });
      rig.nowMs += 1000;
    }
    const first = await rig.ask("inhibitions", { limit: "2" });
    answerSchema("inhibitions", 200).parse(first.body);
    const second = await rig.ask("inhibitions", { limit: "2", page_token: first.body.page_token });
    const comments = [...first.body.inhibitions, ...second.body.inhibitions].map(({ comment }) => comment);
    expect([comments, second.body.page_token, second.body.total]).toEqual([["first", "second", "third"], "", 3]);
    expect((await rig.ask("inhibitions", { limit: "2", page_token: first.body.page_token }, {}, "other")).status).toBe(400);
  });

  it("are as many as a tenant may have, and no more", async () => {
    const rig = await Rig.open();
    for (let i = 0; i < INHIBITIONS_PER_TENANT_MAX - 1; i++) await create(rig, RULE);
    const last = await create(rig, RULE);
    expect(last.status).toBe(201);
    const refused = await create(rig, RULE);
    expect([refused.status, refused.body.message]).toEqual([422, expect.stringContaining(`${INHIBITIONS_PER_TENANT_MAX}`)]);
    expect((await create(rig, RULE, "other")).status).toBe(201);
    await rig.ask("deleteInhibition", {}, { id: last.body.inhibition_id });
    expect((await create(rig, RULE)).status).toBe(201);
  });

  it("are refused with what is wrong", async () => {
    const rig = await Rig.open();
    const names = (count: number) => Array.from({ length: count }, (_, i) => `label_${i}`);
    expect((await create(rig, { ...RULE, equal: names(INHIBITION_EQUAL_MAX) })).status).toBe(201);
    const refusals = [
      [{ ...RULE, source_matchers: [] }, /source_matchers/],
      [{ ...RULE, target_matchers: [{ ...matcher("(a+"), operator: "=~" }] }, /pattern/],
      [{ ...RULE, target_matchers: [{ ...matcher("a"), name: "" }] }, /names no label/],
      [{ ...RULE, equal: names(INHIBITION_EQUAL_MAX + 1) }, /equal/],
      [{ ...RULE, equal: [""] }, /must not be empty/],
    ] as const;
    for (const [body, message] of refusals) {
      const answer = await create(rig, body);
      expect([answer.status, answer.body.message]).toEqual([400, expect.stringMatching(message)]);
    }
  });

  it("are in the audit log", async () => {
    const rig = await Rig.open();
    const { body } = await create(rig, RULE);
    await rig.ask("deleteInhibition", {}, { id: body.inhibition_id });
    const { entries } = (await rig.ask("audit", {})).body;
    expect(entries.map(({ action, object }: Record<string, unknown>) => [action, object])).toEqual([
      ["inhibition.delete", body.inhibition_id],
      ["inhibition.create", body.inhibition_id],
    ]);
    expect(entries[1]).toMatchObject({ before: null, after: RULE });
  });
});
