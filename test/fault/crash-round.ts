// One round of the crash test: a server is loaded, killed and started again over one data folder until every request is acknowledged.
import { listSegments } from "../../src/adapters/log/log-segment.ts";
import { logDirectory } from "../../src/adapters/log/meta-file.ts";
import { monthOf, monthText } from "../../src/domain/access/billing-month.ts";
import { type Generator, generator } from "../support/generator.ts";
import { LoadSender } from "../support/load-sender.ts";
import { LoadScript, repetitions } from "../support/load-sender-script.ts";
import type { ServerBench, ServerProcess, ServerSettings } from "../support/server-process.ts";
import { authorization, JWT_SECRET } from "../support/tokens.ts";
import { settledDeadLetters } from "./holdings.ts";

const SENDERS = 5;
const REQUESTS_PER_SENDER = 45;
const ENGINES_MAX = 3;
/** 100,000 rows are 1.6 MB of log. */
const REPETITION_ROWS = 100_000;
/** Bodies of repetitions that fill a segment of 64 MiB. */
const REPETITIONS_OF_SEGMENT = 45;
/** Starts between which the load is divided, and the one in which a segment is filled. */
const PARTS = 5;
const FILLED_PART = 3;
/** How a server is ended; the more often named, the more often done. */
const WAYS = ["kill", "kill", "kill later", "kill later", "kill in stop", "stop"] as const;
const KILL_DELAY_MS_MAX = { "kill later": 10, "kill in stop": 60, stop: 0 };
const HOUR_MS = 3600 * 1000;

export interface RoundOptions {
  readonly seed: number;
  /** Whether a log segment is filled on the way, which takes some seconds. */
  readonly fillsSegment: boolean;
}

/** What a round did. */
export interface RoundReport {
  readonly requests: number;
  readonly kills: number;
  readonly repeated: number;
  /** Of each start. */
  readonly engines: readonly number[];
  /** Log segments that were filled. */
  readonly segmentsFilled: number;
}

export class CrashRound {
  readonly scripts: readonly LoadScript[];
  readonly #random: Generator;
  readonly #bench: ServerBench;
  readonly #folder: string;
  readonly #options: RoundOptions;
  readonly #startedMs: number;
  readonly #startMs: number;
  readonly #senders: readonly LoadSender[];
  readonly #engines: number[] = [];
  #acknowledged = 0;
  #onAcknowledged: () => void = () => {};
  #kills = 0;
  #segmentsFilled = 0;
  /** All that have sent, those of repetitions too. */
  readonly #sent: LoadSender[] = [];
  /** Dead letters that the server must have, by reason, and those that it may have besides. */
  #certain: Record<string, number> = {};
  #perhaps: Record<string, number> = {};

  constructor(bench: ServerBench, options: RoundOptions, nowMs: number) {
    this.#bench = bench;
    this.#options = options;
    this.#folder = bench.dataFolder();
    this.#random = generator(options.seed);
    this.#startedMs = nowMs;
    this.#startMs = Math.floor(nowMs / 1000) * 1000 - 2 * HOUR_MS;
    this.scripts = Array.from({ length: SENDERS }, (_, i) => {
      return new LoadScript({
        seed: options.seed * 100 + i,
        serviceId: `service-${i}`,
        startMs: this.#startMs,
        requests: REQUESTS_PER_SENDER,
      });
    });
    this.#senders = this.scripts.map(({ requests }) => new LoadSender(requests, () => this.#acknowledge()));
    this.#sent.push(...this.#senders);
  }

  get report(): RoundReport {
    const repeated = this.#senders.reduce((sum, sender) => sum + sender.repeated, 0);
    return {
      requests: SENDERS * REQUESTS_PER_SENDER,
      kills: this.#kills,
      repeated,
      engines: this.#engines,
      segmentsFilled: this.#segmentsFilled,
    };
  }

