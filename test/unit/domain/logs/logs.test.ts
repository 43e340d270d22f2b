import { describe, expect, it } from "vitest";
import type { Attributes } from "../../../../src/core/protocol/coordinator-frame.ts";
import { maskedText } from "../../../../src/domain/logs/masked-text.ts";
import { SEVERITIES, severityOf, severityOfAttributes } from "../../../../src/domain/logs/severity.ts";
import { TEMPLATES_MAX, TemplateTree } from "../../../../src/domain/logs/template-tree.ts";

describe("severity", () => {
  it("is that of OpenTelemetry's numbers, else of the text", () => {
    expect([0, 1, 4, 5, 9, 12, 13, 17, 20, 21, 24, 25].map((number) => SEVERITIES[severityOf(number, "")])).toEqual([
      "UNSPECIFIED",
      "TRACE",
      "TRACE",
      "DEBUG",
      "INFO",
      "INFO",
      "WARN",
      "ERROR",
      "ERROR",
      "FATAL",
      "FATAL",
      "UNSPECIFIED",
    ]);
    expect(["Warning", "ERR", "info2", "CRITICAL", "what", "constructor"].map((text) => SEVERITIES[severityOf(0, text)])).toEqual([
      "WARN",
      "ERROR",
      "INFO",
      "FATAL",
      "UNSPECIFIED",
      "UNSPECIFIED",
    ]);
  });

  it.each([
    [{ level: "warn" }, "WARN"],
    [{ level: "warn", severity: "error" }, "ERROR"],
    [{ severity_number: 9 }, "INFO"],
    [{ level: { a: 1 } }, "UNSPECIFIED"],
    [JSON.parse('{"__proto__": "error"}'), "UNSPECIFIED"],
  ])("of attributes %o is %s", (attributes, severity) => {
    expect(SEVERITIES[severityOfAttributes(attributes as Attributes)]).toBe(severity);
  });
});

describe("masked text", () => {
  it.each([
    ["took 12.5 ms for user42", "took <num> ms for user<num>"],
    ["GET /cart/00f067aa0ba902b7 from 10.0.3.4:8080", "GET /cart/<hex> from <ip>:<num>"],
    ['cannot open "/var/lib/a b" twice', "cannot open <str> twice"],
    ["user 'jane' isn't here", "user <str> isn't here"],
    ["id 6f1c2e4a-0b1d-4a67-9d7e-0a1b2c3d4e5f at 0xDEADBEEF", "id <uuid> at <hex>"],
    ["first\nsecond 2", "first"],
    ["  many   spaces\there ", "many spaces here"],
    ["deadline facade", "deadline facade"],
    ["", ""],
  ])("of %j is %j", (text, masked) => {
    expect(maskedText(text)).toBe(masked);
  });

  it("is bounded, and made in time that grows with the length only", () => {
    for (const text of ["'".repeat(8192), '"'.repeat(8191), "a1".repeat(4096), "1.".repeat(4096), "\u{1f600}".repeat(4096)]) {
      expect(maskedText(text).length).toBeLessThanOrEqual(300);
    }
  });
});

describe("templates", () => {
  const tree = () => new TemplateTree((tokens) => ({ tokens }));

  it("merge texts of the same form and keep others apart", () => {
    const templates = tree();
    const texts = [
      "order <num> placed by jane",
      "order <num> placed by joe",
      "order <num> failed at checkout",
      "cache miss",
      "order <num> placed by ann",
    ];
    const found = texts.map((text) => templates.take(text));
    expect(found[1]).toBe(found[0]);
    expect(found[4]).toBe(found[0]);
    expect(found[0]?.tokens.join(" ")).toBe("order <num> placed by <*>");
    expect([...templates].length).toBe(3);
  });

  it("stay as they are when a text comes again", () => {
    const templates = tree();
    const first = templates.take("a b c");
    for (let i = 0; i < 3; i++) expect(templates.take("a b c")).toBe(first);
    expect(first?.tokens).toEqual(["a", "b", "c"]);
  });

  it("are bounded, and make room when some are forgotten", () => {
    const templates = tree();
    const word = (i: number) => String.fromCharCode(97 + (i % 26), 97 + (Math.floor(i / 26) % 26));
    for (let i = 0; i < TEMPLATES_MAX; i++) expect(templates.take(`${word(i)} only`)).toBeDefined();
    expect(templates.take("zz zz zz")).toBeUndefined();
    templates.forget(({ tokens }) => tokens[0] === "aa");
    expect(templates.size).toBe(TEMPLATES_MAX - 1);
    expect(templates.take("zz zz zz")).toBeDefined();
  });
});
