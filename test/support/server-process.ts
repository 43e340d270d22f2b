// The built server as a process of its own, as `make run` starts it: with nothing but the given settings, on a free port, over a folder that
// outlives its kills. Its log is text, for readers; test/conformance/log.test.ts has it as JSON. A test that fails says the last lines that the server wrote.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PATIENCE_MS } from "./patience.ts";
import { until } from "./until.ts";

/** Settings by name, as the server's environment. */
export type ServerSettings = Readonly<Record<string, string>>;

const LISTENS = / listens on (https?:\/\/\S+)/;

/** One run of the server, from its start to its end. */
export class ServerProcess {
  readonly #child: ChildProcess;
  readonly #dataDir: string;
  readonly #ended: Promise<number | string>;
  #output = "";
  #errors = "";

  private constructor(settings: ServerSettings, prefix: readonly string[]) {
    this.#dataDir = settings.DATA_DIR ?? "";
    const [program = process.execPath, ...args] = [...prefix, process.execPath, "--no-memory-reducer", "dist/main.js"];
    this.#child = spawn(program, args, {
      env: { PORT: "0", OTLP_PORT: "0", OTLP_GRPC_PORT: "0", ALERTS_PORT: "0", LOG_FORMAT: "text", GROUP_WAIT_SECONDS: "0", ...settings },
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) stream?.on("data", (text: Buffer) => (this.#output += text.toString()));
    this.#child.stderr?.on("data", (text: Buffer) => (this.#errors += text.toString()));
    this.#ended = once(this.#child, "close").then(([code, signal]) => (code ?? signal) as number | string);
  }

  /** Starts the server and does not wait. `settings` must name DATA_DIR; `prefix` is a program that runs it in its own place. */
  static launch(settings: ServerSettings, prefix: readonly string[] = []): ServerProcess {
    return new ServerProcess(settings, prefix);
  }

  /** Starts the server and waits until /readyz says that it is ready. */
  static async start(settings: ServerSettings): Promise<ServerProcess> {
    const server = ServerProcess.launch(settings);
    await server.ready();
    return server;
  }

  get dataDir(): string {
    return this.#dataDir;
  }

  get pid(): number {
    return this.#child.pid as number;
  }

  /** The link that makes its caller the owner, from the file that holds it while the output is no terminal. */
  get signInLink(): URL {
    return new URL(readFileSync(join(this.#dataDir, "sign-in-link"), "utf8").trim());
  }

  /** Everything it wrote. */
  get output(): string {
    return this.#output;
  }

  /** What it wrote to standard error: warnings, errors, and why it ended. */
  get errors(): string {
    return this.#errors;
  }

  /** Where it listens, without a slash at the end; known once it is ready. */
  get origin(): string {
    const origin = LISTENS.exec(this.#output)?.[1];
    if (origin === undefined) throw new Error(`the server does not listen yet: ${this.#tail()}`);
    return origin;
  }

  /** Resolves when it serves; rejects when it ends before or takes too long. */
  async ready(): Promise<void> {
    let code: number | string | undefined;
    void this.#ended.then((ended) => (code = ended));
    const look = () => {
      if (code !== undefined) throw new Error(`the server ended with ${code} before it was ready: ${this.#tail()}`);
      return this.#output;
    };
    await until("the server listens", look, (output) => LISTENS.test(output), { patienceMs: PATIENCE_MS, everyMs: 5 });
    if (this.origin.startsWith("https:")) return; // its certificate is the test's own; it says that it listens once it is ready
    const response = await fetch(`${this.origin}/readyz`);
    if (response.status !== 200) throw new Error(`/readyz says ${response.status}: ${await response.text()}`);
  }

  /** Waits for a line of its output. */
  async says(line: RegExp): Promise<void> {
    const look = () => this.#output;
    await until(`the server says ${line}`, look, (output) => line.test(output), { patienceMs: PATIENCE_MS, everyMs: 10 });
  }

  /** GETs JSON; throws on any status but 200. */
  async get<T>(path: string, query: Readonly<Record<string, string>> = {}): Promise<T> {
    const search = new URLSearchParams(query).toString();
    const response = await fetch(`${this.origin}${path}${search === "" ? "" : `?${search}`}`).catch(async (cause: unknown) => {
      throw new Error(`GET ${path}: no answer; the server ${await this.#state()}: ${this.#tail()}`, { cause });
    });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`GET ${path}?${search} says ${response.status}: ${text}\n${this.#tail()}`);
    return JSON.parse(text) as T;
  }

  /** Sends a signal and does not wait. */
  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Its exit code, or the name of the signal that ended it. */
  get ended(): Promise<number | string> {
    return this.#ended;
  }

  /** kill -9; returns how it ended, which is "SIGKILL" unless it was quicker. */
  async kill(): Promise<number | string> {
    this.signal("SIGKILL");
    return this.#ended;
  }

  /** Stops it in order; rejects unless it exits with code 0 in time. */
  async stop(): Promise<void> {
    this.signal("SIGINT");
    const late = setTimeout(() => this.signal("SIGKILL"), PATIENCE_MS);
    const code = await this.#ended;
    clearTimeout(late);
    if (code !== 0) throw new Error(`the server ended with ${code} instead of 0 after SIGINT: ${this.#tail()}`);
  }

  /** Whether it still runs; a moment is left to it to end. */
  async #state(): Promise<string> {
    const running = new Promise<string>((resolve) => setTimeout(() => resolve("runs"), 200));
    return Promise.race([running, this.#ended.then((code) => `ended with ${code}`)]);
  }

  #tail(): string {
    return this.#output.slice(-2_000);
  }
}

/** The servers and data folders of one test, ended and deleted together. */
export class ServerBench {
  readonly #servers: ServerProcess[] = [];
  readonly #folders: string[] = [];

  /** A new empty folder for DATA_DIR. */
  dataFolder(): string {
    const folder = mkdtempSync(join(tmpdir(), "vedette-data-"));
    this.#folders.push(folder);
    return folder;
  }

  /** Starts a server that is killed at the end; over a folder of its own where the settings name none. */
  async start(settings: ServerSettings = {}, prefix: readonly string[] = []): Promise<ServerProcess> {
    const server = this.launch(settings, prefix);
    await server.ready();
    return server;
  }

  /** The same without waiting until it is ready. */
  launch(settings: ServerSettings = {}, prefix: readonly string[] = []): ServerProcess {
    const server = ServerProcess.launch({ DATA_DIR: settings.DATA_DIR ?? this.dataFolder(), ...settings }, prefix);
    this.#servers.push(server);
    return server;
  }

  async close(): Promise<void> {
    await Promise.all(this.#servers.splice(0).map((server) => server.kill()));
    for (const folder of this.#folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  }
}
