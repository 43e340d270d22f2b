// Debian's Alertmanager as a process of a test: on free ports, over a folder of its own, ended with the test.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PATIENCE_MS } from "./patience.ts";
import { until } from "./until.ts";

const READY = "ready";

const ALERTMANAGER = "prometheus-alertmanager";

/** Whether the program is installed here. */
export function hasAlertmanager(): boolean {
  try {
    execFileSync(ALERTMANAGER, ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** A port of 127.0.0.1 that is free now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** An Alertmanager with one receiver: a webhook. */
export class AlertmanagerPeer {
  readonly #folder = mkdtempSync(join(tmpdir(), "vedette-alertmanager-"));
  #child: ChildProcess | undefined;
  #log = "";
  #origin = "";
  #url = "";

  /** Starts it; `url` is told of every alert, and of its end, by `http_config` where one is given. */
  async start(url: string, httpConfig?: object): Promise<void> {
    this.#url = url;
    const config = join(this.#folder, "alertmanager.yml");
    const route = { receiver: "vedette", group_by: ["alertname"], group_wait: "1s", group_interval: "1s", repeat_interval: "1h" };
    const receivers = [
      { name: "vedette", webhook_configs: [{ url, send_resolved: true, ...(httpConfig && { http_config: httpConfig }) }] },
    ];
    writeFileSync(config, JSON.stringify({ route, receivers })); // JSON is YAML
    const port = await freePort();
    this.#origin = `http://127.0.0.1:${port}`;
    const args = [
      `--config.file=${config}`,
      `--storage.path=${join(this.#folder, "data")}`,
      `--web.listen-address=127.0.0.1:${port}`,
      "--cluster.listen-address=",
    ];
    this.#child = spawn(ALERTMANAGER, args, { stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [this.#child.stdout, this.#child.stderr]) stream?.on("data", (text: Buffer) => (this.#log += text.toString()));
    const child = this.#child;
    const look = async () => {
      if (await this.#isReady()) return READY;
      if (child.exitCode !== null) throw new Error(`it ended before it was ready: ${this.#log.slice(-2_000)}`);
      return this.#log;
    };
    await until("it is ready", look, (seen) => seen === READY, { patienceMs: PATIENCE_MS, everyMs: 50 });
  }

  /** kill -9, and a start over the same folder. */
  async restart(): Promise<void> {
    await this.#kill();
    await this.start(this.#url);
  }

  #isReady(): Promise<boolean> {
    return fetch(`${this.#origin}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  }

  /** Gives it an alert, as Prometheus does; one with an end is resolved. */
  async post(alert: {
    readonly labels: object;
    readonly annotations?: object;
    readonly startsAt: string;
    readonly endsAt?: string;
  }): Promise<void> {
    const body = JSON.stringify([alert]);
    const answer = await fetch(`${this.#origin}/api/v2/alerts`, { method: "POST", headers: { "Content-Type": "application/json" }, body });
    if (!answer.ok) throw new Error(`it answered ${answer.status}: ${await answer.text()}`);
  }

  async #kill(): Promise<void> {
    if (this.#child === undefined || this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill("SIGKILL");
    await once(this.#child, "exit");
  }

  async close(): Promise<void> {
    await this.#kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
