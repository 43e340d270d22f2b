// What `vedette routes test` says of an alert that nobody would be told of.
import { expect, it } from "vitest";
import { routeLines } from "../../../../src/cli/client/route-test.ts";

it("B19: says why nobody is told, of a rule without a channel and of one whose notifier is not configured", () => {
  const rule = { id: "catch-all", name: "catch-all" };
  expect(routeLines({ rule, resolved: [], skipped: [] } as never)).toEqual([
    "rule catch-all (catch-all)",
    expect.stringContaining("nobody would be told"),
  ]);
  const resolved = [{ channel: "chat:ops", target: null, fallback: false }];
  expect(routeLines({ rule, resolved, skipped: [] } as never)[1]).toContain("chat:ops: leads nowhere");
});
