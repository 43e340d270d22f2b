import { describe, expect, it } from "vitest";
import { chartKey, chartTarget, isChartSignature } from "../../../../src/adapters/credentials/chart-signature.ts";

const NOW_MS = Date.parse("2026-01-31T12:00:00Z");
const DAY_MS = 86_400_000;
const KEY = chartKey("secret");
const CHART = { tenant: "default", alertId: "9a3c" };

function given(target: string) {
  const { searchParams } = new URL(target, "http://localhost");
  return { expires: searchParams.get("expires") as string, signature: searchParams.get("signature") as string };
}

describe("the address of a chart", () => {
  const signature = given(chartTarget(KEY, CHART, NOW_MS));

  it("is good for seven days", () => {
    expect(isChartSignature(KEY, CHART, signature, NOW_MS + 7 * DAY_MS - 1)).toBe(true);
    expect(isChartSignature(KEY, CHART, signature, NOW_MS + 7 * DAY_MS)).toBe(false);
  });

  it("is good for its alert, its tenant and its end alone, and of this server's secret", () => {
    const later = { ...signature, expires: String(Number(signature.expires) + 1) };
    expect(isChartSignature(KEY, CHART, later, NOW_MS)).toBe(false);
    expect(isChartSignature(KEY, { ...CHART, alertId: "9a3d" }, signature, NOW_MS)).toBe(false);
    expect(isChartSignature(KEY, { ...CHART, tenant: "acme" }, signature, NOW_MS)).toBe(false);
    expect(isChartSignature(chartKey("other"), CHART, signature, NOW_MS)).toBe(false);
    for (const odd of [
      "",
      "zz",
      signature.signature.slice(2),
      `${signature.signature}00`,
      `${signature.signature}0`,
      `${signature.signature}zz`,
    ])
      expect(isChartSignature(KEY, CHART, { ...signature, signature: odd }, NOW_MS)).toBe(false);
    for (const odd of ["", "NaN", "1e99", "Infinity"])
      expect(isChartSignature(KEY, CHART, { ...signature, expires: odd }, NOW_MS)).toBe(false);
  });
});
