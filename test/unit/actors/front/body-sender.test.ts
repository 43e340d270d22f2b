import { expect, it } from "vitest";
import { senderNumber } from "../../../../src/actors/front/ingestion.ts";

it("is the credential's, of requests without one the address's, and the same after a restart", () => {
  const never = () => {
    throw new Error("an address is a system call: with a credential nobody asks");
  };
  const at = (address: string) => senderNumber("local", true, () => address);
  const numbers = [senderNumber("key:a", false, never), senderNumber("key:b", false, never), at("127.0.0.1"), at("10.0.0.7")];
  expect(new Set(numbers).size).toBe(4);
  expect(numbers.every((number) => Number.isInteger(number) && number > 0 && number < 2 ** 32)).toBe(true);
  expect([senderNumber("key:a", false, never), at("10.0.0.7")]).toEqual([numbers[0], numbers[3]]);
});
