// Debian's Prometheus and node exporter as processes of a test: on free ports, over a folder of their own, ended with the test.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PATIENCE_MS } from "./patience.ts";
import { until } from "./until.ts";

const PROMETHEUS = "prometheus";
const EXPORTER = "prometheus-node-exporter";

/** Which of the two programs is not installed here; undefined where both are. */
export function missingPeer(): string | undefined {
  return [PROMETHEUS, EXPORTER].find((program) => {
    try {
      execFileSync(program, ["--version"], { stdio: "ignore" });
      return false;
    } catch {
      return true;
    }
  });
}

/** A program that says in its log where it listens. */
class Peer {
  readonly #child: ChildProcess;
  log = "";

  constructor(program: string, args: readonly string[]) {
    this.#child = spawn(program, [...args, "--web.listen-address=127.0.0.1:0"], { stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [this.#child.stdout, this.#child.stderr]) stream?.on("data", (text: Buffer) => (this.log += text.toString()));
  }

  /** Waits until it listens. */
  async address(): Promise<string> {
    const address = /msg="Listening on" address=(\S+)/;
    const look = () => {
      if (this.#child.exitCode !== null && !address.test(this.log)) throw new Error(`it does not listen: ${this.log.slice(-2_000)}`);
      return this.log;
    };
    const log = await until("it listens", look, (seen) => address.test(seen), { patienceMs: PATIENCE_MS });
    return address.exec(log)?.[1] as string;
  }

  async end(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill("SIGKILL"); // asked nicely, Prometheus first tries to send what it has left
    await once(this.#child, "exit");
  }
}

/** One sample of Prometheus' own store: time in ms, value. */
export type StoredSample = readonly [timeMs: number, value: number];

/** A Prometheus that scrapes a node exporter as job "node" and writes to one remote. */
export class PrometheusPeers {
  readonly #folder = mkdtempSync(join(tmpdir(), "vedette-prometheus-"));
  readonly #peers: Peer[] = [];
  /** Where the exporter listens: the label `instance` of its series. */
  instance = "";
  #prometheus = "";

  /** `remote` are further members of its remote_write, as JSON, which is YAML; `rules` are expressions that it records as often as it scrapes, by name. */
  async start(
    remoteWriteUrl: string,
    scrapeSeconds: number,
    remote: object = {},
    rules: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    this.instance = await this.#launch(EXPORTER, []);
    const config = join(this.#folder, "prometheus.yml");
    const recorded = Object.entries(rules).map(([record, expr]) => ({ record, expr }));
    writeFileSync(join(this.#folder, "rules.yml"), JSON.stringify({ groups: [{ name: "recorded", rules: recorded }] }));
    writeFileSync(
      config,
      [
        `global: {scrape_interval: ${scrapeSeconds}s, scrape_timeout: ${scrapeSeconds}s, evaluation_interval: ${scrapeSeconds}s}`,
        "rule_files: [rules.yml]",
        "scrape_configs:",
        "- job_name: node",
        `  static_configs: [{targets: ["${this.instance}"]}]`,
        "remote_write:",
        `- ${JSON.stringify({ url: remoteWriteUrl, ...remote })}`,
        "",
      ].join("\n"),
    );
    this.#prometheus = await this.#launch(PROMETHEUS, [`--config.file=${config}`, `--storage.tsdb.path=${join(this.#folder, "tsdb")}`]);
  }

  async #launch(program: string, args: readonly string[]): Promise<string> {
    const peer = new Peer(program, args);
    this.#peers.push(peer);
    return peer.address();
  }

  /** Lines of Prometheus' log above information that speak of the remote. */
  get complaints(): string[] {
    return (this.#peers[1]?.log ?? "").split("\n").filter((line) => /level=(?:warn|error)/.test(line) && /remote/.test(line));
  }

  /** The sum over all label sets of one of Prometheus' own metrics; undefined where it has none of that name. */
  async ownMetric(name: string): Promise<number | undefined> {
    const text = await (await fetch(`http://${this.#prometheus}/metrics`)).text();
    const values = text.split("\n").filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
    return values.length === 0 ? undefined : values.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
  }

  /** The raw samples of one series in its own store. */
  async samples(selector: string): Promise<readonly StoredSample[]> {
    const response = await fetch(`http://${this.#prometheus}/api/v1/query?query=${encodeURIComponent(`${selector}[1h]`)}`);
    const { data } = (await response.json()) as {
      data: { result: ReadonlyArray<{ values: ReadonlyArray<[number, string]> }> };
    };
    if (data.result.length !== 1) throw new Error(`${selector} has ${data.result.length} series`);
    return (data.result[0]?.values ?? []).map(([seconds, value]) => [Math.round(seconds * 1000), Number(value)]);
  }

  async close(): Promise<void> {
    await Promise.all(this.#peers.map((peer) => peer.end()));
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
