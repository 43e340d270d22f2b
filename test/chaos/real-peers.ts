// Programs that send by themselves where they are installed: a Prometheus that scrapes a node exporter, and an Alertmanager that is given alerts. Besides, captured bodies of
// both, whose samples are of the past, and people who declare anomalies, which webhooks are told of.
import { readFileSync } from "node:fs";
import { AlertmanagerPeer, hasAlertmanager } from "../support/alertmanager-peer.ts";
import { missingPeer, PrometheusPeers } from "../support/prometheus-peers.ts";
import { REMOTE_WRITE_HEADERS } from "../support/server-client.ts";
import { credentialOf } from "./chaos-accounts.ts";
import type { ChaosServer } from "./chaos-server.ts";

const SCRAPE_SECONDS = 5;
const PERIOD_MS = 2_000;
const SERVICES = 20;
const JSON_TYPE = { "Content-Type": "application/json" };
const PROTOBUF_TYPE = { "Content-Type": "application/x-protobuf" };

interface Captured {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

function capturedBodies(): Captured[] {
  const golden = (name: string) => readFileSync(`test/golden/${name}`);
  const signals = ["metrics", "traces", "logs"];
  return [
    { path: "/api/v1/rwmetrics/write", headers: REMOTE_WRITE_HEADERS, body: golden("prometheus-remote-write.bin") },
    { path: "/api/v1/rwmetrics/write", headers: REMOTE_WRITE_HEADERS, body: golden("prometheus-remote-write-metadata.bin") },
    ...signals.map((signal) => ({ path: `/v1/${signal}`, headers: PROTOBUF_TYPE, body: golden(`otlp-${signal}-proto.bin`) })),
    ...signals.map((signal) => ({ path: `/v1/${signal}`, headers: JSON_TYPE, body: golden(`otlp-${signal}-json.json`) })),
  ];
}

export class RealPeers {
  /** What takes part, for the first line of the run. */
  readonly names: string[] = ["captured bodies"];
  readonly #server: ChaosServer;
  readonly #captured = capturedBodies();
  readonly #prometheus = missingPeer() === undefined ? new PrometheusPeers() : undefined;
  readonly #alertmanager = hasAlertmanager() ? new AlertmanagerPeer() : undefined;
  #timer: NodeJS.Timeout | undefined;
  #number = 0;

  constructor(server: ChaosServer) {
    this.#server = server;
  }

  async start(): Promise<void> {
    const { origin, ports } = this.#server;
    await this.#prometheus?.start(`${origin}/api/v1/rwmetrics/write`, SCRAPE_SECONDS);
    await this.#alertmanager?.start(`http://127.0.0.1:${ports.alerts}/api/v1/alerts/webhook`);
    if (this.#prometheus !== undefined) this.names.push("Prometheus");
    if (this.#alertmanager !== undefined) this.names.push("Alertmanager");
    const operator = await credentialOf("default", "operator");
    this.#timer = setInterval(() => void this.#next(operator), PERIOD_MS);
  }

  /** One alert, one anomaly and one captured body; what becomes of them is not looked at. */
  async #next(operator: Readonly<Record<string, string>>): Promise<void> {
    const number = this.#number++;
    const service = `shop-${number % SERVICES}`;
    const alert = { labels: { alertname: `Down${number % SERVICES}`, service, severity: "critical" }, startsAt: new Date().toISOString() };
    const captured = this.#captured[number % this.#captured.length] as Captured;
    const anomaly = { service_id: service, severity: "high", explanation: `${service} is down` };
    await Promise.allSettled([
      this.#alertmanager?.post(alert),
      this.#post(captured.path, captured.headers, captured.body),
      this.#post("/api/v1/anomalies", { ...JSON_TYPE, ...operator }, Buffer.from(JSON.stringify(anomaly))),
    ]);
  }

  async #post(path: string, headers: Readonly<Record<string, string>>, body: Buffer): Promise<void> {
    const answer = await fetch(`${this.#server.origin}${path}`, { method: "POST", headers, body });
    if (answer.status === 500) this.#server.faults.push(`${path} says 500: ${await answer.text()}`);
    else await answer.arrayBuffer();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all([this.#prometheus?.close(), this.#alertmanager?.close()]);
  }
}
