import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BoundedQueue } from "../../../../src/core/collections/bounded-queue.ts";

describe("a bounded queue", () => {
  it("is an array that takes no more than its places", () => {
    const steps = fc.array(fc.oneof(fc.constant("take" as const), fc.integer()), { maxLength: 60 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), steps, (places, all) => {
        const queue = new BoundedQueue<{ n: number }>(places);
        const twin: Array<{ n: number }> = [];
        for (const step of all) {
          if (step === "take") expect(queue.take()).toBe(twin.shift());
          else {
            const value = { n: step };
            const fits = twin.length < places;
            if (fits) twin.push(value);
            expect(queue.put(value)).toBe(fits);
          }
          expect(queue.length).toBe(twin.length);
        }
      }),
    );
  });
});
