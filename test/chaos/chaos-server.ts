// The server that chaos befalls: one data folder on a small disk of its own where one can be mounted, fixed ports so that senders find it again, a wall clock that
// can be shifted. It knows which of its ends were planned; after one that was not it is started again, and the end is a fault.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../support/alertmanager-peer.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { ServerProcess, type ServerSettings } from "../support/server-process.ts";
import { canMount, SmallDisks } from "../support/small-disk.ts";
import { JWT_SECRET } from "../support/tokens.ts";
import { until } from "../support/until.ts";

/** Holds an hour of what is sent; filling it takes as much memory. */
const DISK_BYTES = 768 * 1024 * 1024;
/** After an outage, for senders that had to wait to be served. */
const GRACE_MS = 3_000;
const LOOK_MS = 20;
/** By then all of its threads have seen that the clock is shifted. */
const SHIFT_SEEN_MS = 2_000;
const SHOWN_CHARS = 1_500;
/** What it says, and ends with 1, where the machine was too slow for its last checkpoints: nothing is lost by that. */
const STOPPED_LATE = "stopped late: not every checkpoint was written";
/** A line of a log with the stack of an error behind it, or one that is fatal. */
const THROWN = /^\d{4}-\S+ (?:fatal .*|\w+ .*\n(?!\d{4}-).*\n\s+at .*)/gm;

/** Where it listens. */
export interface ChaosPorts {
  readonly http: number;
  readonly otlp: number;
  readonly grpc: number;
  readonly alerts: number;
}

export class ChaosServer {
  readonly ports: ChaosPorts;
  /** Ends that nobody planned, starts that failed and what else must not be, a line each. */
  readonly faults: string[] = [];
  starts = 0;
  readonly #disk: SmallDisks | undefined;
  readonly #folder = mkdtempSync(join(tmpdir(), "vedette-chaos-"));
  readonly #engine: string;
  /** What the servers wrote that have ended. */
  readonly #logs: string[] = [];
  #server: ServerProcess | undefined;
  #planned = 0;
  #isClosing = false;
  #shiftMs = 0;
  /** Of a monotonic clock: when it was last shifted. */
  #shiftedMs = Number.NEGATIVE_INFINITY;
  /** Of a monotonic clock: until then requests may fail. */
  #excusedUntilMs = Number.POSITIVE_INFINITY;

  private constructor(ports: ChaosPorts, disk: SmallDisks | undefined, engine: string) {
    this.ports = ports;
    this.#disk = disk;
    this.#engine = engine;
    this.shiftClock(0);
  }

  static async open(engine: string): Promise<ChaosServer> {
    const ports = { http: await freePort(), otlp: await freePort(), grpc: await freePort(), alerts: await freePort() };
    const server = new ChaosServer(ports, canMount ? await SmallDisks.mount({ "": DISK_BYTES }) : undefined, engine);
    try {
      await server.#start();
    } catch (error) {
      await server.close();
      throw error;
    }
    server.#excuse(GRACE_MS);
    return server;
  }

  /** Whether its disk can be filled here. */
  get hasDisk(): boolean {
    return this.#disk !== undefined;
  }

  get origin(): string {
    return `http://127.0.0.1:${this.ports.http}`;
  }

  /** Whether a planned outage was on, or had just ended, at this moment of a monotonic clock or since. */
  isExcusedSince(ms: number): boolean {
    return this.#planned > 0 || ms < this.#excusedUntilMs;
  }

