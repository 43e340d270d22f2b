// The kernel reads JSON records; whatever it does with a body must be what JSON.parse and judgeRecord make of it.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { batchText, damaged, recordText } from "../../../support/json-bodies.ts";
import { JsonRig } from "../../../support/json-rig.ts";

/** One pair of rigs for all bodies: streams that earlier bodies defined are known to later ones. */
const fast = new JsonRig({ kernelReads: true });
const slow = new JsonRig({ kernelReads: false });

type Options = Parameters<JsonRig["take"]>[1];

function agree(bytes: Uint8Array, options?: Options): void {
  const expected = slow.take(bytes, options);
  expect(fast.take(bytes, options)).toEqual(expected);
  expect(fast.take(bytes, options), "once its streams are known").toEqual(slow.take(bytes, options));
}

describe("JSON records", () => {
  it("are taken from batches as JSON.parse and judgeRecord take them", () => {
    const options = fc.record({ idempotencyKey: fc.constantFrom("", "key"), tenant: fc.nat(2) });
    fc.assert(
      fc.property(batchText, options, (text, given) => agree(Buffer.from(text), given)),
      { numRuns: 1500 },
    );
  });

  it("are taken one by one the same way", () => {
    fc.assert(
      fc.property(recordText, (text) => agree(Buffer.from(text), { batch: false })),
      { numRuns: 1500 },
    );
  });

  it("are refused with their body when its bytes are damaged, and nothing of it is kept", () => {
    fc.assert(
      fc.property(damaged(batchText), fc.boolean(), (bytes, batch) => agree(bytes, { batch })),
      { numRuns: 1500 },
    );
  });

  it("were read by the kernel for the most part", () => {
    const before = fast.handedOver;
    const usual = Buffer.from(
      `[${Array.from({ length: 100 }, (_, i) => `{"service_id":"s${i % 7}","type":"metric","metric_name":"m","value":${i / 7},"timestamp":"2026-11-21T11:59:${String(i % 60).padStart(2, "0")}.125Z","attributes":{"region":"eu","n":${i % 3},"ok":true}}`).join(",")}]`,
    );
    agree(usual);
    expect(fast.handedOver - before).toBe(21); // the first of each stream
  });
});
