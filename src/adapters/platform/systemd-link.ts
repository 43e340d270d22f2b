// What systemd hears of the server (sd_notify(3)): READY once it serves, WATCHDOG for each cycle of the evaluation loop, STOPPING. Each goes by a process of systemd-notify, because
// Node opens no datagram sockets of files; one runs at a time and takes along all that has come up meanwhile.
import { spawn } from "node:child_process";
import { child as childHome, ignoreErrors, listenOnce } from "../../core/faults/guard.ts";
import type { Log } from "../../core/telemetry/log-event.ts";

/** Cycles that may be missed before systemd ends the server, where its own limit is shorter. */
const CYCLES_MISSED_MAX = 3;
/** A message that is not taken in so long is given up. */
const SEND_MS_MAX = 10_000;
const PROGRAM = "systemd-notify";

export interface SystemdLinkOptions {
  /** Path of the socket, NOTIFY_SOCKET; nothing is sent without one. */
  readonly socket: string | undefined;
  /** Microseconds without WATCHDOG=1 after which systemd ends the server, WATCHDOG_USEC. */
  readonly watchdogUsec: number;
  readonly cycleSeconds: number;
  readonly path: string;
}

export class SystemdLink {
  readonly #options: SystemdLinkOptions;
  readonly #log: Log;
  readonly #waiting = new Map<string, string>();
  #isSending = false;
  #isReported = false;

  constructor(options: SystemdLinkOptions, log: Log) {
    this.#options = options;
    this.#log = log;
  }

  /** As systemd started this process. */
  static ofProcess(cycleSeconds: number, log: Log): SystemdLink {
    const { NOTIFY_SOCKET: socket, WATCHDOG_USEC, PATH: path = "/usr/bin:/bin" } = process.env;
    return new SystemdLink({ socket, watchdogUsec: Number(WATCHDOG_USEC ?? 0), cycleSeconds, path }, log);
  }

  /** Requests are served. A watchdog that would not wait for three cycles is made to. */
  ready(address: string): void {
    const { watchdogUsec, cycleSeconds } = this.#options;
    const neededUsec = CYCLES_MISSED_MAX * cycleSeconds * 1_000_000;
    const patience = watchdogUsec > 0 && watchdogUsec < neededUsec ? { WATCHDOG_USEC: String(neededUsec) } : {};
    this.#report({ READY: "1", STATUS: `serves ${address}`, ...patience });
  }

  /** A cycle of the evaluation loop has come to an end. */
  cycleEnded(): void {
    if (this.#options.watchdogUsec > 0) this.#report({ WATCHDOG: "1" });
  }

  stopping(): void {
    this.#report({ STOPPING: "1", STATUS: "answers what is under way, and writes checkpoints" });
  }

  #report(states: Readonly<Record<string, string>>): void {
    if (this.#options.socket === undefined || this.#options.socket === "") return;
    for (const [name, value] of Object.entries(states)) this.#waiting.set(name, value);
    if (!this.#isSending) this.#send(this.#options.socket);
  }

  #send(socket: string): void {
    const assignments = [...this.#waiting].map(([name, value]) => `${name}=${value}`);
    this.#waiting.clear();
    this.#isSending = true;
    const env = { NOTIFY_SOCKET: socket, PATH: this.#options.path };
    const child = spawn(PROGRAM, assignments, { env, stdio: "ignore", timeout: SEND_MS_MAX });
    const ended = (problem: string | undefined) => {
      child.removeAllListeners();
      ignoreErrors(child);
      this.#isSending = false;
      if (problem !== undefined) this.#reportProblem(problem);
      if (this.#waiting.size > 0) this.#send(socket);
    };
    const home = childHome("systemd-notify", () => {
      this.#isSending = false;
    });
    listenOnce(child, "error", home, (error: Error) => ended(error.message));
    listenOnce(child, "exit", home, (code: number | null, signal: string | null) => {
      ended(code === 0 ? undefined : `it ended with ${code ?? signal}`);
    });
  }

  #reportProblem(problem: string): void {
    if (this.#isReported) return;
    this.#isReported = true;
    this.#log("warn", `systemd is not told how the server is: ${PROGRAM}: ${problem}`);
  }
}
