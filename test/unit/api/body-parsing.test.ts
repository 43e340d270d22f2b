import { describe, expect, it } from "vitest";
import { z } from "zod";
import { bodySteps, jsonSteps, parseBody } from "../../../src/api/body-parsing.ts";
import { textParameter, timeField } from "../../../src/api/parameters.ts";
import { JSON_PARSED_BYTES_MAX } from "../../../src/core/config/body-limits.ts";
import { JSON_DEPTH_MAX } from "../../../src/core/config/limits.ts";
import { finished } from "../../../src/core/fairness/serial-work.ts";

const BODY = z.strictObject({
  name: z.string().min(1).max(64),
  rate: z.int().min(1).max(1000).optional(),
  share: z.number().gt(0).lt(1).optional(),
  scope: z.enum(["ingestion", "readonly"]).optional(),
  until: timeField().optional(),
  enabled: z.boolean().optional(),
  id: z
    .string()
    .regex(/^[a-z]+$/, "must be letters from a to z")
    .optional(),
  entries: z
    .array(z.strictObject({ service_id: z.string().min(1), keys: z.record(z.string().min(1).max(8), z.string()).optional() }))
    .max(3)
    .optional(),
});
const parseJson = <S extends z.ZodType>(schema: S, text: string | null) => finished(jsonSteps(schema, text));
const take = (value: unknown) => parseJson(BODY, typeof value === "string" ? value : JSON.stringify(value));

