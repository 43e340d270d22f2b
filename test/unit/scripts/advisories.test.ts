/** What `make check` makes of npm's report of advisories. */
import { expect, it } from "vitest";
// @ts-expect-error: scripts are JavaScript without declarations
import { readAdvisories } from "../../../scripts/advisories.mjs";

it("fails for grave advisories alone, and names them", () => {
  const via = [{ title: "Prototype pollution" }, "other"];
  const vulnerabilities = {
    grave: { severity: "critical", range: "<2.0.0", via },
    light: { severity: "moderate", range: "*", via: [] },
  };
  expect(readAdvisories(JSON.stringify({ auditReportVersion: 2, vulnerabilities }))).toEqual({
    failures: ["grave <2.0.0: critical: Prototype pollution; by other"],
    note: "1 of lesser weight",
  });
  expect(readAdvisories(JSON.stringify({ auditReportVersion: 2, vulnerabilities: {} }))).toEqual({
    failures: [],
    note: "0 of lesser weight",
  });
});

it.each([
  ["", "not asked: npm audit gave no report"],
  ['{"message":"405 Method Not Allowed - POST https://registry/","statusCode":405}', "not asked: 405 Method Not Allowed"],
  ['{"error":{"summary":"request to the registry failed"}}', "not asked: request to the registry failed"],
])("passes where nobody could be asked, and says so: %s", (report, note) => {
  expect(readAdvisories(report)).toEqual({ failures: [], note });
});
