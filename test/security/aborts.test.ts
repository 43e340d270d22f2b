/** Clients that go away, at any byte and at any moment of the server's, on every adapter: nothing but their own exchange ends, and no listener throws. */
import { readFileSync } from "node:fs";
import { afterEach, describe, expect, it } from "vitest";
import { GrpcServer } from "../../src/adapters/http/grpc/grpc-server.ts";
import type { HttpExchange, HttpHandler } from "../../src/adapters/http/http-server.ts";
import { readTlsIdentity } from "../../src/adapters/http/tls/tls-identity.ts";
import { type Fault, reportFaults } from "../../src/core/base/guard.ts";
import { Certificates } from "../support/certificates.ts";
import {
  CALL_MOMENTS,
  CONNECTION_ENDS,
  CUT_MOMENTS,
  callGrpc,
  cutConnection,
  leaveCall,
  recordGrpcCall,
} from "../support/cut-connections.ts";
import { HttpTestBench } from "../support/http-test-server.ts";

const LOGS = "/opentelemetry.proto.collector.logs.v1.LogsService/Export";
const CALL = { path: LOGS, message: Buffer.alloc(40, 7) };
const BODY_BYTES_MAX = 1000;
const LATER_MS = 3;

const later = (call: () => void) => setTimeout(call, LATER_MS);
const collect = (exchange: HttpExchange, then: () => void) => exchange.collectBody(BODY_BYTES_MAX, then);
const answer = (exchange: HttpExchange, status = 200) => exchange.respond(status, [["Retry-After", "1"]], "answer");

/** What a handler does before and behind its answer: each leaves other moments at which a client may be gone. */
const HANDLERS: Readonly<Record<string, HttpHandler>> = {
  "answers once it has the body": (exchange) => collect(exchange, () => answer(exchange)),
  "answers later": (exchange) => collect(exchange, () => later(() => answer(exchange))),
  "refuses at once": (exchange) => void answer(exchange, 401),
  "refuses later": (exchange) => collect(exchange, () => later(() => answer(exchange, 503))),
  "is held": (exchange) => {
    const goOn = exchange.hold();
    later(() => goOn(() => collect(exchange, () => answer(exchange))));
  },
  "is held, then refuses": (exchange) => {
    const goOn = exchange.hold();
    later(() => goOn(() => answer(exchange, 429)));
  },
  "answers who is gone": (exchange) => {
    exchange.onAbort(() => answer(exchange));
    collect(exchange, () => answer(exchange));
  },
};

const bench = new HttpTestBench();
let faults: Fault[] = [];
let stopCounting = () => {};
let servers: GrpcServer[] = [];

/** A server of gRPC on a free port. */
async function serveGrpc(handler: HttpHandler, tls?: Parameters<typeof readTlsIdentity>[0]): Promise<number> {
  const identity = tls && readTlsIdentity(tls, Date.now());
  const server = new GrpcServer({ ...bench.options(), tls: identity }, handler);
  servers.push(server);
  return (await server.listen("127.0.0.1", 0)).port;
}

function count(): void {
  faults = [];
  stopCounting = reportFaults((fault) => faults.push(fault));
}

afterEach(async () => {
  await Promise.all(servers.map((server) => server.drain(0)));
  servers = [];
  await bench.close();
  stopCounting();
});

describe("gRPC", () => {
  it.each(Object.keys(HANDLERS))("a client cut off at every byte, before a handler that %s", async (name) => {
    count();
    const port = await serveGrpc(HANDLERS[name] as HttpHandler);
    const origin = `http://127.0.0.1:${port}`;
    const bytes = await recordGrpcCall(port, CALL);
    for (let cut = 0; cut <= bytes.length; cut += 16) {
      const some = Array.from({ length: Math.min(16, bytes.length + 1 - cut) }, (_, index) => cut + index);
      await Promise.all(
        some.map((length) =>
          cutConnection(
            port,
            bytes.subarray(0, length),
            CONNECTION_ENDS[length % CONNECTION_ENDS.length] as (typeof CONNECTION_ENDS)[number],
            CUT_MOMENTS[length % CUT_MOMENTS.length] as (typeof CUT_MOMENTS)[number],
          ),
        ),
      );
    }
    expect(await callGrpc(origin, LOGS, CALL.message)).toMatch(/^\d+$/);
    expect([...bench.faults, ...faults]).toEqual([]);
  });

  it.each(Object.keys(HANDLERS))("a call left at every moment, before a handler that %s", async (name) => {
    count();
    const port = await serveGrpc(HANDLERS[name] as HttpHandler);
    const origin = `http://127.0.0.1:${port}`;
    for (const moment of CALL_MOMENTS)
      for (const resets of [false, true]) await Promise.all([1, 2, 3].map(() => leaveCall(origin, CALL, { moment, resets })));
    expect(await callGrpc(origin, LOGS, CALL.message)).toMatch(/^\d+$/);
    expect([...bench.faults, ...faults]).toEqual([]);
  });

  it("calls left at every moment over TLS, with a client certificate and without", async () => {
    count();
    const certificates = new Certificates();
    try {
      const own = certificates.signed("server");
      const sender = certificates.signed("sender");
      const ca = readFileSync(certificates.authority.certificate);
      const files = { TLS_CERT_FILE: own.certificate, TLS_KEY_FILE: own.key, TLS_CLIENT_CA_FILE: certificates.authority.certificate };
      const port = await serveGrpc(HANDLERS["refuses later"] as HttpHandler, files);
      const origin = `https://127.0.0.1:${port}`;
      const shown = { ca, cert: readFileSync(sender.certificate), key: readFileSync(sender.key) };
      for (const options of [{ ca }, shown])
        for (const moment of CALL_MOMENTS) for (const resets of [false, true]) await leaveCall(origin, CALL, { moment, resets, options });
      for (const end of CONNECTION_ENDS) await cutConnection(port, Buffer.from([0x16, 3, 1, 2]), end, "a turn later");
      expect(await callGrpc(origin, LOGS, CALL.message, shown)).toBe("14");
      expect([...bench.faults, ...faults]).toEqual([]);
    } finally {
      certificates.close();
    }
  });
});
