import { describe, expect, it } from "vitest";
import { answerSchema } from "../../../support/answer-schema.ts";
import { Rig, START_MS } from "../../../support/coordinator-rig.ts";

const declare = (rig: Rig, body: unknown, tenant = "default") => rig.ask("declareLimit", {}, {}, tenant, body);

async function limits(rig: Rig, query: Record<string, string> = {}, tenant = "default"): Promise<string[]> {
  const all: string[] = [];
  for (let page_token = ""; ; ) {
    const { body } = await rig.ask("limits", { ...query, page_token }, {}, tenant);
    answerSchema("limits", 200).parse(body);
    for (const { service_id, metric, limit_value, unit } of body.limits) all.push(`${service_id ?? "*"} ${metric} ${limit_value} ${unit}`);
    page_token = body.page_token;
    if (page_token === "") return all;
  }
}

describe("saturation limits", () => {
  it("are declared for a service or a tenant, replaced, listed in pages, kept over a restart and removed", async () => {
    const rig = await Rig.open();
    const heap = { metric: "heap", limit_value: 100, unit: "bytes" };
    const first = await declare(rig, { ...heap, service_id: "b" });
    expect(first).toMatchObject({ status: 201, body: { service_id: "b", ...heap, updated_at: new Date(START_MS).toISOString() } });
    answerSchema("declareLimit", 201).parse(first.body);
    expect((await declare(rig, heap)).body.service_id).toBeNull();
    await declare(rig, { service_id: "a", metric: "heap", limit_value: 0.5 });
    await declare(rig, { metric: "connections", limit_value: 1e15, unit: "connections" });
    expect((await declare(rig, { ...heap, service_id: "b", limit_value: 200 })).status).toBe(200);
    expect((await declare(rig, { ...heap, service_id: "b", limit_value: 200 })).status).toBe(200);
    const expected = ["* connections 1000000000000000 connections", "* heap 100 bytes", "a heap 0.5 ", "b heap 200 bytes"];
    for (const limit of ["1", "2", "3", "4", "5"]) expect(await limits(rig, { limit })).toEqual(expected);
    expect(await limits(rig, { service: "b" })).toEqual(["b heap 200 bytes"]);
    expect(await limits(rig, { metric: "heap" })).toEqual(expected.slice(1));
    expect(await limits(rig, {}, "other")).toEqual([]);
    const restarted = await rig.restarted();
    expect(await limits(restarted)).toEqual(expected);
    expect((await restarted.ask("deleteLimit", { metric: "heap" })).status).toBe(204);
    expect((await restarted.ask("deleteLimit", { metric: "heap" })).status).toBe(404);
    expect((await restarted.ask("deleteLimit", { metric: "heap", service: "b" }, {}, "other")).status).toBe(404);
    expect((await restarted.ask("deleteLimit", { metric: "heap", service: "b" })).status).toBe(204);
    expect(await limits(restarted)).toEqual(["* connections 1000000000000000 connections", "a heap 0.5 "]);
    expect(restarted.counter("saturationLimits")).toBe(2);
  });

  it("are put back as they are listed", async () => {
    const rig = await Rig.open();
    await declare(rig, { metric: "heap", limit_value: 5, unit: "bytes" });
    await declare(rig, { service_id: "a", metric: "heap", limit_value: 7 });
    const { body } = await rig.ask("limits");
    for (const listed of body.limits) expect(await declare(rig, listed)).toEqual({ status: 200, body: listed });
    expect((await rig.ask("limits")).body).toEqual(body);
  });

  const refused: Array<[title: string, body: unknown, code: string, field: string | undefined]> = [
    ["zero", { metric: "heap", limit_value: 0 }, "invalid_field", "limit_value"],
    ["a negative number", { metric: "heap", limit_value: -1 }, "invalid_field", "limit_value"],
    ["a number beyond doubles", '{"metric":"heap","limit_value":1e999}', "invalid_field", "limit_value"],
    ["NaN", '{"metric":"heap","limit_value":NaN}', "invalid_field", "limit_value"],
    ["a text", { metric: "heap", limit_value: "100" }, "invalid_field", "limit_value"],
    ["no value", { metric: "heap" }, "missing_field", "limit_value"],
    ["no metric", { limit_value: 1 }, "missing_field", "metric"],
    ["an empty service", { service_id: "", metric: "heap", limit_value: 1 }, "invalid_field", "service_id"],
    ["a unit with a line break", { metric: "heap", limit_value: 1, unit: "a\nb" }, "invalid_field", "unit"],
    [
      "names that are too long together",
      { service_id: "s".repeat(1000), metric: "m".repeat(1000), limit_value: 1 },
      "bad_request",
      undefined,
    ],
    ["another tenant", { metric: "heap", limit_value: 1, tenant_id: "other" }, "unknown_field", "tenant_id"],
    ["a prototype", '{"metric":"heap","limit_value":1,"__proto__":{"unit":"x"}}', "unknown_field", "__proto__"],
  ];
  it.each(refused)("are refused with %s", async (_title, body, code, field) => {
    const rig = await Rig.open();
    const answer = await declare(rig, body);
    expect([answer.status, answer.body.error, answer.body.field]).toEqual([400, code, field]);
    expect(await limits(rig)).toEqual([]);
  });
});