  /** Ends the server again and again, under load, in a start and in an orderly stop; returns the one that then holds everything. */
  async run(): Promise<ServerProcess> {
    for (let part = 1; part <= PARTS; part++) {
      const server = await this.#start();
      if (part === 1) await this.#repeat(server, 1);
      await this.#loadUntil(server, (part - 0.5) / PARTS, () => {}, false);
      if (part === FILLED_PART && this.#options.fillsSegment) await this.#repeat(server, REPETITIONS_OF_SEGMENT);
      else if (this.#random.uniform() < 0.5) await this.#bringCheckpoints(server);
      await this.#end(server, part / PARTS);
      if (this.#random.uniform() < 0.4) await this.#killInStart();
    }
    return this.#start();
  }

  /** Sends the same requests to a server that is left alone. */
  async sendAll(server: ServerProcess): Promise<void> {
    await new LoadSender([repetitions("repeated", this.#startMs, REPETITION_ROWS)]).run(server.origin);
    await Promise.all(this.scripts.map(({ requests }) => new LoadSender(requests).run(server.origin)));
  }

  async #start(): Promise<ServerProcess> {
    const server = this.#launch();
    await server.ready();
    await this.#countDeadLetters(server);
    await this.#countEvents(server);
    return server;
  }

  /** Every start must have counted the accepted events of all answers, once, and no others but those of requests that were cut off. */
  async #countEvents(server: ServerProcess): Promise<void> {
    const headers = await authorization("default", "super_admin");
    let counted = 0;
    for (const month of new Set([this.#startedMs, Date.now()].map((timeMs) => monthText(monthOf(timeMs))))) {
      const answer = await fetch(`${server.origin}/api/v1/billing/usage?month=${month}`, { headers });
      const usage = (await answer.json()) as { total_events: number; complete: boolean };
      if (!usage.complete) throw new Error(`the usage is not complete: ${JSON.stringify(usage)}`);
      counted += usage.total_events;
    }
    const least = this.#sent.reduce((sum, { accepted }) => sum + accepted, 0);
    const most = this.#sent.reduce((sum, { acceptedPerhaps }) => sum + acceptedPerhaps, least);
    if (counted < least || counted > most) throw new Error(`${counted} events are counted, must be ${least} to ${most}`);
  }

  /** The starts of which there is still a log. */
  epochsOfLog(): number[] {
    return [...new Set(listSegments(logDirectory(this.#folder)).map(({ epoch }) => epoch))];
  }

  /** Settings of the next start: the same folder, and some number of engines. */
  settings(): ServerSettings {
    const engines = 1 + Math.floor(this.#random.uniform() * ENGINES_MAX);
    this.#engines.push(engines);
    return { DATA_DIR: this.#folder, ENGINES: String(engines), JWT_SECRET };
  }

  #launch(): ServerProcess {
    return this.#bench.launch(this.settings());
  }

  /** Loads until a part of all requests is acknowledged, and ends the server there or a few milliseconds after. */
  async #end(server: ServerProcess, part: number): Promise<void> {
    const way = pick(this.#random, WAYS);
    const delayMs = way === "kill" ? 0 : this.#random.uniform() * KILL_DELAY_MS_MAX[way];
    let stopped: Promise<void> | undefined;
    await this.#loadUntil(
      server,
      part,
      () => {
        if (way === "stop") stopped = server.stop();
        else if (way === "kill in stop") server.signal("SIGINT");
        if (way === "kill") server.signal("SIGKILL");
        else if (way !== "stop") setTimeout(() => server.signal("SIGKILL"), delayMs);
      },
      true,
    );
    if (stopped === undefined) await this.#kill(server);
    else await stopped;
  }

  async #killInStart(): Promise<void> {
    const server = this.#launch();
    await pause(20 + this.#random.uniform() * 400);
    await this.#kill(server);
  }

  async #kill(server: ServerProcess): Promise<void> {
    await server.kill();
    this.#kills++;
    this.#segmentsFilled = Math.max(this.#segmentsFilled, ...listSegments(logDirectory(this.#folder)).map(({ segment }) => segment));
    const complaint = /^\S+Z (?:fatal|error) .*$/m.exec(server.output)?.[0];
    if (complaint !== undefined) throw new Error(`the server complained: ${complaint}\nof all that it printed:\n${server.output}`);
  }

  /** Sends until a part of all requests is acknowledged, then acts; senders that go on do so until the connection breaks or nothing is left. */
  async #loadUntil(server: ServerProcess, part: number, act: () => void, goesOn: boolean): Promise<void> {
    const threshold = Math.floor(part * SENDERS * REQUESTS_PER_SENDER);
    let acted = false;
    this.#onAcknowledged = () => {
      if (acted || this.#acknowledged < threshold) return;
      acted = true;
      act();
    };
    await Promise.all(this.#senders.map((sender) => sender.run(server.origin, () => goesOn || !acted)));
    if (!acted) throw new Error(`the load ended before the moment to act: ${server.output}`);
  }

  #acknowledge(): void {
    this.#acknowledged++;
    this.#onAcknowledged();
  }

  /** Makes the log grow, over some ticks of the engines, by what it takes for the checkpoints of a few partitions. */
  async #bringCheckpoints(server: ServerProcess): Promise<void> {
    for (let tick = 0; tick < 4; tick++) {
      await this.#repeat(server, 2);
      await pause(100);
    }
  }

  async #repeat(server: ServerProcess, times: number): Promise<void> {
    const request = repetitions("repeated", this.#startMs, REPETITION_ROWS);
    const sender = new LoadSender(Array.from({ length: times }, () => request));
    this.#sent.push(sender);
    await sender.run(server.origin);
  }

  /** Every start must hold the dead letters of all answers, and no others but those of requests that were cut off. */
  async #countDeadLetters(server: ServerProcess): Promise<void> {
    for (const sender of this.#senders) {
      addReasons(this.#certain, sender.rejected.splice(0));
      addReasons(this.#perhaps, sender.rejectedPerhaps.splice(0));
    }
    const least = Object.values(this.#certain).reduce((sum, count) => sum + count, 0);
    const held = await settledDeadLetters(server, least);
    for (const reason of new Set([...Object.keys(held), ...Object.keys(this.#certain)])) {
      const count = held[reason] ?? 0;
      const certain = this.#certain[reason] ?? 0;
      const most = certain + (this.#perhaps[reason] ?? 0);
      if (count < certain || count > most) throw new Error(`${count} dead letters of ${reason}, must be ${certain} to ${most}`);
    }
    this.#certain = { ...held };
    this.#perhaps = {};
  }
}

function addReasons(counts: Record<string, number>, reasons: readonly string[]): void {
  for (const reason of reasons) counts[reason] = (counts[reason] ?? 0) + 1;
}

function pick<T>(random: Generator, from: readonly T[]): T {
  return from[Math.floor(random.uniform() * from.length)] as T;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
