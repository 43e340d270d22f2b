// A server as users start it: dist/main.js in a process of its own, on a free port, with a data folder of its own; and a client for it.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

const MAIN = process.env.SERVER_MAIN ?? "dist/main.js";
const START_MS_MAX = 20_000;
const STOP_MS_MAX = 15_000;

/** What a test asks. Header values as they go out; Host and Content-Length are added where absent. */
export interface Question {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** What came back. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body as JSON; throws where it is none. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
  json(): any;
}

/** One server process. */
export class Served {
  readonly port: number;
  readonly dataDir: string;
  readonly #child: ChildProcess;
  readonly #lines: string[];
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 8 });

  private constructor(child: ChildProcess, port: number, dataDir: string, lines: string[]) {
    this.#child = child;
    this.port = port;
    this.dataDir = dataDir;
    this.#lines = lines;
  }

  /** Starts a server with these settings and waits until it serves. */
  static async start(environment: Readonly<Record<string, string>> = {}): Promise<Served> {
    if (!existsSync(MAIN)) throw new Error(`${MAIN} is not built; run: make build`);
    const dataDir = mkdtempSync(join(tmpdir(), "vedette-served-"));
    const env = { PATH: process.env.PATH ?? "", PORT: "0", DATA_DIR: dataDir, ...environment };
    const child = spawn(process.execPath, [MAIN], { env, stdio: ["ignore", "pipe", "pipe"] });
    const lines: string[] = [];
    for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk: Buffer) => lines.push(chunk.toString()));
    const port = await listeningPort(child, lines);
    return new Served(child, port, dataDir, lines);
  }

  /** Everything that the process has printed so far. */
  get output(): string {
    return this.#lines.join("");
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Sends a request and reads the whole answer. */
  async ask(question: Question): Promise<Answer> {
    const response = await this.open(question);
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    return { status: response.statusCode as number, headers: response.headers, text, json: () => JSON.parse(text) };
  }

  /** Sends a request and gives the answer as a stream. */
  open({ method = "GET", path, headers = {}, body }: Question): Promise<IncomingMessage> {
    const length = body === undefined ? {} : { "Content-Length": String(Buffer.byteLength(body)) };
    return new Promise((resolve, reject) => {
      const sent = request(
        { host: "127.0.0.1", port: this.port, method, path, headers: { ...length, ...headers }, agent: this.#agent },
        resolve,
      );
      sent.on("error", reject);
      sent.end(body);
    });
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.ask({ path, headers });
  }

  /** Posts JSON: a text as it is, anything else as JSON. */
  postJson(path: string, content: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    const body = typeof content === "string" || content instanceof Uint8Array ? content : JSON.stringify(content);
    return this.ask({ method: "POST", path, headers: { "Content-Type": "application/json", ...headers }, body });
  }

  /** Resident memory of the process, by its own account. */
  async residentBytes(): Promise<number> {
    const { text } = await this.get("/metrics");
    return Number(/^vedette_resident_bytes (\S+)$/m.exec(text)?.[1]);
  }

  /** Asks the process to stop and removes its data; returns its exit code, null where it had to be killed. */
  async stop(): Promise<number | null> {
    this.#agent.destroy();
    const code = await endProcess(this.#child, "SIGTERM");
    rmSync(this.dataDir, { recursive: true, force: true });
    return code;
  }
}

/** Ends a process that this test started; null where it did not end by itself in time. */
export async function endProcess(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  child.kill(signal);
  const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS_MAX);
  await ended;
  clearTimeout(timer);
  return child.exitCode;
}

/** The port that the first line of a server's output names. */
function listeningPort(child: ChildProcess, lines: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const fail = (why: string) => reject(new Error(`the server ${why}; it printed: ${lines.join("")}`));
    const timer = setTimeout(() => fail(`did not listen within ${START_MS_MAX} ms`), START_MS_MAX);
    child.once("exit", (code) => fail(`ended with ${code}`));
    child.stdout?.on("data", () => {
      const found = /listens on http:\/\/[^\s]+:(\d+)/.exec(lines.join(""));
      if (found === null) return;
      clearTimeout(timer);
      resolve(Number(found[1]));
    });
  });
}
