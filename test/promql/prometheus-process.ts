// Debian's Prometheus that takes remote-write and scrapes nothing, as a process of a comparison, and bodies that are sent to it and to this server alike.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../support/until.ts";

const READY_MS_MAX = 30_000;
const HEADERS = {
  "Content-Type": "application/x-protobuf",
  "Content-Encoding": "snappy",
  "X-Prometheus-Remote-Write-Version": "0.1.0",
};

/** A Prometheus over an empty folder. */
export class PrometheusProcess {
  readonly origin: string;
  readonly #folder = mkdtempSync(join(tmpdir(), "vedette-compare-"));
  readonly #child: ChildProcess;

  private constructor(port: number, config: string, more: readonly string[]) {
    this.origin = `http://127.0.0.1:${port}`;
    const flags = [
      "--web.enable-remote-write-receiver",
      `--storage.tsdb.path=${this.#folder}`,
      `--config.file=${config}`,
      "--log.level=error",
      ...more,
    ];
    this.#child = spawn("prometheus", [...flags, `--web.listen-address=127.0.0.1:${port}`], { stdio: ["ignore", "ignore", "inherit"] });
  }

  /** Starts it with a file of its configuration and further flags, and waits until it is ready. */
  static async start(config = "/dev/null", more: readonly string[] = []): Promise<PrometheusProcess> {
    const started = new PrometheusProcess(20_000 + (process.pid % 10_000), config, more);
    const ready = () =>
      fetch(`${started.origin}/-/ready`).then(
        ({ ok }) => ok,
        () => false,
      );
    await until(`${started.origin} is ready`, ready, undefined, { patienceMs: READY_MS_MAX, everyMs: 100 }).catch((error: unknown) => {
      started.end();
      throw error;
    });
    return started;
  }

  get pid(): number {
    return this.#child.pid as number;
  }

  end(): void {
    this.#child.kill("SIGKILL");
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Where a Prometheus and this server take remote-write. */
export const WRITE_PATHS = { theirs: "/api/v1/write", ours: "/api/v1/rwmetrics/write" } as const;

/** Sends a body of remote-write 1.0; throws where it is refused. */
export async function sendBody(url: string, body: Uint8Array): Promise<void> {
  const answer = await fetch(url, { method: "POST", headers: HEADERS, body });
  if (answer.status !== 204) throw new Error(`${url} answers ${answer.status}: ${await answer.text()}`);
}
