/** An empty attribute of a metric is none, as an empty label of Prometheus is: JSON, OTLP and imports name the same stream with and without it. */
import { expect, it } from "vitest";
import { identityAttributes, sourceOf } from "../../../../src/domain/otlp/otlp-source.ts";
import { nameOfRecord } from "../../../../src/domain/series/stream-identity.ts";

const GIVEN = { zone: "", route: "/a", unset: null, list: [""], ["__proto__"]: "" };
const KEPT = { route: "/a", unset: null, list: [""] };

it("of a JSON record", () => {
  expect(nameOfRecord("t", "shop", "calls", { ...GIVEN, metric_type: "counter" }).attributes).toEqual(KEPT);
});

it("of a point of OTLP, which then has the instance of its resource", () => {
  const source = sourceOf({ "service.name": "shop", "host.name": "h" });
  expect(identityAttributes(source, { ...GIVEN, "host.name": "" })).toEqual({ ...KEPT, "host.name": "h" });
});
