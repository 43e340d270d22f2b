// One run over an HTTP adapter: raw bytes over real sockets, many connections at once, several requests on each. An input is a request that a connection
// reached: one that was answered, or that ended the connection.
import { connect, type Socket } from "node:net";
import type { HttpEngineName, HttpExchange } from "../../../src/adapters/http/http-server.ts";
import { HttpTestBench } from "../../support/http-test-server.ts";
import type { CampaignOptions, CampaignResult, Finding } from "../campaign.ts";
import { hashName, Random } from "../input/random.ts";
import { attempt, must } from "../target.ts";
import { type Answer, readAnswers } from "./answer-stream.ts";
import { type ConnectionBytes, RequestSource } from "./request-bytes.ts";

const CONNECTIONS_AT_ONCE = 64;
const BODY_BYTES_MAX = 2048;
/** Whoever sent half a request and says no more is not waited for: the client hangs up after so many sweeps without a byte. */
const SWEEP_MS = 5;
const QUIET_SWEEPS = 8;
/** A connection that is still open then will not close. */
const STALLED_MS = 20_000;
/** What a server may answer to a stranger. */
const STATUSES: ReadonlySet<number> = new Set([200, 400, 404, 405, 408, 411, 413, 414, 417, 431, 501, 503, 505]);
const FORBIDDEN = /[\0\r\n ]/;
const HEADERS = [["Content-Type", "text/plain"]] as const;
const NO_BODY = new Uint8Array();

export interface HttpCampaignOptions extends CampaignOptions {
  /** First connection; a finding names its own. */
  readonly from?: number;
}

/** A digest that costs little: FNV-1a. */
function digest(body: Uint8Array): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < body.length; i++) hash = Math.imul(hash ^ (body[i] as number), 0x01000193);
  return `${body.length} ${(hash >>> 0).toString(16)}`;
}

/** Sends inputs until enough were reached or one fails. */
export async function runHttpCampaign(kind: HttpEngineName, options: HttpCampaignOptions): Promise<CampaignResult> {
  const campaign = new HttpCampaign(kind, options);
  return campaign.run();
}

class HttpCampaign {
  readonly #kind: HttpEngineName;
  readonly #options: HttpCampaignOptions;
  readonly #bench = new HttpTestBench();
  readonly #source: RequestSource;
  readonly #random = new Random();
  readonly #open = new Set<Connection>();
  readonly #features = new Set<string>();
  readonly #violations: string[] = [];
  #next: number;
  #reached = 0;
  #accepted = 0;
  #finding: Finding | undefined;

  constructor(kind: HttpEngineName, options: HttpCampaignOptions) {
    this.#kind = kind;
    this.#options = options;
    this.#source = new RequestSource(options.corpus, kind === "node");
    this.#next = options.from ?? 0;
  }

