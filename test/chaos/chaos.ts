// `make chaos`: CHAOS_MINUTES (30) of real senders against the built server, and beside them, three quarters of the time, everything that goes wrong: cut connections, odd bodies and
// names, slow peers, and what befalls the process itself (outages.ts). CHAOS_SEED (1) says what is sent and what happens, in which order; CHAOS_ENGINE (auto) the HTTP engine.
// A line each ten seconds; ends with 1 where a bar of verdict.ts does not hold.
import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import { Random } from "../fuzz/input/random.ts";
import { freePort } from "../support/alertmanager-peer.ts";
import { wholeNumberSetting } from "../support/whole-number-setting.ts";
import { credentialOf, makeAccounts } from "./chaos-accounts.ts";
import { ChaosServer } from "./chaos-server.ts";
import type { DisturbanceTarget } from "./disturbance.ts";
import type { DisturbanceReport } from "./disturbance-process.ts";
import { Ledger } from "./ledger.ts";
import { jsonBatches, LedgerSender, remoteWrites } from "./ledger-senders.ts";
import { OtelSender } from "./otel-senders.ts";
import { OutageSchedule } from "./outages.ts";
import type { QuietAnswer } from "./quiet-tenant.ts";
import { RealPeers } from "./real-peers.ts";
import { type ChaosRun, judgeChaos, QuietRecord } from "./verdict.ts";

const SETTING_RANGE = { least: 1, most: 999_999_999 };
const CALM_MS = 30_000;
const STORM_MS = 90_000;
const GAP_MS_MAX = 4_000;
const PROGRESS_MS = 10_000;
const STREAM_OUTAGES = 1;
const STREAM_SENDERS = 2;
const ENGINES = ["auto", "uws", "node"];

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

function randomOf(seed: number, stream: number, number = 0): Random {
  const random = new Random();
  random.start(seed, stream, number);
  return random;
}

/** A run from its start to its verdict. */
class Chaos {
  readonly #server: ChaosServer;
  readonly #seed: number;
  readonly #ledger = new Ledger();
  readonly #calm = new QuietRecord();
  readonly #storm = new QuietRecord();
  readonly #outages: OutageSchedule;
  readonly #disturbed = new Map<string, Map<string, number>>();
  readonly #throws: string[] = [];
  readonly #children: ChildProcess[] = [];
  readonly #startMs = performance.now();
  #isStorm = false;
  #now = "";

  constructor(server: ChaosServer, seed: number) {
    this.#server = server;
    this.#seed = seed;
    this.#outages = new OutageSchedule(server, randomOf(seed, STREAM_OUTAGES));
  }

