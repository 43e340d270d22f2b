// Whatever the secret and wherever it stands, what is shown holds it in none of its forms.
import fc from "fast-check";
import { expect, test } from "vitest";
import { withoutSecrets } from "../../../../src/core/text/secret-mask.ts";

const secret = fc.string({ unit: fc.constantFrom(..."abcXYZ019-_.+/$^*()[]{}|\\\"'é€"), minLength: 8, maxLength: 40 });
const around = fc.string({ unit: "binary", maxLength: 30 });
const forms: ReadonlyArray<(value: string) => string> = [
  (value) => value,
  (value) => encodeURIComponent(value),
  (value) => JSON.stringify(value),
  (value) => Buffer.from(value).toString("hex"),
  (value) => Buffer.from(value).toString("base64"),
  (value) => Buffer.from(value).toString("base64url"),
];

test("no form of a secret is left in a text", () => {
  fc.assert(
    fc.property(fc.array(secret, { minLength: 1, maxLength: 4 }), around, around, fc.nat(3), (secrets, before, after, which) => {
      const hidden = secrets[which % secrets.length] as string;
      for (const form of forms) {
        const shown = withoutSecrets(`${before}${form(hidden)}${after}`, secrets);
        const core = form(hidden).replace(/^"|"$/g, "");
        expect(shown.includes(core) && !"***".includes(core)).toBe(false);
      }
    }),
  );
});

test("what stands before it in the same base64 text does not bring it through", () => {
  fc.assert(
    fc.property(secret, fc.uint8Array({ maxLength: 9 }), fc.uint8Array({ maxLength: 9 }), (hidden, before, after) => {
      const whole = Buffer.concat([before, Buffer.from(hidden), after]).toString("base64");
      const shown = withoutSecrets(`it was ${whole}!`, [hidden]).slice("it was ".length, -1);
      const parts = shown.split("***").map((part) => Buffer.from(part, "base64").toString("latin1"));
      expect(shown).toContain("***");
      for (const part of parts) expect(part.includes(Buffer.from(hidden).toString("latin1"))).toBe(false);
    }),
  );
});
