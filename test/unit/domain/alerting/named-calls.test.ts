// Calls that join services into a cascade where no spans are sent.
import { expect, it } from "vitest";
import { findCascades } from "../../../../src/domain/alerting/cascade.ts";
import { mayNameCallee, namedCalls } from "../../../../src/domain/alerting/named-calls.ts";

const finding = (serviceId: string, peer: string, metricName = "http_client_request_duration_seconds_p95") => ({
  serviceId,
  metricName,
  attributes: { "server.address": peer },
});

it("are those that findings on series of calls name, by the name of the service or its host", () => {
  const services = new Set(["web", "shop", "db"]);
  const calls = namedCalls([finding("web", "shop"), finding("shop", "db.internal:5432"), finding("shop", "bank.example.com")], services);
  expect(calls).toEqual([
    { caller: "web", callee: "shop" },
    { caller: "shop", callee: "db" },
  ]);
  const onsets = [...services].map((serviceId, i) => ({ serviceId, onsetMs: 1_000 * i }));
  expect(findCascades(onsets, calls)).toMatchObject([{ root: "db", members: ["web", "shop", "db"] }]);
});

it("are none of a service with itself, nor of series that are of no calls", () => {
  expect(mayNameCallee("queue_depth")).toBe(false);
  expect(namedCalls([finding("web", "web"), finding("web", "shop", "queue_depth")], new Set(["web", "shop"]))).toEqual([]);
});
