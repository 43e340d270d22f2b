import { expect, it } from "vitest";
import { retryAfterMs } from "../../../../src/adapters/http-client/outbound-http.ts";

const NOW_MS = Date.UTC(2026, 0, 31, 12, 0, 0);
const AT = "Sat, 31 Jan 2026 12:00:07 GMT";

it.each([
  ["2", undefined, 2_000],
  [" 3600 ", undefined, 3_600_000],
  ["999999999", undefined, 86_400_000],
  [AT, undefined, 7_000],
  ["Saturday, 31-Jan-26 12:00:07 GMT", undefined, 7_000],
  ["Sat Jan 31 12:00:07 2026", undefined, 7_000],
  [AT, "Sat, 31 Jan 2026 12:00:02 GMT", 5_000], // its clock is two seconds ahead of ours
  [AT, "soon", 7_000],
  ["Sat, 31 Jan 2026 11:00:00 GMT", undefined, 0],
  ["Sat, 31 Jan 2099 11:00:00 GMT", undefined, 86_400_000],
])("Retry-After %s (Date %s) is %s ms", (retryAfter, date, ms) => {
  expect(retryAfterMs(retryAfter, date, NOW_MS)).toBe(ms);
});

it.each([undefined, "", "-5", "1.5", "soon", "Sat, soon", "2026-01-31T12:00:07Z"])("%s says nothing", (retryAfter) => {
  expect(retryAfterMs(retryAfter, undefined, NOW_MS)).toBeNull();
});