describe("bodies", () => {
  it("are taken as their schema reads them", () => {
    const body = { name: "a", rate: 5, until: "2026-01-31T12:00:00Z", entries: [{ service_id: "s", keys: { region: "eu" } }] };
    expect(take(body)).toEqual({ ok: true, value: { ...body, until: Date.UTC(2026, 0, 31, 12) } });
    expect(parseBody("anomalies", null)).toEqual({ ok: true, value: null });
  });

  it("B20: a refusal names its field once, also where the reader's message begins with it", () => {
    const named = z.strictObject({ tenant_id: textParameter("tenant_id"), of: z.strictObject({ name: z.string().min(1) }) });
    const refusal = (value: unknown) => {
      const read = parseJson(named, JSON.stringify(value));
      return read.ok ? null : [read.refusal.field, read.refusal.message];
    };
    expect(refusal({ tenant_id: "", of: { name: "x" } })).toEqual(["tenant_id", expect.stringMatching(/^tenant_id must have 1 to/)]);
    expect(refusal({ tenant_id: "t", of: { name: "" } })).toEqual(["of.name", expect.stringMatching(/^of\.name: [^:]*$/)]);
  });

  const refuses = (what: string, value: unknown, refusal: { code: string; message: string; field?: string; index?: number }) =>
    it(`refuse ${what}`, () => expect(take(value)).toEqual({ ok: false, refusal }));

  const invalid = (what: string, member: Record<string, unknown>, message: string) => {
    const [field] = Object.keys(member);
    refuses(what, { name: "a", ...member }, { code: "invalid_field", field: field as string, message: `${field}: ${message}` });
  };
  invalid("a text that is too long", { name: "x".repeat(65) }, "must have at most 64 characters, got 65");
  invalid("an empty text", { name: "" }, "must have at least 1 character, got 0");
  invalid("a number for a text", { name: 5 }, "must be text, got 5");
  invalid("null", { name: null }, "must be text, got null");
  invalid("a text for a number", { rate: "5" }, 'must be a number, got "5"');
  invalid("a broken number", { rate: 1.5 }, "must be a whole number, got 1.5");
  invalid("a number below", { rate: 0 }, "must be at least 1, got 0");
  invalid("a number above", { rate: 1001 }, "must be at most 1000, got 1001");
  invalid("a number at a bound that is not in", { share: 1 }, "must be less than 1, got 1");
  invalid("a choice that is none", { scope: "all" }, 'must be one of ingestion, readonly, got "all"');
  invalid("an object for a choice", { scope: {} }, "must be one of ingestion, readonly, got an object");
  invalid("a text for a truth", { enabled: "yes" }, 'must be true or false, got "yes"');
  invalid("an object for a list", { entries: {} }, "must be a list, got an object");
  invalid("a list for a text", { name: ["a"] }, "must be text, got a list");
  invalid("words of the schema's own", { id: "A" }, "must be letters from a to z");
  invalid("a long list", { entries: Array(4).fill({ service_id: "s" }) }, "must have at most 3 entries, got 4");

  refuses(
    "a moment that is none, with its own code",
    { name: "a", until: "tomorrow" },
    {
      code: "invalid_timestamp",
      field: "until",
      message: 'until: must be RFC 3339 such as 2026-01-31T12:00:00Z, got "tomorrow"',
    },
  );
  refuses("a member that is absent", {}, { code: "missing_field", field: "name", message: "name is absent; the body needs it" });
  refuses(
    "a member that nobody knows, before one that is absent",
    { nam: "a" },
    {
      code: "unknown_field",
      field: "nam",
      message: '"nam" is not a member of this body; leave it out',
    },
  );
  refuses(
    "a member of an entry, with its place",
    { name: "a", entries: [{ service_id: "s" }, { service_id: "" }] },
    {
      code: "invalid_field",
      field: "entries.1.service_id",
      index: 1,
      message: "entries.1.service_id: must have at least 1 character, got 0",
    },
  );
  refuses(
    "an absent member of an entry",
    { name: "a", entries: [{}] },
    {
      code: "missing_field",
      field: "entries.0.service_id",
      index: 0,
      message: "entries.0.service_id is absent; the body needs it",
    },
  );
  refuses(
    "an unknown member of an entry",
    { name: "a", entries: [{ service_id: "s", tenant: "x" }] },
    {
      code: "unknown_field",
      field: "entries.0.tenant",
      index: 0,
      message: '"entries.0.tenant" is not a member of this body; leave it out',
    },
  );
  it("refuse a name in a map that is too long", () =>
    expect(take({ name: "a", entries: [{ service_id: "s", keys: { "much too long": "x" } }] })).toMatchObject({
      ok: false,
      refusal: { code: "invalid_field", index: 0, message: expect.stringContaining("at most 8 characters, got 13") },
    }));

  it("do not reach prototypes", () => {
    expect(take('{"name":"a","__proto__":{"rate":5}}')).toMatchObject({
      ok: false,
      refusal: { code: "unknown_field", field: "__proto__" },
    });
    expect(take('{"name":"a","constructor":{"prototype":{"rate":5}}}')).toMatchObject({ ok: false, refusal: { field: "constructor" } });
    expect(take('{"__proto__":{"name":"a"}}')).toMatchObject({ ok: false });
    const nested = take('{"name":"a","entries":[{"service_id":"s","keys":{"__proto__":"x","a":"b"}}]}');
    expect(nested).toMatchObject({ ok: true, value: { entries: [{ keys: { a: "b" } }] } });
    expect(nested.ok && Object.getPrototypeOf(nested.value.entries?.[0]?.keys)).toBeNull();
    expect(({} as Record<string, unknown>).rate).toBeUndefined();
  });

  const notJson = (what: string, text: string | null, message: RegExp) =>
    it(`refuse ${what}`, () => {
      const outcome = parseJson(BODY, text);
      expect(outcome).toMatchObject({ ok: false, refusal: { code: "invalid_json" } });
      expect(!outcome.ok && outcome.refusal.message).toMatch(message);
    });
  notJson("none", null, /empty/);
  notJson("blanks", " \n\t", /empty/);
  notJson("half of one", '{"name":', /not JSON/);
  notJson("a list", "[]", /must be a JSON object/);
  notJson("a text", '"a"', /must be a JSON object/);
  notJson("null", "null", /must be a JSON object/);
  notJson("deep nesting", `${'{"a":'.repeat(JSON_DEPTH_MAX + 1)}1${"}".repeat(JSON_DEPTH_MAX + 1)}`, /levels deep/);
  notJson("very deep nesting", "[".repeat(100_000), /./);
  notJson("half of a character", '{"name":"\\ud800"}', /surrogate/);

  it("refuse numbers that are none any more", () => {
    expect(take('{"name":"a","rate":1e400}')).toMatchObject({ ok: false });
    expect(take('{"name":"a","rate":12345678901234567890}')).toMatchObject({ ok: false, refusal: { field: "rate" } });
    expect(take('{"name":"a","share":-1e308}')).toMatchObject({ ok: false, refusal: { field: "share" } });
  });

  it("have no long space around them", () => {
    const space = " ".repeat(2 * JSON_PARSED_BYTES_MAX);
    expect(take(space)).toMatchObject({ ok: false, refusal: { message: "the body is empty; send a JSON object" } });
    expect(take(`{"name":"a"}${space}`)).toMatchObject({ ok: false, refusal: { message: "the body ends in a long space; leave it out" } });
    expect(take(`  {"name":"a"}\n`)).toMatchObject({ ok: true });
  });

  it("lose the prototypes of objects of anything in steps", () => {
    const payload = { a: { b: Array.from({ length: 1_000 }, (_, index) => ({ __index: index })) } };
    const steps = bodySteps("correctDeadLetter", JSON.stringify(payload));
    let count = 0;
    for (let step = steps.next(); ; step = steps.next(), count++) {
      if (step.done !== true) continue;
      const { value } = step.value as unknown as { readonly value: typeof payload };
      expect(value.a.b).toHaveLength(1_000);
      for (const one of [value, value.a, value.a.b[999]]) expect(Object.getPrototypeOf(one)).toBeNull();
      break;
    }
    expect(count).toBeGreaterThanOrEqual(1_000);
  });
});
