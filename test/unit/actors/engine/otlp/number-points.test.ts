// A resource that is refused for the name of an attribute, which is no part of a stream's identity: its points are refused too where their streams are known.
import { expect, it } from "vitest";
import { OTLP_NOW_MS, OtlpRig } from "../../../../support/otlp-rig.ts";
import { encodeRequest } from "../../../../support/otlp-schema.ts";

function request(attributeName: string): object {
  const attributes = [
    { key: "service.name", value: { stringValue: "shop" } },
    { key: attributeName, value: { stringValue: "a" } },
  ];
  const dataPoints = [{ asDouble: 1.5, timeUnixNano: `${OTLP_NOW_MS}000000` }];
  return { resourceMetrics: [{ resource: { attributes }, scopeMetrics: [{ metrics: [{ name: "depth", gauge: { dataPoints } }] }] }] };
}

const ENCODINGS = ["protobuf", "json"] as const;
const CASES = ENCODINGS.flatMap((encoding) => [true, false].map((kernelWalks) => [encoding, kernelWalks] as const));

it.each(CASES)("refuses points of known streams whose resource is refused: %s, the kernel walks: %s", (encoding, kernelWalks) => {
  const rig = new OtlpRig({ kernelWalks });
  const take = (given: object) =>
    rig.take(encoding === "json" ? Buffer.from(JSON.stringify(given)) : encodeRequest("metrics", given), "metrics", encoding);
  expect(take(request("zone")).rows).toHaveLength(1);
  const { answer, rows, frames } = take(request("zo\nne"));
  expect(rows).toEqual([]);
  expect(frames.map(({ envelope }) => [envelope.reason, envelope.field])).toEqual([["invalid_attributes", "resource.attributes"]]);
  expect(JSON.parse(answer.body as string)).toMatchObject({ rejected: 1 });
  expect(take(request("zone")).rows).toHaveLength(1);
});
