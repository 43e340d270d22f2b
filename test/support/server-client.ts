// A client of a running server: one request, one whole answer, with every header as the test says, Host and Origin included.
import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";

type Headers = Readonly<Record<string, string>>;

/** What a test asks. Host and Content-Length are added where absent. */
export interface Question {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Headers;
  readonly body?: string | Uint8Array;
}

/** What came back. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body as JSON; throws where it is none. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  json(): any;
}

/** Headers of a remote-write 1.0 request as Prometheus sends them. */
export const REMOTE_WRITE_HEADERS: Headers = {
  "Content-Encoding": "snappy",
  "Content-Type": "application/x-protobuf",
  "X-Prometheus-Remote-Write-Version": "0.1.0",
};

/** Asks one server over keep-alive connections. */
export class ServerClient {
  readonly #origin: string;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 8 });

  constructor(origin: string) {
    this.#origin = origin;
  }

  get port(): number {
    return Number(new URL(this.#origin).port);
  }

  /** Sends a request and gives the answer as a stream. */
  open({ method = "GET", path, headers = {}, body }: Question): Promise<IncomingMessage> {
    const length = body === undefined ? {} : { "Content-Length": String(Buffer.byteLength(body)) };
    const { hostname: host, port } = new URL(this.#origin);
    return new Promise((resolve, reject) => {
      const options = { host, port, method, path, headers: { ...length, ...headers }, agent: this.#agent };
      request(options, resolve).on("error", reject).end(body);
    });
  }

  async ask(question: Question): Promise<Answer> {
    const response = await this.open(question);
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    return { status: response.statusCode as number, headers: response.headers, text, json: () => JSON.parse(text) };
  }

  get(path: string, headers: Headers = {}): Promise<Answer> {
    return this.ask({ path, headers });
  }

  /** Posts JSON: texts and bytes as they are, anything else encoded. */
  postJson(path: string, content: unknown, headers: Headers = {}): Promise<Answer> {
    const body = typeof content === "string" || content instanceof Uint8Array ? content : JSON.stringify(content);
    return this.ask({ method: "POST", path, headers: { "Content-Type": "application/json", ...headers }, body });
  }

  /** Posts a snappy block to the remote-write endpoint. */
  postRemoteWrite(body: Uint8Array, path = "/api/v1/rwmetrics/write"): Promise<Answer> {
    return this.ask({ method: "POST", path, headers: REMOTE_WRITE_HEADERS, body });
  }

  /** The value of one line of /metrics, by its name and labels as written there. */
  async metric(series: string): Promise<number> {
    const { text } = await this.get("/metrics");
    const line = text.split("\n").find((each) => each.startsWith(`${series} `));
    return Number(line?.slice(series.length));
  }

  close(): void {
    this.#agent.destroy();
  }
}
