import { describe, expect, it } from "vitest";
import { type PatchKind, patched } from "../../../../src/web/view/letter-patch.ts";

const PAYLOAD = { service_id: "importer", value: "12", extra: 1 };
const made = (kind: PatchKind, field: string, text = "", payload: unknown = PAYLOAD) => patched(payload, { kind, field, text });

describe("one correction for many dead letters", () => {
  it.each([
    ["number", "value", "", { ...PAYLOAD, value: 12 }],
    ["set", "value", "3.5", { ...PAYLOAD, value: 3.5 }],
    ["set", "metric_name", "rows", { ...PAYLOAD, metric_name: "rows" }],
    ["rename", "extra", "timestamp", { service_id: "importer", value: "12", timestamp: 1 }],
    ["remove", "extra", "", { service_id: "importer", value: "12" }],
  ] as const)("%s %s %s", (kind, field, text, expected) => {
    expect(made(kind, field, text)).toEqual(expected);
    expect(PAYLOAD).toEqual({ service_id: "importer", value: "12", extra: 1 });
  });

  it.each([
    ["number", "value", "", { value: "n/a" }],
    ["number", "value", "", { value: " " }],
    ["number", "value", "", { value: 12 }],
    ["number", "absent", "", PAYLOAD],
    ["set", "value", "12", { value: 12 }],
    ["rename", "extra", "", PAYLOAD],
    ["remove", "absent", "", PAYLOAD],
    ["remove", "", "", PAYLOAD],
    ["remove", "a", "", "a text"],
    ["remove", "0", "", ["a list"]],
    ["remove", "a", "", null],
  ] as const)("leaves what it has nothing to do with: %s %s %s of %j", (kind, field, text, payload) => {
    expect(made(kind, field, text, payload)).toBeUndefined();
  });

  it("keeps odd names as members of the payload itself", () => {
    const odd = made("set", "__proto__", "1", { a: 1 });
    expect(Object.keys(odd ?? {})).toEqual(["a", "__proto__"]);
    expect(Object.getPrototypeOf(odd)).toBe(Object.prototype);
  });
});