  /** Lines of its logs that tell of a throw: those with a stack behind them, and fatal ones. */
  get thrown(): readonly string[] {
    return [...this.#logs, this.#server?.output ?? ""].flatMap((log) => log.match(THROWN) ?? []);
  }

  get process(): ServerProcess {
    if (this.#server === undefined) throw new Error("the server is not there");
    return this.#server;
  }

  /** Whether it takes samples of this moment: where its clock is behind they lie in its future. */
  get takesNow(): boolean {
    return this.#shiftMs >= 0 && performance.now() - this.#shiftedMs > SHIFT_SEEN_MS;
  }

  /** Processes that it has started itself, such as those of transforms. */
  get children(): readonly number[] {
    const pid = this.process.pid;
    try {
      const lists = readdirSync(`/proc/${pid}/task`).map((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8"));
      return lists
        .flatMap((list) => list.trim().split(" "))
        .filter((each) => each !== "")
        .map(Number);
    } catch {
      return []; // it has ended, or the kernel does not tell
    }
  }

  /** Sets the wall clock of all its threads off by so much, within a tenth of a second. */
  shiftClock(ms: number): void {
    this.#shiftMs = ms;
    this.#shiftedMs = performance.now();
    writeFileSync(join(this.#folder, "shift"), String(ms));
  }

  /** Runs an outage: what fails until it is over, and the server ready again, is excused. */
  async outage(work: () => Promise<void>): Promise<void> {
    this.#planned++;
    try {
      await work();
      await this.#untilReady();
    } finally {
      this.#planned--;
      this.#excuse(GRACE_MS);
    }
  }

  /** Ends it by a signal and starts it again; within an outage. */
  async restart(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    const server = this.process;
    this.#server = undefined;
    server.signal(signal);
    const late = setTimeout(() => server.signal("SIGKILL"), PATIENCE_MS);
    const end = await server.ended;
    clearTimeout(late);
    this.#logs.push(server.output);
    const isPlanned = signal === "SIGKILL" ? end === signal : end === 0 || server.output.includes(STOPPED_LATE);
    if (!isPlanned) this.faults.push(`${signal} ended it with ${end}: ${server.errors.slice(-SHOWN_CHARS)}`);
    await this.#start();
  }

  fillDisk(): void {
    this.#disk?.fill("");
  }

  emptyDisk(): void {
    this.#disk?.empty("");
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#server?.kill();
    this.#disk?.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #excuse(ms: number): void {
    this.#excusedUntilMs = performance.now() + ms;
  }

  #settings(): ServerSettings {
    const { http, otlp, grpc, alerts } = this.ports;
    const clock = {
      NODE_OPTIONS: `--import=${join(import.meta.dirname, "shifted-clock.mjs")}`,
      CLOCK_SHIFT_FILE: join(this.#folder, "shift"),
    };
    const ports = { PORT: String(http), OTLP_PORT: String(otlp), OTLP_GRPC_PORT: String(grpc), ALERTS_PORT: String(alerts) };
    const access = { JWT_SECRET, WEBHOOK_ALLOW_PRIVATE: "true", PLAN_LIMITS: "free=unlimited" };
    const dataDir = this.#disk?.folder ?? join(this.#folder, "data");
    return { ...clock, ...ports, ...access, DATA_DIR: dataDir, HTTP_ENGINE: this.#engine, TMPDIR: tmpdir() };
  }

  async #start(): Promise<void> {
    const server = ServerProcess.launch(this.#settings(), this.#disk?.prefix);
    this.starts++;
    this.#server = server;
    await server.ready();
    void server.ended.then((end) => this.#onEnd(server, end));
  }

  #onEnd(server: ServerProcess, end: number | string): void {
    if (this.#isClosing || server !== this.#server) return;
    this.faults.push(`it ended by itself with ${end}: ${server.output.slice(-SHOWN_CHARS)}`);
    this.#server = undefined;
    this.#logs.push(server.output);
    void this.outage(() => this.#start()).catch((error: unknown) => this.faults.push(`it did not start again: ${String(error)}`));
  }

  async #untilReady(): Promise<void> {
    const look = () =>
      fetch(`${this.origin}/readyz`).then(
        ({ status }) => status,
        () => 0,
      );
    const waiting = { patienceMs: PATIENCE_MS, everyMs: LOOK_MS };
    await until("ready again after an outage", look, (status) => status === 200, waiting).catch((error: Error) => {
      this.faults.push(error.message);
    });
  }
}
