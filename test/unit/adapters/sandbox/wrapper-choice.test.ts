// A start that fails once does not cost the wrapper.
import { expect, test } from "vitest";
import { WrapperChoice } from "../../../../src/adapters/sandbox/bubblewrap.ts";
import { SANDBOX_WRAPPER_CHECK_MS, SANDBOX_WRAPPER_FAILURES_MAX } from "../../../../src/core/config/sandbox-limits.ts";

const WRAPPER = ["/usr/bin/bwrap", "--"] as const;

test("a wrapper is given up after several failures in a row, and looked for again", () => {
  let nowMs = 0;
  let looks = 0;
  const choice = new WrapperChoice(
    () => {
      looks++;
      return WRAPPER;
    },
    () => nowMs,
  );
  choice.failed(choice.next());
  expect(choice.next()).toBe(WRAPPER);
  choice.started(WRAPPER);
  for (let i = 0; i < SANDBOX_WRAPPER_FAILURES_MAX - 1; i++) choice.failed(choice.next());
  expect(choice.next()).toBe(WRAPPER);
  choice.failed(WRAPPER);
  expect(choice.next()).toBeUndefined();
  choice.failed(undefined);
  nowMs += SANDBOX_WRAPPER_CHECK_MS;
  expect([choice.next(), looks]).toEqual([WRAPPER, 2]);
});
