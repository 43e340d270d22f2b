// What holds for the body of every endpoint, by their declarations: bounded lists, objects of any names without a prototype, a size of its own.
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { boundsOf, partsOf } from "../../../src/api/body-parsing.ts";
import type { Endpoint } from "../../../src/api/endpoint.ts";
import { ENDPOINTS } from "../../../src/api/endpoints.ts";
import { readSteps } from "../../../src/api/schema-steps.ts";
import { WEBHOOK_ALERTS_PER_REQUEST_MAX } from "../../../src/core/config/analysis-limits.ts";
import { OBJECT_BODY_BYTES_MAX } from "../../../src/core/config/body-limits.ts";

const MIB = 1024 * 1024;
const bodied: readonly Endpoint[] = ENDPOINTS.filter((endpoint: Endpoint) => endpoint.body !== undefined);
const named = (name: string) => bodied.find((endpoint) => endpoint.name === name) as Endpoint;

/** The result of a reading, and the steps that it took. */
function read(schema: z.ZodType, value: unknown) {
  const steps = readSteps(schema, value);
  for (let count = 1; ; count++) {
    const step = steps.next();
    if (step.done === true) return { ...step.value, count };
  }
}

describe("bodies", () => {
  it.each(bodied)("of $method $path have a maximum for each of their lists", ({ body }) => {
    for (const part of partsOf(body as z.ZodType)) {
      if (!(part instanceof z.ZodArray)) continue;
      const maxima = (part.def.checks ?? []).filter((check) => (check._zod.def as { maximum?: number }).maximum !== undefined);
      expect(maxima).not.toEqual([]);
    }
  });

  it.each(bodied.filter(({ examples }) => examples?.body !== undefined))("of $method $path hold their example, as it is", (endpoint) => {
    const { body, examples, bodyBytesMax = OBJECT_BODY_BYTES_MAX } = endpoint;
    expect(JSON.stringify(examples?.body).length).toBeLessThan(bodyBytesMax);
    if (endpoint.bodyTypes === undefined) expect(read(body as z.ZodType, examples?.body)).toMatchObject({ ok: true });
  });

  it("are of 16 KiB where one object is written, and of 4 MiB or more where many are", () => {
    const large = [
      "setServiceMap",
      "importCatalog",
      "importConfiguration",
      "createRoutingRule",
      "createInhibition",
      "backtest",
      "alertWebhook",
    ];
    for (const name of large) expect(named(name).bodyBytesMax).toBeGreaterThanOrEqual(4 * MIB);
    const small = [
      "acknowledgeAlert",
      "assignAlert",
      "setLabel",
      "declareLimit",
      "declareAnomaly",
      "changeAnomaly",
      "createKey",
      "createUser",
      "setPageBudget",
    ];
    const declared = bodied.filter(({ name }) => small.includes(name));
    expect(declared.length).toBeGreaterThan(5);
    for (const { bodyBytesMax } of declared) expect(bodyBytesMax).toBeUndefined();
    expect(OBJECT_BODY_BYTES_MAX).toBe(16 * 1024);
  });

  it("are bounded by their longest list", () => {
    expect(boundsOf(named("alertWebhook").body as z.ZodType).entriesMax).toBe(WEBHOOK_ALERTS_PER_REQUEST_MAX);
    expect(WEBHOOK_ALERTS_PER_REQUEST_MAX).toBe(2_000);
  });
});

const ENTRY = z.strictObject({ name: z.string(), labels: z.record(z.string(), z.string()).optional() });
const LISTED = z.strictObject({
  entries: z.array(ENTRY).max(1_000),
  inner: z.strictObject({ numbers: z.array(z.int()).min(1).max(5).default([1]) }).optional(),
  labels: z.record(z.string(), z.unknown()).optional(),
});
const UNIQUE = LISTED.refine(({ entries }) => new Set(entries.map(({ name }) => name)).size === entries.length, "has a name twice");

describe("a reading entry by entry", () => {
  it("ends at the first entry at fault", () => {
    const good = { name: "a" };
    const { count, ...outcome } = read(LISTED, { entries: [good, good, ...Array(900).fill({})] });
    expect(outcome).toMatchObject({ ok: false, issue: { path: ["entries", 2, "name"] } });
    expect(count).toBe(3);
  });

  it("says what is wrong with the whole once its entries are right", () => {
    expect(read(UNIQUE, { entries: [{ name: "a" }, { name: "a" }] })).toMatchObject({ ok: false, issue: { message: "has a name twice" } });
    expect(read(UNIQUE, { entries: [null, { name: "a" }] })).toMatchObject({ ok: false, issue: { path: ["entries", 0] } });
    expect(read(UNIQUE, { entries: Array(1_001).fill(null) })).toMatchObject({ ok: false, issue: { code: "too_big", path: ["entries"] } });
  });

  it("gives the value that the schema gives", () => {
    for (const value of [
      { entries: [] },
      { entries: [{ name: "a", labels: { b: "c" } }], inner: {} },
      { entries: [], inner: { numbers: [3] } },
    ])
      expect(read(UNIQUE, value)).toMatchObject({ ok: true, value: UNIQUE.parse(value) });
  });

  it("gives objects of any names no prototype, however deep", () => {
    const value = JSON.parse(
      '{"entries":[{"name":"a","labels":{"constructor":"x"}}],"labels":{"toString":{"valueOf":1},"list":[{"a":1}]}}',
    );
    const outcome = read(LISTED, value);
    const made = (outcome.ok ? outcome.value : {}) as z.output<typeof LISTED>;
    const deep = made.labels as Record<string, Record<string, unknown> & unknown[]>;
    for (const object of [made.entries[0]?.labels, deep, deep.toString, deep.list?.[0]]) expect(Object.getPrototypeOf(object)).toBeNull();
    expect(made.entries[0]?.labels?.constructor).toBe("x");
    expect(made.entries[0]?.labels?.hasOwnProperty).toBeUndefined();
  });
});