  async run(): Promise<CampaignResult> {
    const server = await this.#bench.serve(this.#kind, (exchange) => this.#handle(exchange), {});
    const sweep = setInterval(() => this.#sweep(), SWEEP_MS);
    const runner = async () => {
      while (this.#reached < this.#options.inputs && this.#finding === undefined) await this.#connection(this.#next++);
    };
    await Promise.all(Array.from({ length: CONNECTIONS_AT_ONCE }, runner));
    clearInterval(sweep);
    for (let turn = 0; turn < 100 && server.openConnections > 0; turn++) await new Promise((resolve) => setTimeout(resolve, 20));
    if (server.openConnections > 0)
      this.#find(this.#next - 1, new Uint8Array(), new Error(`${server.openConnections} connections are left open`));
    await this.#bench.close();
    const result = { inputs: this.#reached, accepted: this.#accepted, features: this.#features.size, kept: [] };
    return this.#finding === undefined ? result : { ...result, finding: this.#finding };
  }

  /** What the handler is given must be of the form that the port promises. */
  #handle(exchange: HttpExchange): void {
    const { method, path, query } = exchange.request;
    for (const [name, text] of [
      ["method", method],
      ["path", path],
      ["query", query],
    ] as const) {
      if (FORBIDDEN.test(text)) this.#violations.push(`a ${name} of ${JSON.stringify(text)}`);
    }
    if (!/^[/*]/.test(path) && method !== "CONNECT") this.#violations.push(`a path of ${JSON.stringify(path)}`);
    for (const name of ["host", "content-length", "x-empty"]) {
      if (/[\r\n\0]/.test(exchange.request.header(name) ?? "")) this.#violations.push(`a ${name} with a line end`);
    }
    const head = `${method} ${path} ${query}`;
    if (method !== "POST" && method !== "PUT") return void exchange.respond(200, HEADERS, `${head} ${digest(NO_BODY)}`);
    exchange.collectBody(BODY_BYTES_MAX, (body) => {
      if (body.length > BODY_BYTES_MAX) this.#violations.push(`a body of ${body.length} bytes`);
      exchange.respond(200, HEADERS, `${head} ${digest(body)}`);
    });
  }

  async #connection(index: number): Promise<void> {
    this.#options.onInput?.(index);
    const corpus = this.#options.corpus[index];
    this.#random.start(this.#options.seed, hashName("http"), index);
    const sent = corpus === undefined ? this.#source.connection(this.#random) : fromCorpus(corpus);
    const connection = new Connection(this.#bench.port, sent);
    this.#open.add(connection);
    const stalled = setTimeout(() => connection.giveUp(), STALLED_MS);
    try {
      const received = await connection.done;
      must(!connection.gaveUp, `the connection was open after ${STALLED_MS / 1000} s`);
      this.#judge(sent, readAnswers(received, true));
      const [fault] = this.#bench.faults;
      if (fault !== undefined) throw fault;
      must(this.#violations.length === 0, `the handler was given ${this.#violations[0]}`);
    } catch (error) {
      this.#find(index, Buffer.concat([sent.bytes, sent.later]), error);
    } finally {
      clearTimeout(stalled);
      this.#open.delete(connection);
    }
  }

  /**
   * The answers of one connection. Whole requests are answered as if nothing came behind them. Only where the damage came along with them may it cost
   * them their answers: node forgets what waits on a broken connection, uws loses what it has not yet sent and gives its refusal instead.
   */
  #judge({ later, whole, isDamaged }: ConnectionBytes, answers: readonly Answer[]): void {
    let right = 0;
    for (const { status } of answers) must(STATUSES.has(status), `answered ${status}`);
    for (; right < whole.length; right++) {
      const answer = answers[right];
      const expected = `${whole[right]?.head} ${digest(whole[right]?.body ?? NO_BODY)}`;
      if (answer?.status === 200 && answer.body.toString("latin1") === expected) continue;
      const isCutOff = isDamaged && later.length === 0 && right >= answers.length - 1 && (answer === undefined || answer.status !== 200);
      must(isCutOff, `${answer === undefined ? "nothing" : `${answer.status} ${shown(answer)}`} instead of ${expected}`);
      break;
    }
    const behind = answers.slice(right);
    must(isDamaged || (behind.length === 1 && behind[0]?.status === 200), `${behind.length} answers to the closing request`);
    this.#reached += right + (isDamaged ? 1 : 0);
    this.#accepted += right + (isDamaged && behind[0]?.status === 200 ? 1 : 0);
    this.#features.add(behind.map(({ status }) => status).join(" "));
  }

  #find(index: number, input: Uint8Array, error: unknown): void {
    this.#finding ??= { index, input, error };
  }

  #sweep(): void {
    for (const connection of this.#open) connection.sweep();
  }
}

function shown({ body }: Answer): string {
  return JSON.stringify(body.toString("latin1", 0, 120));
}

/** A file of the corpus is what one connection sends. */
function fromCorpus(bytes: Uint8Array): ConnectionBytes {
  return { bytes: Buffer.from(bytes), later: Buffer.alloc(0), whole: [], isDamaged: true };
}

/** One client's side: sends, reads until the server closes, hangs up where the server waits for more. */
class Connection {
  readonly done: Promise<Buffer>;
  gaveUp = false;
  readonly #socket: Socket;
  readonly #chunks: Buffer[] = [];
  /** Answers that must come, whatever else is sent. */
  #due: number;
  #quiet = 0;
  #hungUp = false;

  constructor(port: number, { bytes, later, whole, isDamaged }: ConnectionBytes) {
    this.#due = isDamaged ? (later.length > 0 ? whole.length : 0) : whole.length + 1;
    let waiting = later.length > 0;
    const sendLater = () => {
      waiting = false;
      this.#socket.write(later);
    };
    this.#socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true, noDelay: true });
    this.#socket.on("error", () => {}); // a reset shows as "close"
    this.#socket.on("data", (chunk) => {
      this.#chunks.push(chunk);
      this.#quiet = 0;
      if (!waiting && this.#due === 0) return;
      const answers = this.#answers();
      if (answers >= this.#due) this.#due = 0;
      if (waiting && answers >= whole.length) sendLater();
    });
    this.#socket.on("end", () => this.#socket.end());
    this.done = new Promise((resolve) => {
      this.#socket.on("close", () => resolve(Buffer.concat(this.#chunks)));
    });
    this.#socket.write(bytes);
    if (waiting && whole.length === 0) sendLater();
  }

  /** Whole answers so far; what is no answer counts as one, and is told at the end. */
  #answers(): number {
    return attempt(() => readAnswers(Buffer.concat(this.#chunks), false).length, Error) ?? Number.POSITIVE_INFINITY;
  }

  /** Called now and then; ends the sending side of a connection on which nothing has come for a while. */
  sweep(): void {
    if (this.#hungUp || this.#due > 0 || ++this.#quiet <= QUIET_SWEEPS) return;
    this.#hungUp = true;
    this.#socket.end();
  }

  giveUp(): void {
    this.gaveUp = true;
    this.#socket.destroy();
  }
}
