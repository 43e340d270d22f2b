// Labels that telemetry says of its services, by every way in: once where a stream is defined or a resource is read, and not lost over kills.
import { compressSync } from "snappy";
import { expect, it } from "vitest";
import { BODY_JSON_BATCH, BODY_REMOTE_WRITE_1, BODY_REMOTE_WRITE_2, BODY_REPLAY } from "../../src/core/protocol/body-kind.ts";
import { type OtlpSignal, otlpBodyKind } from "../../src/core/protocol/otlp-kind.ts";
import { type ClusterAnswer, VirtualClock } from "../support/cluster.ts";
import { MemoryDisk } from "../support/memory-log.ts";
import { encodeRequest } from "../support/otlp-schema.ts";
import { encodeBody2 } from "../support/remote-write-2-body.ts";
import { encodeBody } from "../support/remote-write-body.ts";
import { SimulatedServer } from "../support/simulation-server.ts";

const START = Date.UTC(2026, 0, 5, 12);
const SIZES = {
  segmentBytes: 65536,
  blockBytes: 4096,
  checkpointCycleBytes: 2 ** 20,
  checkpointLogShare: 4,
  checkpointPartBytes: 1024,
  commitTurnsMax: 2,
  idleMs: Number.POSITIVE_INFINITY,
};

type Attributes = Readonly<Record<string, string>>;

class Rig {
  readonly clock = new VirtualClock(START);
  readonly disk = new MemoryDisk();
  readonly machine = { clock: this.clock, disk: this.disk, control: new Map(), series: new Map() };
  #epoch = 0;
  server!: SimulatedServer;

