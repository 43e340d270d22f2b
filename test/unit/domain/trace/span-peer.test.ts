// Calls to what sends no spans: a database, a broker, a third party, as the client's or producer's span names it.
import { describe, expect, it } from "vitest";
import type { OtlpSpan } from "../../../../src/domain/otlp/otlp-items.ts";
import { peerOfAttributes } from "../../../../src/domain/trace/span-peer.ts";
import { SPANS_START, SpanRig, spanOf } from "../../../support/span-rig.ts";

const CLIENT = 3;
const PRODUCER = 4;
const ARRIVAL = SPANS_START + 2_000;

type Fields = Parameters<typeof spanOf>[0];

const server = (fields: Fields) => spanOf({ kind: 2, ...fields });
const client = (fields: Fields) => spanOf({ kind: CLIENT, ...fields });

/** Calls of one unit of spans, as caller, callee, calls and errors. */
function callsOf(spans: readonly OtlpSpan[], more: readonly OtlpSpan[] = []): string[] {
  const rig = new SpanRig();
  rig.send(spans, ARRIVAL);
  rig.send(more, ARRIVAL + 1_000);
  return rig
    .edges(ARRIVAL + 60_000)
    .map(({ caller, callee, calls, errors, microseconds }) => `${caller.serviceId} ${callee.serviceId} ${calls} ${errors} ${microseconds}`)
    .sort();
}

describe("whom a span calls by its attributes", () => {
  it("is a database or broker under its bare name, its address, or what it is; a service that is named; a host outside", () => {
    const named: ReadonlyArray<readonly [Record<string, string>, string]> = [
      [{ "db.system.name": "postgresql", "server.address": "orders-db" }, "orders-db"],
      [{ "db.system": "mysql", "net.peer.name": "10.1.2.3" }, "10.1.2.3"],
      [{ "db.system": "redis", "server.address": "localhost" }, "redis"],
      [{ "db.system": "redis" }, "redis"],
      [{ "messaging.system": "kafka", "server.address": "Broker-1:9092" }, "Broker-1"],
      [{ "peer.service": "db" }, "db"],
      [{ "server.address": "api.bank.example" }, "api.bank.example"],
      [{ "server.address": "checkout" }, ""],
      [{ "server.address": "10.0.0.7" }, ""],
      [{ "db.system": "x", "server.address": "d".repeat(300) }, ""],
      [{ "http.route": "/" }, ""],
    ];
    for (const [attributes, name] of named) expect(peerOfAttributes(attributes), JSON.stringify(attributes)).toBe(name);
  });
});

describe("a call that nobody answers with a span", () => {
  const attributes = { "db.system.name": "postgresql", "server.address": "orders-db" };

  it("is one to whom its attributes name, with its duration and failure", () => {
    const spans = [server({ id: 1 }), client({ id: 2, parent: 1, attributes, statusCode: 2 }), client({ id: 3, parent: 1, attributes })];
    expect(callsOf(spans)).toEqual(["shop orders-db 2 1 200000"]);
  });

  it("is the called service's where that sends spans, whichever comes first, and the innermost one of the same service", () => {
    const call = client({ id: 2, attributes: { "peer.service": "pay" } });
    const answer = server({ id: 3, parent: 2, serviceId: "payment" });
    for (const [first, second] of [
      [call, answer],
      [answer, call],
    ] as const)
      expect(callsOf([first], [second])).toEqual(["shop payment 1 0 100000"]);
    const inner = client({ id: 4, parent: 2, attributes });
    expect(callsOf([call, inner])).toEqual(["shop orders-db 1 0 100000"]);
  });

  it("of a producer is one to the broker, whoever consumes; a span without such a name, or of a server, is none", () => {
    const produced = spanOf({ id: 2, kind: PRODUCER, attributes: { "messaging.system": "kafka", "server.address": "broker" } });
    const consumed = spanOf({ id: 3, parent: 2, serviceId: "mailer", kind: 5 });
    expect(callsOf([produced, consumed])).toEqual(["shop broker 1 0 100000", "shop mailer 1 0 100000"]);
    expect(callsOf([client({ id: 2 }), server({ id: 3, attributes })])).toEqual([]);
  });

  it("is counted once over a restart that reads the log again", () => {
    const rig = new SpanRig();
    rig.send([client({ id: 2, attributes })], ARRIVAL);
    rig.restart();
    rig.send([client({ id: 2, attributes }), client({ id: 5, attributes })], ARRIVAL + 1_000);
    expect(rig.edges(ARRIVAL + 60_000).map(({ callee, calls }) => [callee.serviceId, calls])).toEqual([["orders-db", 2]]);
  });
});
