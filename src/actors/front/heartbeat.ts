/**
 * The dead-man's switch (rule 1.1.12): asks DEADMAN_HEARTBEAT_URL for each completed cycle of the Watchdog. Whoever watches that address knows by its silence
 * that evaluation has stalled, though the process may live on. The address may hold a key: it is in no log, answer, error or metric.
 */
import { get as httpGet } from "node:http";
import { get as httpsGet } from "node:https";
import type { Secret } from "../../core/base/secret.ts";
import { ConfigError } from "../../core/config/config-error.ts";
import { HEARTBEAT_MS_MAX } from "../../core/config/limits.ts";
import { deadManStep, pingEnded, UNPINGED } from "../../domain/alerting/dead-man-switch.ts";

export interface HeartbeatDependencies {
  wallMs(): number;
  log(level: "warn" | "info", line: string): void;
}

const PROTOCOLS: ReadonlyMap<string, typeof httpGet> = new Map([
  ["http:", httpGet],
  ["https:", httpsGet],
]);

export class Heartbeat {
  readonly #url: URL | undefined;
  readonly #dependencies: HeartbeatDependencies;
  #state = UNPINGED;
  #completed = 0;
  #isFailing = false;
  #abort: AbortController | undefined;
  sent = 0;
  failed = 0;
  /** Seconds since 1970 of the last ping that was answered with success; 0 before. */
  lastSuccessSeconds = 0;

  /** Pings nothing where no address is given. Throws ConfigError where it is none. */
  constructor(address: Secret | undefined, dependencies: HeartbeatDependencies) {
    this.#url = address === undefined ? undefined : parseAddress(address);
    this.#dependencies = dependencies;
  }

  /** A cycle has come to its end: the number of them since the start. */
  cycleCompleted(cycles: number): void {
    this.#completed = cycles;
    this.#step();
  }

  close(): void {
    this.#abort?.abort();
  }

  #step(): void {
    if (this.#url === undefined) return;
    const { state, ping } = deadManStep(this.#state, this.#completed);
    this.#state = state;
    if (ping) void this.#ping(this.#url);
  }

  async #ping(url: URL): Promise<void> {
    this.sent++;
    this.#abort = new AbortController();
    const problem = await ask(url, AbortSignal.any([this.#abort.signal, AbortSignal.timeout(HEARTBEAT_MS_MAX)]));
    if (problem === undefined) this.lastSuccessSeconds = this.#dependencies.wallMs() / 1000;
    else this.failed++;
    this.#tell(problem);
    this.#state = pingEnded(this.#state);
    this.#step();
  }

  /** Once when it begins to fail, and once when it works again. */
  #tell(problem: string | undefined): void {
    const isFailing = problem !== undefined;
    if (isFailing === this.#isFailing) return;
    this.#isFailing = isFailing;
    if (isFailing) this.#dependencies.log("warn", `the heartbeat of DEADMAN_HEARTBEAT_URL failed: ${problem}; the next cycle tries again`);
    else this.#dependencies.log("info", "the heartbeat of DEADMAN_HEARTBEAT_URL is answered again");
  }
}

function parseAddress(address: Secret): URL {
  const url = URL.canParse(address.reveal()) ? new URL(address.reveal()) : undefined;
  if (url === undefined || !PROTOCOLS.has(url.protocol)) {
    throw new ConfigError("DEADMAN_HEARTBEAT_URL must be an address such as https://heartbeat.example/ping/key");
  }
  return url;
}

/** What went wrong, in words that do not hold the address; undefined after any answer below 300. */
function ask(url: URL, signal: AbortSignal): Promise<string | undefined> {
  return new Promise((resolve) => {
    const get = PROTOCOLS.get(url.protocol) as typeof httpGet;
    const request = get(url, { signal, agent: false }, (response) => {
      const { statusCode = 0 } = response;
      response.resume();
      resolve(statusCode >= 200 && statusCode < 300 ? undefined : `it was answered with ${statusCode}`);
    });
    request.on("error", (error: NodeJS.ErrnoException) => {
      resolve(
        signal.aborted ? `no answer within ${HEARTBEAT_MS_MAX / 1000} s` : `it cannot be reached (${error.code ?? "connection lost"})`,
      );
    });
  });
}
