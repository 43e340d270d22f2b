// The recipes of docs/senders.md and docs/proxy.md over TLS and with a key, each by the real program: the server asks for a credential everywhere and has a certificate of an authority of the test's own.
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { promisify } from "node:util";
import { OTLPMetricExporter as GrpcExporter } from "@opentelemetry/exporter-metrics-otlp-grpc";
import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-proto";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { MeterProvider, PeriodicExportingMetricReader, type PushMetricExporter } from "@opentelemetry/sdk-metrics";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { AlertmanagerPeer, freePort, hasAlertmanager } from "../support/alertmanager-peer.ts";
import { type CertificateFiles, Certificates } from "../support/certificates.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { missingPeer, PrometheusPeers } from "../support/prometheus-peers.ts";
import { missingProxy, ProxyPeers } from "../support/proxy-peers.ts";
import { ServerBench, type ServerProcess } from "../support/server-process.ts";

const PROXIES = ["nginx", "haproxy", "caddy"] as const;
const certificates = new Certificates();
const bench = new ServerBench();
const proxies = new ProxyPeers();
const prometheus = new PrometheusPeers();
const alertmanager = new AlertmanagerPeer();
const ca = () => certificates.authority.certificate;
let own: CertificateFiles;
let server: ServerProcess;
let grpcPort = 0;
let admin = "";
let key = "";
let keyFile = "";

beforeAll(async () => {
  own = certificates.signed("server");
  grpcPort = await freePort();
  const auth = { READ_AUTH: "required", INGEST_AUTH: "required" };
  const tls = { TLS_CERT_FILE: own.certificate, TLS_KEY_FILE: own.key, OTLP_GRPC_PORT: String(grpcPort) };
  server = await bench.start({ ...auth, ...tls, ENGINES: "1" });
  admin = readFileSync(`${server.dataDir}/admin-token`, "utf8").trim();
  const made = await ask("/api/v1/apikeys", { name: "senders", scope: "readwrite" });
  expect(made.status, made.text).toBe(201);
  key = (JSON.parse(made.text) as { api_key: string }).api_key;
  keyFile = certificates.path("key");
  writeFileSync(keyFile, key);
});
afterAll(async () => {
  await Promise.all([prometheus.close(), alertmanager.close(), proxies.close()]);
  await bench.close();
  certificates.close();
});

/** Asks the server itself as its admin, and believes the authority of the test alone. */
function ask(path: string, body?: object): Promise<{ status: number; text: string }> {
  const headers = { Authorization: `Bearer ${admin}`, ...(body && { "Content-Type": "application/json" }) };
  return new Promise((resolve, reject) => {
    const asked = request(`${server.origin}${path}`, { ca: readFileSync(ca()), headers, method: body ? "POST" : "GET" }, (answer) => {
      let text = "";
      answer.on("data", (chunk: Buffer) => (text += chunk.toString()));
      answer.on("end", () => resolve({ status: answer.statusCode as number, text }));
    });
    asked.on("error", reject);
    asked.end(body && JSON.stringify(body));
  });
}

async function seriesOf(service: string): Promise<string[]> {
  const { text } = await ask(`/api/v1/series?service_id=${service}`);
  return (JSON.parse(text) as { series: ReadonlyArray<{ metric_name: string }> }).series.map(({ metric_name }) => metric_name);
}

/** Sends a record by curl, as an operator would; the status. */
async function curl(origin: string, service: string, credential: string): Promise<string> {
  const record = JSON.stringify({ service_id: service, metric_name: "m", value: 1, timestamp: new Date().toISOString() });
  const headers = ["-H", "Content-Type: application/json", "-H", `X-API-Key: ${credential}`];
  const args = ["-s", "--cacert", ca(), ...headers, "-d", record, "-o", "/dev/null", "-w", "%{http_code}", `${origin}/api/v1/telemetry`];
  return (await promisify(execFile)("curl", args)).stdout;
}

async function exportOnce(exporter: PushMetricExporter, service: string): Promise<void> {
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
  const meters = new MeterProvider({ resource: resourceFromAttributes({ "service.name": service }), readers: [reader] });
  meters.getMeter("m").createGauge("queue.depth").record(7);
  await meters.forceFlush();
  await meters.shutdown();
}

describe("over TLS and with a key", () => {
  it("curl: the server's own port", async () => {
    expect([await curl(server.origin, "by-curl", key), await curl(server.origin, "by-curl", "vdt_00000000_wrong")]).toEqual(["200", "401"]);
    expect(await seriesOf("by-curl")).toEqual(["m"]);
  });

  const missing = missingProxy(PROXIES);
  it.skipIf(missing !== undefined).each(PROXIES)("%s, which ends TLS and goes on over TLS", async (program) => {
    const front = certificates.signed(`front-${program}`);
    const address = server.origin.slice("https://".length);
    const port =
      program === "nginx"
        ? await proxies.nginxOverTls(server.origin, front, ca())
        : program === "haproxy"
          ? await proxies.haproxyOverTls(address, front, ca())
          : await proxies.caddyOverTls(server.origin, front, ca());
    expect([await curl(`https://127.0.0.1:${port}`, program, key), await curl(`https://127.0.0.1:${port}`, program, "wrong")]).toEqual([
      "200",
      "401",
    ]);
    expect(await seriesOf(program)).toEqual(["m"]);
  });

  it.skipIf(missingPeer() !== undefined)("Prometheus, remote-write", async () => {
    const remote = { tls_config: { ca_file: ca() }, authorization: { credentials_file: keyFile } };
    await prometheus.start(`${server.origin}/api/v1/rwmetrics/write`, 1, remote);
    await vi.waitFor(async () => expect(await seriesOf("node")).not.toEqual([]), { timeout: PATIENCE_MS, interval: 250 });
    expect(prometheus.complaints).toEqual([]);
  });

  it.skipIf(!hasAlertmanager())("Alertmanager, on the main port", async () => {
    const http = { tls_config: { ca_file: ca() }, authorization: { credentials_file: keyFile } };
    await alertmanager.start(`${server.origin}/api/v1/alerts/webhook`, http);
    const labels = { alertname: "DiskFull", service: "by-alertmanager", severity: "critical" };
    await alertmanager.post({ labels, startsAt: new Date().toISOString() });
    const alerts = async () => (await ask("/api/v1/anomalies?service_id=by-alertmanager")).text;
    await vi.waitFor(async () => expect(await alerts()).toContain("DiskFull"), { timeout: PATIENCE_MS, interval: 250 });
  });

  it("OpenTelemetry JS, OTLP over HTTP", async () => {
    const options = { url: `${server.origin}/v1/metrics`, headers: { "X-API-Key": key }, httpAgentOptions: { ca: readFileSync(ca()) } };
    await exportOnce(new OTLPMetricExporter(options), "by-otlp");
    expect(await seriesOf("by-otlp")).toContain("queue.depth");
  });

  it("OpenTelemetry JS, OTLP over gRPC", async () => {
    // As an operator sets them: the exporter has a library of gRPC of its own, which takes no credentials of another.
    vi.stubEnv("OTEL_EXPORTER_OTLP_CERTIFICATE", ca());
    vi.stubEnv("OTEL_EXPORTER_OTLP_HEADERS", `x-api-key=${key}`);
    const exporter = new GrpcExporter({ url: `https://127.0.0.1:${grpcPort}` });
    await exportOnce(exporter, "by-grpc");
    vi.unstubAllEnvs();
    expect(await seriesOf("by-grpc")).toContain("queue.depth");
  });
});