  async run(minutes: number): Promise<ChaosRun> {
    const receiverPort = await freePort();
    const apiKey = await makeAccounts(this.#server.origin, receiverPort);
    const peers = new RealPeers(this.#server);
    await peers.start();
    const senders = [
      new LedgerSender(this.#server, this.#ledger, jsonBatches("checkout", randomOf(this.#seed, STREAM_SENDERS, 1))),
      new LedgerSender(this.#server, this.#ledger, remoteWrites("orders", randomOf(this.#seed, STREAM_SENDERS, 2))),
      ...(["json", "proto", "grpc"] as const).map((kind) => new OtelSender(kind, this.#server, this.#ledger)),
    ];
    for (const sender of senders) sender.start();
    const disturber = await this.#startDisturber(receiverPort);
    this.#fork("quiet-tenant.ts", [this.#server.origin, apiKey], (answer) => this.#onQuiet(answer as QuietAnswer));
    console.log(`chaos: ${minutes} min, seed ${this.#seed}; JSON, remote-write, OpenTelemetry's exporters, ${peers.names.join(", ")}`);
    const progress = setInterval(() => this.#progress(), PROGRESS_MS);
    try {
      const endMs = performance.now() + minutes * 60_000;
      while (performance.now() < endMs) {
        await this.#calmWeather(disturber);
        await this.#stormyWeather(disturber, Math.min(endMs, performance.now() + STORM_MS));
      }
    } finally {
      clearInterval(progress);
      for (const child of this.#children) if (child.connected) child.disconnect();
      await peers.close();
    }
    await Promise.all(senders.map((sender) => sender.stop()));
    return await this.#end(senders);
  }

  /** Nothing but the real senders, for what the others are compared with. */
  async #calmWeather(disturber: ChildProcess): Promise<void> {
    disturber.send("off");
    this.#isStorm = false;
    this.#now = "calm";
    await pause(CALM_MS);
    await this.#ledger.check(this.#server.process);
  }

  async #stormyWeather(disturber: ChildProcess, endMs: number): Promise<void> {
    disturber.send("on");
    this.#isStorm = true;
    for (let number = 0; performance.now() < endMs; number++) {
      this.#now = "storm";
      await pause(randomOf(this.#seed, STREAM_OUTAGES, number + 1).below(GAP_MS_MAX));
      this.#now = await this.#outages.next();
    }
  }

  /** A last kill, and all that was acknowledged is read back. */
  async #end(senders: ReadonlyArray<LedgerSender | OtelSender>): Promise<ChaosRun> {
    await this.#server.outage(() => this.#server.restart("SIGKILL"));
    await this.#ledger.check(this.#server.process);
    this.#throws.push(...this.#server.thrown);
    for (const sender of senders) if (sender instanceof LedgerSender) this.#throws.push(...[...sender.wrong.keys()]);
    for (const [name, statuses] of this.#disturbed)
      console.log(
        `         ${name}: ${[...statuses].map(([status, count]) => `${count} x ${status === "0" ? "no answer" : status}`).join(", ")}`,
      );
    for (const [name, count] of this.#outages.done) console.log(`         ${count} x ${name}`);
    const { samples, logs, lost, lostCount } = this.#ledger;
    return {
      faults: this.#server.faults,
      throws: this.#throws,
      acknowledged: { samples, logs },
      lost,
      lostCount,
      calm: this.#calm,
      storm: this.#storm,
    };
  }

  async #startDisturber(receiverPort: number): Promise<ChildProcess> {
    const target: DisturbanceTarget = {
      seed: this.#seed,
      ports: this.#server.ports,
      admin: await credentialOf("odd", "admin"),
      viewer: await credentialOf("odd", "viewer"),
    };
    return await new Promise((resolve) => {
      const args = [JSON.stringify(target), String(receiverPort)];
      const child = this.#fork("disturbance-process.ts", args, (reports) => {
        resolve(child);
        for (const report of reports as DisturbanceReport[]) this.#onDisturbed(report);
      });
    });
  }

  #fork(file: string, args: readonly string[], onMessage: (message: unknown) => void): ChildProcess {
    const child = fork(join(import.meta.dirname, file), args, { execArgv: process.execArgv });
    this.#children.push(child);
    child.on("message", onMessage);
    child.on("exit", (code) => {
      if (code !== 0) throw new Error(`${file} ended with ${code}, which is the fault of the run and not of the server`);
    });
    return child;
  }

  #onQuiet(answer: QuietAnswer): void {
    if (this.#server.isExcusedSince(performance.now() - answer.ms)) return;
    (this.#isStorm ? this.#storm : this.#calm).add(answer);
  }

  #onDisturbed({ name, statuses, faults }: DisturbanceReport): void {
    const sums = this.#disturbed.get(name) ?? new Map<string, number>();
    this.#disturbed.set(name, sums);
    for (const [status, count] of Object.entries(statuses)) sums.set(status, (sums.get(status) ?? 0) + count);
    for (const number of faults) this.#throws.push(`${name} number ${number} of seed ${this.#seed} is answered 500`);
  }

  #progress(): void {
    const seconds = ((performance.now() - this.#startMs) / 1_000).toFixed(0).padStart(5);
    const { samples, logs, lostCount } = this.#ledger;
    const done = [...this.#disturbed.values()].reduce((sum, statuses) => sum + [...statuses.values()].reduce((a, b) => a + b, 0), 0);
    console.log(
      `${seconds} s  ${this.#now}: ${samples} samples, ${logs} logs acknowledged, ${lostCount} lost; ${done} disturbances, ${this.#server.starts} starts, ${this.#server.faults.length} faults; quiet tenant without ${this.#calm.text}; with ${this.#storm.text}`,
    );
  }
}

async function main(): Promise<void> {
  const minutes = wholeNumberSetting("CHAOS_MINUTES", 30, SETTING_RANGE);
  const seed = wholeNumberSetting("CHAOS_SEED", 1, SETTING_RANGE);
  const engine = process.env.CHAOS_ENGINE ?? "auto";
  if (!ENGINES.includes(engine)) throw new Error(`CHAOS_ENGINE must be one of ${ENGINES.join(", ")}`);
  const server = await ChaosServer.open(engine);
  try {
    const claims = judgeChaos(await new Chaos(server, seed).run(minutes));
    for (const { what, holds, found } of claims) {
      console.log(`${holds ? "holds    " : "FAILS    "}${what}`);
      for (const line of found) console.log(`         ${line}`);
    }
    const passed = claims.every(({ holds }) => holds);
    console.log(`chaos: ${passed ? "passed" : `FAILED; replay: CHAOS_SEED=${seed} CHAOS_MINUTES=${minutes} make chaos`}`);
    process.exitCode = passed ? 0 : 1;
  } finally {
    await server.close();
  }
}

await main().catch((error: unknown) => {
  console.error(`chaos: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
});
process.exit();
