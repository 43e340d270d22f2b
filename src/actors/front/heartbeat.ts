/**
 * The dead-man's switch (rule 1.1.12): asks DEADMAN_HEARTBEAT_URL for each completed cycle of the Watchdog. Whoever watches that address knows by its silence
 * that evaluation has stalled, though the process may live on. The address may hold a key: it is in no log, answer, error or metric.
 */

import { ConfigError } from "../../core/config/config-error.ts";
import { HEARTBEAT_MS_MAX } from "../../core/config/limits.ts";
import { background, task } from "../../core/faults/guard.ts";
import type { Secret } from "../../core/text/secret.ts";
import { deadManStep, pingEnded, UNPINGED } from "../../domain/alerting/dead-man-switch.ts";

export interface HeartbeatDependencies {
  readonly clock: { wallMs(): number };
  log(level: "warn" | "info", line: string): void;
}

const PROTOCOLS: ReadonlySet<string> = new Set(["http:", "https:"]);

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
    if (ping) background(task("the heartbeat"), this.#ping(this.#url));
  }

  async #ping(url: URL): Promise<void> {
    this.sent++;
    this.#abort = new AbortController();
    const problem = await ask(url, AbortSignal.any([this.#abort.signal, AbortSignal.timeout(HEARTBEAT_MS_MAX)]));
    if (problem === undefined) this.lastSuccessSeconds = this.#dependencies.clock.wallMs() / 1000;
    else this.failed++;
    this.#report(problem);
    this.#state = pingEnded(this.#state);
    this.#step();
  }

  /** Once when it begins to fail, and once when it works again. */
  #report(problem: string | undefined): void {
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

/** Error in words that do not hold the address; undefined after an answer of success. The address's user and password travel as a header. */
async function ask(address: URL, signal: AbortSignal): Promise<string | undefined> {
  const url = new URL(address);
  const login = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  url.username = "";
  url.password = "";
  const headers: Record<string, string> = login === ":" ? {} : { authorization: `Basic ${Buffer.from(login).toString("base64")}` };
  try {
    const response = await fetch(url, { headers, signal, redirect: "manual" });
    await response.body?.cancel();
    return response.ok ? undefined : `it was answered with ${response.status}`;
  } catch (error) {
    if (signal.aborted) return `no answer within ${HEARTBEAT_MS_MAX / 1000} s`;
    const { code } = ((error as Error).cause ?? {}) as { readonly code?: unknown };
    return `it cannot be reached (${typeof code === "string" ? code : "connection lost"})`;
  }
}
