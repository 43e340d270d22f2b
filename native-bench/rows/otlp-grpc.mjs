// What an OTLP point costs over gRPC beside OTLP over HTTP: the same bodies by the same client, in turns; what is compared is the CPU of the server's process.
import { once } from "node:events";
import { closeSync, openSync, readSync } from "node:fs";
import { Agent, request } from "node:http";
import { connect } from "node:http2";
import { createServer } from "node:net";
import { OTLP_METRICS_PATH } from "../servers/vedette.mjs";
import { ratioLine, takeTurns } from "../turns.mjs";

const GRPC_PATH = "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export";
const HEAD_BYTES = 12;
const PREFIX_BYTES = 5;
const coldRequests = 600;

/** @type {import("../turns.mjs").Row} */
export const otlpGrpc = {
  name: "otlp-grpc",
  what:
    "OTLP metrics over gRPC against OTLP over HTTP: requests of 2,000 points over 10,000 streams in protobuf; 5 connections, closed loop, sent by Node; CPU of the server's process a " +
    `point; ${coldRequests} requests left out`,
  quick: false,
  async run(context) {
    const file = await context.bodies.get("otlp-metrics", { points: context.quick ? 6_000_000 : 11_000_000 });
    const turns = await takeTurns(context, {
      http: () => turn(context, file, openHttp),
      node: () => turn(context, file, openHttp, { HTTP_ENGINE: "node" }),
      grpc: () => turn(context, file, openGrpc),
    });
    const ratio = ratioLine("gRPC / HTTP", turns.grpc, turns.http, { bar: 1.5, lowerIsBetter: true });
    return {
      lines: [
        { label: "OTLP over HTTP, CPU", values: turns.http, unit: "us a point" },
        { label: "OTLP over gRPC, CPU", values: turns.grpc, unit: "us a point" },
        { label: "OTLP over HTTP by node:http, CPU", values: turns.node, unit: "us a point" },
        ratio,
        ratioLine("gRPC / HTTP by node:http", turns.grpc, turns.node, { lowerIsBetter: true }),
      ],
      notMeasured: [],
    };
  },
};

/** Microseconds of the server's CPU a point. */
async function turn(context, file, open, settings = {}) {
  const grpcPort = await freePort();
  const server = await context.startServer("vedette", { env: { OTLP_GRPC_PORT: String(grpcPort), ...settings } });
  try {
    const lanes = [0, 1, 2, 3, 4].map(() => open({ httpPort: server.port, grpcPort }));
    const warm = { begunCpu: 0, points: 0 };
    let requests = 0;
    // Bodies of a shard go by one connection, one after another.
    const queues = lanes.map(() => Promise.resolve());
    for (const { shard, points, bytes } of bodiesOf(file)) {
      if (requests++ === coldRequests) {
        await Promise.all(queues);
        warm.begunCpu = server.cpuSeconds();
      }
      const lane = shard % lanes.length;
      await queues[lane];
      queues[lane] = lanes[lane].send(bytes);
      if (requests > coldRequests) warm.points += points;
    }
    await Promise.all(queues);
    const cpu = server.cpuSeconds() - warm.begunCpu;
    for (const { close } of lanes) close();
    return (cpu / warm.points) * 1e6;
  } finally {
    await server.kill();
  }
}

function* bodiesOf(path) {
  const file = openSync(path, "r");
  const head = Buffer.alloc(HEAD_BYTES);
  try {
    while (readSync(file, head) === HEAD_BYTES) {
      const bytes = Buffer.alloc(head.readUInt32LE(8));
      readSync(file, bytes);
      yield { shard: head.readUInt32LE(0), points: head.readUInt32LE(4), bytes };
    }
  } finally {
    closeSync(file);
  }
}

function openHttp({ httpPort: port }) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const headers = { "Content-Type": "application/x-protobuf" };
  const send = async (bytes) => {
    const sent = request({ port, path: OTLP_METRICS_PATH, method: "POST", agent, headers: { ...headers, "Content-Length": bytes.length } });
    sent.end(bytes);
    const [answer] = await once(sent, "response");
    answer.resume();
    await once(answer, "end");
    if (answer.statusCode !== 200) throw new Error(`OTLP over HTTP was answered ${answer.statusCode}`);
  };
  return { send, close: () => agent.destroy() };
}

function openGrpc({ grpcPort }) {
  const session = connect(`http://127.0.0.1:${grpcPort}`);
  const headers = { ":method": "POST", ":path": GRPC_PATH, "content-type": "application/grpc", te: "trailers" };
  const send = async (bytes) => {
    const stream = session.request(headers);
    let status;
    stream.on("response", (answer) => (status ??= answer["grpc-status"]));
    stream.on("trailers", (trailers) => (status ??= trailers["grpc-status"]));
    const message = Buffer.alloc(PREFIX_BYTES + bytes.length);
    message.writeUInt32BE(bytes.length, 1);
    message.set(bytes, PREFIX_BYTES);
    stream.end(message);
    stream.resume();
    await once(stream, "close");
    if (status !== "0") throw new Error(`OTLP over gRPC was answered ${status}`);
  };
  return { send, close: () => session.close() };
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  return port;
}
