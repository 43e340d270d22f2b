import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TEMPLATE_OUTPUT_CHARACTERS_MAX } from "../../../../src/core/config/rule-limits.ts";
import { NO_LABELS } from "../../../../src/domain/promql/labels/labels.ts";
import { readRuleFile } from "../../../../src/domain/rules/file/rule-file.ts";
import { AlertTemplate } from "../../../../src/domain/rules/template/alert-template.ts";
import { exponentText, fixedText, generalText } from "../../../../src/domain/rules/template/go-float-text.ts";

const PIECES = [
  "{{",
  "}}",
  "{{-",
  " -}}",
  "$value",
  "$labels",
  ".",
  ".a",
  "if",
  "else",
  "end",
  "range",
  "with",
  "(",
  ")",
  "|",
  "printf",
  '"%v"',
];
const MORE_PIECES = [
  "5",
  "1.5",
  "eq",
  "index",
  "len",
  "slice",
  "humanize",
  ":=",
  "$x",
  ",",
  " ",
  "\n",
  "define",
  "template",
  '"T"',
  "{{/*",
  "*/}}",
  "x",
];
const world = { nowMs: 0, externalUrl: "", query: () => [] };

describe("templates", () => {
  it("of any pieces are read or refused, and expanded within bounds", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...PIECES, ...MORE_PIECES), { maxLength: 40 }), (pieces) => {
        const text = new AlertTemplate("A", pieces.join(" ")).expand({ labels: NO_LABELS, externalLabels: NO_LABELS, value: 1 }, world);
        expect(text.length).toBeLessThan(TEMPLATE_OUTPUT_CHARACTERS_MAX * 2);
      }),
    );
  });

  it("write floats that read as the same numbers", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(Number(exponentText(value, 17))).toBe(value);
        expect(Number(generalText(value, 17))).toBe(value);
        expect(Math.abs(Number(fixedText(value, 3)) - value)).toBeLessThanOrEqual(Math.max(0.0005, Math.abs(value) * 1e-15));
      }),
    );
  });
});

describe("files of rules", () => {
  it("of any text are read or refused", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."groups:- \n{}[]&*<!|>'\"#,?a1"), maxLength: 80 }), (text) => {
        const { groups, problems } = readRuleFile(text);
        expect(problems.length > 0 || Array.isArray(groups)).toBe(true);
      }),
    );
  });
});
