// Room of a tenant for the patterns of its webhooks and of its runbooks.
import { expect, it } from "vitest";
import { SEARCHED_TABLE_BYTES_PER_TENANT_MAX } from "../../../../src/core/config/pattern-limits.ts";
import { PatternCache } from "../../../../src/domain/alerting/pattern/pattern-cache.ts";
import { searchedCapacityProblem } from "../../../../src/domain/webhooks/webhook.ts";

const matching = (serviceIdRegex: string | null) => ({ serviceIdRegex, metricNameRegex: null });

it("a hundred usual patterns have room, and one that many use counts once", () => {
  const usual = Array.from({ length: 100 }, (_, i) => matching(`^(checkout|payment|cart)-${i}-(eu|us)$`));
  expect(searchedCapacityProblem(new PatternCache(), [...usual, ...usual, matching(null)], "webhooks")).toBeNull();
});

it("patterns whose tables are too large together are refused in a sentence", () => {
  const patterns = { tableBytes: () => SEARCHED_TABLE_BYTES_PER_TENANT_MAX / 2 };
  expect(searchedCapacityProblem(patterns, [matching("a"), matching("b")], "runbooks")).toBeNull();
  expect(searchedCapacityProblem(patterns, [matching("a"), matching("b"), matching("c")], "runbooks")).toMatch(
    /^the patterns of your runbooks need 3072 KiB of memory with these; there are 2048: /,
  );
});
