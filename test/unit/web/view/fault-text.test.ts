import { expect, it } from "vitest";
import { faultText } from "../../../../src/web/view/fault-text.ts";

it("B20: a form names the field of a failure once", () => {
  const fault = (message: string, field: string | null) => faultText(Object.assign(new Error(message), { field }));
  expect(fault("name: must be letters", "name")).toBe("name: must be letters");
  expect(fault('channels.0: "slack" is no notifier', "channels.0")).toBe('channels.0: "slack" is no notifier');
  expect(fault("there is a webhook of that name", "name")).toBe("name: there is a webhook of that name");
  expect(fault("too many", null)).toBe("too many");
  expect(faultText(new Error("offline"))).toBe("offline");
});
