import { expect, it } from "vitest";
import * as record from "../../../../src/core/layout/stream-record.ts";

it("no two flags of a stream's record share a bit", () => {
  const flags = Object.entries(record).filter(([name]) => name.startsWith("FLAG_") && !name.endsWith("_SHIFT"));
  let taken = 0;
  for (const [name, bits] of flags) {
    expect([name, taken & (bits as number)]).toEqual([name, 0]);
    taken |= bits as number;
  }
  expect(flags.length).toBeGreaterThan(20);
});
