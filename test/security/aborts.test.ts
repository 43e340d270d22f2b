/** Clients that go away, at any byte and at any moment of the server's, on every adapter: nothing but their own exchange ends, and no listener throws. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { type AddressInfo, connect, createServer } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { GrpcServer } from "../../src/adapters/http/grpc/grpc-server.ts";
import type { HttpExchange, HttpHandler } from "../../src/adapters/http/http-server.ts";
import { readTlsIdentity } from "../../src/adapters/http/tls/tls-identity.ts";
import { FAULT_PLACES, type Fault, reportFaults } from "../../src/core/faults/guard.ts";
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
import { ServerBench } from "../support/server-process.ts";

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
async function serveGrpc(handler: HttpHandler, tls?: Parameters<typeof readTlsIdentity>[0], limits = {}): Promise<number> {
  const identity = tls && readTlsIdentity(tls, Date.now());
  const server = new GrpcServer({ ...bench.options(limits), tls: identity }, handler);
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
    await cutEverywhere(port, bytes);
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

  it("a connection that says nothing is closed after the time for heads, and one that has spoken is not", async () => {
    const port = await serveGrpc(HANDLERS["answers later"] as HttpHandler, undefined, { headerTimeoutMs: 40 });
    const silent = connect({ port, host: "127.0.0.1" });
    const session = connectHttp2(`http://127.0.0.1:${port}`);
    await once(session, "remoteSettings");
    await once(silent.resume(), "close");
    expect(session.destroyed).toBe(false);
    session.destroy();
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

/** One post with a body in two chunks, cut off behind any of its bytes. */
const POST = Buffer.from(
  `POST /api/v1/telemetry HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n[{"a"\r\n4\r\n:1}]\r\n0\r\n\r\n`,
);
const STREAM_CHUNKS = 40;

describe.each(["uws", "node"] as const)("HTTP on %s", (kind) => {
  it.each(Object.keys(HANDLERS))("a client cut off at every byte, before a handler that %s", async (name) => {
    count();
    await bench.serve(kind, HANDLERS[name] as HttpHandler);
    await cutEverywhere(bench.port, POST);
    expect(await statusOf(bench.port)).toBeGreaterThanOrEqual(200);
    expect([...bench.faults, ...faults]).toEqual([]);
  });

  it("readers of a stream that leave while it is written", async () => {
    count();
    const closed: string[] = [];
    await bench.serve(kind, (exchange) => {
      const stream = exchange.openStream(200, [["Content-Type", "text/event-stream"]]);
      stream?.onClose(() => closed.push("closed"));
      let chunks = 0;
      const write = (): void => {
        stream?.write(Buffer.alloc(20_000, 65));
        if (++chunks < STREAM_CHUNKS) setImmediate(write);
        else stream?.end();
      };
      stream?.onDrain(() => stream.write(Buffer.from("drained")));
      write();
    });
    const head = Buffer.from("GET /api/v1/stream HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    await cutEverywhere(bench.port, head, head.length - 4);
    expect(await statusOf(bench.port)).toBe(200);
    expect([...bench.faults, ...faults]).toEqual([]);
  });

  it("a request that was refused, and whose body drips on, ends with the time for the rest", async () => {
    await bench.serve(kind, (exchange) => void answer(exchange, 404), { lingerMs: 30 });
    if (kind === "uws") return; // it closes by itself what falls below 16 KiB/s
    const client = await bench.connect();
    await client.send("POST /nothing HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100000\r\n\r\na");
    await client.closed;
  });

  it("a request that was refused, and whose body comes at once, keeps its connection", async () => {
    await bench.serve(kind, (exchange) => void answer(exchange, 404), { lingerMs: 5_000 });
    const client = await bench.connect();
    for (const _ of [1, 2]) {
      await client.send("POST /nothing HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 3\r\n\r\nabc");
      expect((await client.response()).status).toBe(404);
    }
  });
});

describe.each(["uws", "node"])("the whole server, on %s", (engine) => {
  const servers = new ServerBench();
  afterEach(() => servers.close());

  it("goes on behind clients that leave anywhere, and has no fault to count", async () => {
    const grpcPort = await freePort();
    const server = await servers.start({ ENGINES: "1", HTTP_ENGINE: engine, OTLP_GRPC_PORT: String(grpcPort), SANDBOX_PROCESSES: "1" });
    const port = Number(new URL(server.origin).port);
    const body = JSON.stringify({ type: "metric", service_id: "cut", metric_name: "m", timestamp: new Date().toISOString(), value: 1 });
    const head = `Host: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
    for (const path of ["/api/v1/telemetry", "/api/v1/silences", "/nothing"])
      await cutEverywhere(port, Buffer.from(`POST ${path} HTTP/1.1\r\n${head}${body}`));
    await cutEverywhere(port, Buffer.from(`GET /api/v1/stream HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`));
    await cutEverywhere(grpcPort, await recordGrpcCall(grpcPort, CALL));
    for (const moment of CALL_MOMENTS)
      for (const resets of [false, true]) await leaveCall(`http://127.0.0.1:${grpcPort}`, CALL, { moment, resets });
    const page = await (await fetch(`${server.origin}/metrics`)).text();
    const counted = page.split("\n").filter((line) => line.startsWith("vedette_faults_total{"));
    expect(counted).toEqual(FAULT_PLACES.map((where) => `vedette_faults_total{where="${where}"} 0`));
  });
});

/** Cuts `bytes` off everywhere, from `first` on, sixteen connections at a time, with each end and moment in turn. */
async function cutEverywhere(port: number, bytes: Buffer, first = 0): Promise<void> {
  for (let cut = first; cut <= bytes.length; cut += 16) {
    const lengths = Array.from({ length: Math.min(16, bytes.length + 1 - cut) }, (_, index) => cut + index);
    const cuts = lengths.map((length) => {
      const end = CONNECTION_ENDS[length % CONNECTION_ENDS.length] as (typeof CONNECTION_ENDS)[number];
      const moment = CUT_MOMENTS[length % CUT_MOMENTS.length] as (typeof CUT_MOMENTS)[number];
      return cutConnection(port, bytes.subarray(0, length), end, moment);
    });
    await Promise.all(cuts);
  }
}

async function statusOf(port: number): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}/`, { method: "GET" });
  await response.body?.cancel();
  return response.status;
}

/** A port that is free now: servers that are told 0 open no port of gRPC. */
async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, "close");
  return port;
}
