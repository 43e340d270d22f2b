// What a receiver says back of what it was sent.
import { describe, expect, it } from "vitest";
import { secretParts, withoutSecrets } from "../../../../src/core/text/secret-mask.ts";

const SECRET = "HDR-SECRET-7c1f9d";

describe("a text without secrets", () => {
  it.each([
    ["the value", `no: Bearer ${SECRET}`],
    ["a word of it", `invalid token ${SECRET}!`],
    ["other letters' case", `invalid ${SECRET.toUpperCase()} or ${SECRET.toLowerCase()}`],
    ["base64", Buffer.from(SECRET).toString("base64")],
    ["base64 without its end", Buffer.from(SECRET).toString("base64url")],
    ["base64 of a text around it", Buffer.from(`user:${SECRET}:more`).toString("base64").slice(7, -7)],
    ["hex", Buffer.from(SECRET).toString("hex")],
    ["HEX", Buffer.from(SECRET).toString("hex").toUpperCase()],
  ])("has not %s", (_, text) => {
    expect(withoutSecrets(text, [`Bearer ${SECRET}`])).toContain("***");
    expect(withoutSecrets(text, [`Bearer ${SECRET}`]).toLowerCase()).not.toMatch(/7c1f9d|n2mxzjlk|376331/);
  });

  it("has a secret neither as it is in a URL nor as it is in JSON", () => {
    const secret = 'top "secret" of/all';
    const text = `${encodeURIComponent(secret)} ${JSON.stringify(secret)}`;
    expect(withoutSecrets(text, [secret])).toBe('*** "***"');
  });

  it("has no beginning of one at its end, where it was cut", () => {
    expect(withoutSecrets("no such token: HDR-SECRET-7", [SECRET])).toBe("no such token: ***");
    expect(withoutSecrets("no such token: HDR-S", [SECRET])).toBe("no such token: HDR-S");
  });

  it("is left as it is where it has none: what is short is no secret", () => {
    const text = "answered 400: yes, no (a|b) $& [c]";
    expect(withoutSecrets(text, ["", "no", "yes", "other-secret"])).toBe(text);
    expect(withoutSecrets("a (b|c)* d", ["(b|c)*"])).toBe("a *** d");
  });

  it("takes half characters", () => {
    expect(withoutSecrets("said \ud800abcdef", ["\ud800abcdef"])).toBe("said ***");
  });
});

it("the parts of a URL that nobody is shown stand behind its origin", () => {
  const url = "https://user:password@hooks.example.com/services/T0001/URLPATH-SECRET?key=QUERY-SECRET";
  const said = "cannot POST /services/T0001/URLPATH-SECRET?key=QUERY-SECRET at hooks.example.com: URLPATH-SECRET, QUERY-SECRET, password";
  expect(withoutSecrets(said, secretParts(url))).toBe("cannot POST *** at hooks.example.com: ***, ***, ***");
  expect(secretParts("https://example.com/").filter((part) => part !== "")).toEqual([]);
});
