// OpenSMTPD as a process of a test: on a free port, with one mailbox in a folder of its own, ended with the test. It needs root.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./alertmanager-peer.ts";
import { PATIENCE_MS } from "./patience.ts";
import { until } from "./until.ts";

const READY = "ready";

const SMTPD = "/usr/sbin/smtpd";

/** Whether it can be run here. */
export function canRunOpenSmtpd(): boolean {
  return existsSync(SMTPD) && process.getuid?.() === 0;
}

export class OpenSmtpdPeer {
  readonly #folder = mkdtempSync(join(tmpdir(), "vedette-smtpd-"));
  #child: ChildProcess | undefined;
  #log = "";
  port = 0;

  /** Starts it; mail to `address` is delivered, to others of its domain refused with 550. */
  async start(address: string): Promise<void> {
    this.port = await freePort();
    const mail = join(this.#folder, "mail");
    mkdirSync(mail);
    // Its deliveries run as nobody.
    chmodSync(this.#folder, 0o755);
    chmodSync(mail, 0o777);
    const config = join(this.#folder, "smtpd.conf");
    const lines = [
      `listen on 127.0.0.1 port ${this.port}`,
      `table mailboxes { "${address}" = "nobody" }`,
      `action "deliver" maildir "${mail}" virtual <mailboxes>`,
      `match from any for domain "${address.slice(address.indexOf("@") + 1)}" action "deliver"`,
    ];
    writeFileSync(config, `${lines.join("\n")}\n`);
    this.#child = spawn(SMTPD, ["-d", "-f", config], { stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [this.#child.stdout, this.#child.stderr]) stream?.on("data", (text: Buffer) => (this.#log += text.toString()));
    const child = this.#child;
    const look = async () => {
      if (await this.#isListening()) return READY;
      if (child.exitCode !== null) throw new Error(`it ended before it was ready: ${this.#log.slice(-2_000)}`);
      return this.#log;
    };
    await until("it is ready", look, (seen) => seen === READY, { patienceMs: PATIENCE_MS, everyMs: 50 });
  }

  /** Mails that were delivered, the oldest first. */
  mails(): string[] {
    const folder = join(this.#folder, "mail", "new");
    const names = existsSync(folder) ? readdirSync(folder) : [];
    return names.map((name) => readFileSync(join(folder, name), "utf8")).sort((a, b) => dateOf(a) - dateOf(b));
  }

  #isListening(): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = connect(this.port, "127.0.0.1");
      socket.once("data", () => {
        socket.destroy();
        resolve(true);
      });
      socket.once("error", () => resolve(false));
    });
  }

  async close(): Promise<void> {
    if (this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null) {
      this.#child.kill("SIGTERM"); // its children end with it
      await once(this.#child, "exit");
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function dateOf(mail: string): number {
  return Date.parse(/^Date: (.*)$/m.exec(mail)?.[1] ?? "");
}