  async start(engines: number): Promise<void> {
    this.server = new SimulatedServer({ engines, epoch: ++this.#epoch, seed: 1, ...SIZES }, this.machine);
    await this.server.open();
    await this.server.rest();
  }

  /** Sends a body and steps the engines until it is answered; the coordinator does nothing meanwhile. */
  send(kind: number, body: Uint8Array, engine = 0): ClusterAnswer {
    const answers: ClusterAnswer[] = [];
    this.server.submit(engine, kind, body, "", (answer) => answers.push(answer));
    for (let steps = 0; answers.length === 0 && steps < 1000; steps++)
      for (let each = 0; each < this.server.engines; each++) this.server.cluster.step(each);
    this.clock.advance(1000);
    return answers[0] as ClusterAnswer;
  }

  records(...records: ReadonlyArray<Record<string, unknown>>): ClusterAnswer {
    const timestamp = new Date(this.clock.wallMs()).toISOString();
    return this.send(BODY_JSON_BATCH, Buffer.from(JSON.stringify(records.map((record) => ({ timestamp, ...record })))));
  }

  otlp(
    signal: OtlpSignal,
    encoding: "json" | "protobuf",
    serviceId: string,
    attributes: Attributes,
    item: "sum" | "histogram" = "sum",
  ): ClusterAnswer {
    const request = otlpRequest(
      signal,
      encoding,
      { "service.name": serviceId, ...attributes },
      item,
      BigInt(this.clock.wallMs()) * 1_000_000n,
    );
    const body = encoding === "json" ? Buffer.from(JSON.stringify(request)) : encodeRequest(signal, request);
    return this.send(otlpBodyKind(signal, encoding), body);
  }

  remoteWrite(version: 1 | 2, name: string, labels: Attributes): ClusterAnswer {
    const series = [{ labels: Object.entries({ __name__: name, ...labels }), samples: [{ value: 1, time: this.clock.wallMs() }] }];
    const body = version === 1 ? encodeBody(series) : encodeBody2(series);
    return this.send(version === 1 ? BODY_REMOTE_WRITE_1 : BODY_REMOTE_WRITE_2, compressSync(Buffer.from(body)));
  }

  async labels(): Promise<string[]> {
    await this.server.rest();
    const { labels } = (await this.server.query("labels", { limit: "100" })) as { labels: Array<Record<string, string>> };
    return labels.map(({ service_id, key, value }) => `${service_id} ${key}=${value}`);
  }
}

function otlpRequest(
  signal: OtlpSignal,
  encoding: "json" | "protobuf",
  attributes: Attributes,
  item: "sum" | "histogram",
  nanoseconds: bigint,
): object {
  const resource = { attributes: Object.entries(attributes).map(([key, stringValue]) => ({ key, value: { stringValue } })) };
  const time = String(nanoseconds);
  const id = (hex: string) => (encoding === "json" ? hex : Buffer.from(hex, "hex"));
  if (signal === "logs")
    return { resourceLogs: [{ resource, scopeLogs: [{ logRecords: [{ timeUnixNano: time, body: { stringValue: "hello" } }] }] }] };
  if (signal === "traces") {
    const span = {
      traceId: id("0af7651916cd43dd8448eb211c80319c"),
      spanId: id("b7ad6b7169203331"),
      name: "GET /",
      kind: 2,
      startTimeUnixNano: time,
      endTimeUnixNano: time,
    };
    return { resourceSpans: [{ resource, scopeSpans: [{ spans: [span] }] }] };
  }
  const point = { timeUnixNano: time, asDouble: 1 };
  const bucket = { timeUnixNano: time, count: "2", sum: 3, bucketCounts: ["1", "1"], explicitBounds: [1] };
  const metric =
    item === "sum"
      ? { name: "jobs", gauge: { dataPoints: [point] } }
      : { name: "latency", histogram: { aggregationTemporality: 1, dataPoints: [bucket] } };
  return { resourceMetrics: [{ resource, scopeMetrics: [{ metrics: [metric] }] }] };
}

it("are taken from records, resources and scraped targets, and from nothing else", async () => {
  const rig = new Rig();
  await rig.start(2);
  rig.records(
    { service_id: "json-metric", metric_name: "m", value: 1, attributes: { team: "a" } },
    { service_id: "json-log", type: "log", body: "hello", attributes: { "service.owner": "b" } },
    { service_id: "json-refused", metric_name: "m", attributes: { team: "x" } },
  );
  for (const encoding of ["json", "protobuf"] as const) {
    rig.otlp("metrics", encoding, `metrics-${encoding}`, { "service.team": "c" });
    rig.otlp("metrics", encoding, `histograms-${encoding}`, { "k8s.pod.label.team": "d" }, "histogram");
    rig.otlp("traces", encoding, `traces-${encoding}`, { owner: "e" });
    rig.otlp("logs", encoding, `logs-${encoding}`, { team: "f", owner: "g" });
  }
  for (const version of [1, 2] as const) {
    rig.remoteWrite(version, "up", { job: `up-${version}`, team: "h" });
    rig.remoteWrite(version, "target_info", { job: `info-${version}`, service_team: "i" });
    rig.remoteWrite(version, "pulls_open", { job: `dimension-${version}`, team: "x" });
  }
  const letter = {
    service_id: "replayed",
    metric_name: "m",
    value: 1,
    timestamp: new Date(START).toISOString(),
    attributes: { team: "x" },
  };
  expect(
    rig.send(BODY_REPLAY, Buffer.from(JSON.stringify({ job: "0".repeat(32), letters: [[START, "0".repeat(32), letter]] }))).status,
  ).toBe(200);
  expect(await rig.labels()).toEqual([
    "histograms-json team=d",
    "histograms-protobuf team=d",
    "info-1 team=i",
    "info-2 team=i",
    "json-log owner=b",
    "json-metric team=a",
    "logs-json owner=g",
    "logs-json team=f",
    "logs-protobuf owner=g",
    "logs-protobuf team=f",
    "metrics-json team=c",
    "metrics-protobuf team=c",
    "traces-json owner=e",
    "traces-protobuf owner=e",
    "up-1 team=h",
    "up-2 team=h",
  ]);
});

it("change when a service says another, though its streams are known", async () => {
  const rig = new Rig();
  await rig.start(2);
  for (const team of ["a", "b"]) {
    for (const encoding of ["json", "protobuf"] as const) {
      for (const signal of ["metrics", "traces", "logs"] as const) rig.otlp(signal, encoding, `${signal}-${encoding}`, { team });
    }
    rig.remoteWrite(1, "up", { job: "up", team });
    rig.records({ service_id: "json", metric_name: "m", value: 1, attributes: { team } });
  }
  const services = ["json", "logs-json", "logs-protobuf", "metrics-json", "metrics-protobuf", "traces-json", "traces-protobuf", "up"];
  expect(await rig.labels()).toEqual(services.map((service) => `${service} team=b`));
});

it("that were acknowledged are there after a kill, though nobody had stored them", async () => {
  const rig = new Rig();
  await rig.start(3);
  expect(rig.remoteWrite(1, "up", { job: "a", team: "x" }).status).toBe(204);
  expect(rig.otlp("logs", "protobuf", "b", { owner: "y" }).status).toBe(200);
  rig.server.kill();
  await rig.start(2);
  expect(await rig.labels()).toEqual(["a team=x", "b owner=y"]);
});

it("of a unit that the log did not take are told again with the next", async () => {
  const rig = new Rig();
  await rig.start(1);
  rig.disk.failNext("writevSync", "ENOSPC");
  expect(rig.otlp("logs", "protobuf", "a", { team: "x" }).status).toBe(503);
  expect(await rig.labels()).toEqual([]);
  expect(rig.otlp("logs", "protobuf", "a", { team: "x" }).status).toBe(200);
  expect(await rig.labels()).toEqual(["a team=x"]);
});
