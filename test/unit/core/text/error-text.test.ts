/** What is said of what was thrown, whatever it is. */
import { expect, it } from "vitest";
import { causeMessageOf, errorOf, firstLineOf, messageOf, stackOf } from "../../../../src/core/text/error-text.ts";

const withoutStack = Object.assign(new Error("without a stack"), { stack: undefined });

it.each([
  {
    thrown: new Error("fetch failed", { cause: new Error("refused\nat once") }),
    message: "fetch failed",
    cause: "refused\nat once",
    line: "fetch failed",
  },
  { thrown: new Error("first\nsecond", { cause: "a text" }), message: "first\nsecond", cause: "first\nsecond", line: "first" },
  { thrown: "a text", message: "a text", cause: "a text", line: "a text" },
  { thrown: undefined, message: "undefined", cause: "undefined", line: "undefined" },
])("of $thrown", ({ thrown, message, cause, line }) => {
  expect(messageOf(thrown)).toBe(message);
  expect(causeMessageOf(thrown)).toBe(cause);
  expect(firstLineOf(thrown)).toBe(line);
  expect(errorOf(thrown).message).toBe(message);
});

it("keeps an error and its stack", () => {
  const error = new Error("made");
  expect(errorOf(error)).toBe(error);
  expect(stackOf(error)).toBe(error.stack);
  expect(stackOf(withoutStack)).toBe("without a stack");
  expect(stackOf(7)).toBe("7");
});
