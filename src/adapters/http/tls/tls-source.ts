// The identity in force, and how it is renewed: on SIGHUP, and when one of its files has changed, which is looked at every second. What cannot be used changes nothing.
import { unwatchFile, watchFile } from "node:fs";
import { ConfigError } from "../../../core/config/config-error.ts";
import { every, guarded, task } from "../../../core/faults/guard.ts";
import { DAY_MS } from "../../../core/time/durations.ts";
import { isSameIdentity, readTlsIdentity, type TlsFiles, type TlsIdentity } from "./tls-identity.ts";

const CHECK_MS = 1_000;
const RENEWAL = task("the renewal of the certificate");
/** Let's Encrypt renews thirty days before the end: two weeks before, nobody has. */
const WARNED_DAYS = 14;

export interface TlsSourceDependencies {
  readonly wallMs: () => number;
  readonly log: (level: "info" | "warn", line: string) => void;
}

/** Identity of one server. */
export class TlsSource {
  readonly #files: TlsFiles;
  readonly #dependencies: TlsSourceDependencies;
  #identity: TlsIdentity | undefined;
  /** Message of the last problem that was told: two files change one after the other, and a bad one stays bad. */
  #reportedProblem = "";

  /** Throws ConfigError where the files cannot be used. */
  constructor(files: TlsFiles, dependencies: TlsSourceDependencies) {
    const { TLS_CERT_FILE, TLS_KEY_FILE, TLS_CLIENT_CA_FILE } = files;
    this.#files = { TLS_CERT_FILE, TLS_KEY_FILE, TLS_CLIENT_CA_FILE };
    this.#dependencies = dependencies;
    this.#identity = readTlsIdentity(this.#files, dependencies.wallMs());
    this.#warnOfEnd();
  }

  /** Undefined where the server speaks without TLS. */
  get identity(): TlsIdentity | undefined {
    return this.#identity;
  }

  /** Wall time in seconds at which the certificate ends; null without one. */
  get expiresSeconds(): number | null {
    return this.#identity === undefined ? null : this.#identity.expiresMs / 1000;
  }

  /** Calls `onRenewed` with each new identity, from now until `close`. */
  follow(onRenewed: (identity: TlsIdentity) => void): void {
    const check = guarded(RENEWAL, () => this.renew(onRenewed));
    for (const path of this.#watched) watchFile(path, { interval: CHECK_MS, persistent: false }, check);
    if (this.#identity !== undefined) every(DAY_MS, RENEWAL, () => this.#warnOfEnd()).unref();
  }

  /** Reads the files again. */
  renew(onRenewed: (identity: TlsIdentity) => void): void {
    const before = this.#identity;
    if (before === undefined) return;
    try {
      const identity = readTlsIdentity(this.#files, this.#dependencies.wallMs());
      this.#reportedProblem = "";
      if (identity === undefined || isSameIdentity(before, identity)) return;
      this.#identity = identity;
      onRenewed(identity);
      this.#dependencies.log("info", `TLS: the certificate was renewed, it ends on ${dayOf(identity.expiresMs)}`);
      this.#warnOfEnd();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      this.#report(error.message);
    }
  }

  close(): void {
    for (const path of this.#watched) unwatchFile(path);
  }

  get #watched(): readonly string[] {
    return Object.values(this.#files).filter((path) => path !== "");
  }

  #report(problem: string): void {
    if (problem === this.#reportedProblem) return;
    this.#reportedProblem = problem;
    this.#dependencies.log("warn", `TLS: the certificate before stays in force: ${problem}`);
  }

  #warnOfEnd(): void {
    if (this.#identity === undefined) return;
    const { expiresMs } = this.#identity;
    const days = (expiresMs - this.#dependencies.wallMs()) / DAY_MS;
    if (days < WARNED_DAYS)
      this.#dependencies.log("warn", `TLS_CERT_FILE ends in ${Math.floor(days)} days, on ${dayOf(expiresMs)}: renew it`);
  }
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
