import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { alertPage } from "../../../../src/domain/notification/decided-messages.ts";
import { parseRoute } from "../../../../src/web/view/location.ts";

describe("the link of a message (A1)", () => {
  it("is the alert's page of the user interface, and not the API", () => {
    expect(alertPage("https://vedette.example/base", "9a3c0f1e")).toBe("https://vedette.example/base/#/alert/9a3c0f1e");
  });

  it("is read back by the interface, whatever the id is", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), (id) => {
        const { hash } = new URL(alertPage("https://vedette.example", id));
        expect(parseRoute(hash).path).toEqual(["alert", id]);
      }),
    );
  });
});
