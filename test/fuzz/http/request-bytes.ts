// Bytes of one HTTP connection: some requests as they should be, then perhaps one that is damaged, then one that asks to close. The damaged one comes behind
// the answers to the first, or along with them. All depends on seed and number of the connection alone, so that any can be sent again by itself.
import { InputWriter } from "../input/input-writer.ts";
import { Mutation } from "../input/mutation.ts";
import type { Random } from "../input/random.ts";
import { textTokens } from "../target.ts";

const REQUEST_BYTES_MAX = 4096;
/** Requests of one connection besides the closing one. */
const REQUESTS_MAX = 5;
/** A connection's last request, if the damaged one before it leaves it as such. */
const CLOSING = "GET /closing HTTP/1.1\r\nHost: vedette\r\nConnection: close\r\n\r\n";

/** What a server must answer to a request that is as it should be: method, target and body as the handler repeats them. */
export interface WholeRequest {
  readonly head: string;
  readonly body: Uint8Array;
}

/** What is sent over one connection: some bytes, and others behind the answers to the first. */
export interface ConnectionBytes {
  readonly bytes: Buffer;
  readonly later: Buffer;
  /** The requests at the front that are whole; `later` waits for their answers. */
  readonly whole: readonly WholeRequest[];
  readonly isDamaged: boolean;
}

const TOKENS = textTokens(
  "\r\n",
  "\r\n\r\n",
  "\n",
  "\r",
  " ",
  "\t",
  ":",
  "\0",
  "\x7f",
  "%00",
  "%",
  "?",
  "#",
  "//",
  "*",
  "HTTP/1.1",
  "HTTP/1.0",
  "HTTP/2.0",
  "GET ",
  "POST ",
  "CONNECT ",
  "Content-Length: 5\r\n",
  "Content-Length: -1\r\n",
  "Content-Length: 18446744073709551616\r\n",
  "Content-Length: 5, 5\r\n",
  "Transfer-Encoding: chunked\r\n",
  "Transfer-Encoding: gzip, chunked\r\n",
  "Transfer-Encoding : chunked\r\n",
  "Expect: 100-continue\r\n",
  "Connection: close\r\n",
  "Connection: upgrade\r\n",
  "Upgrade: websocket\r\n",
  "0\r\n\r\n",
  "5\r\nhello\r\n",
  "ffffffffffffffff\r\n",
  "fffffffe\r\n",
  "3;x=y\r\n",
  "http://vedette/x",
  "\xff",
  " folded\r\n",
  "Host: a\r\n",
);
const PATHS = ["/", "/api/v1/telemetry", "/a%20b", "/metrics", "/x/".repeat(20), "/%ff", "/é".normalize("NFD")];
const HEADERS = [
  "Accept: */*",
  "User-Agent: fuzz",
  "X-Long: ".padEnd(400, "y"),
  "Content-Type: application/json",
  "X-Empty:",
  "Accept-Encoding: gzip",
];

/** Makes the bytes of connections. */
export class RequestSource {
  readonly #writer = new InputWriter(REQUEST_BYTES_MAX);
  readonly #mutation = new Mutation(REQUEST_BYTES_MAX);
  readonly #corpus: readonly Uint8Array[];
  readonly #followsBodies: boolean;

  /** `followsBodies`: something may come in one packet behind a body and both are answered, which uws does not do (docs/proxy.md). */
  constructor(corpus: readonly Uint8Array[], followsBodies: boolean) {
    this.#corpus = corpus;
    this.#followsBodies = followsBodies;
  }

  connection(random: Random): ConnectionBytes {
    const parts: Uint8Array[] = [];
    const whole: WholeRequest[] = [];
    const isTogether = random.oneIn(4);
    for (let count = random.between(0, REQUESTS_MAX - 1); count > 0; count--) {
      whole.push(this.#write(random, this.#followsBodies || (count === 1 && !isTogether)));
      parts.push(this.#writer.bytes.slice());
    }
    const isDamaged = whole.length === 0 || !random.oneIn(8);
    const behind = isDamaged ? [this.#damaged(random), Buffer.from(CLOSING)] : [Buffer.from(CLOSING)];
    if (isTogether) return { bytes: Buffer.concat([...parts, ...behind]), later: Buffer.alloc(0), whole, isDamaged };
    return { bytes: Buffer.concat(parts), later: Buffer.concat(behind), whole, isDamaged };
  }

  #damaged(random: Random): Uint8Array {
    this.#write(random);
    const other = this.#writer.bytes.slice();
    this.#write(random);
    const base = this.#corpus.length > 0 && random.oneIn(6) ? random.pick(this.#corpus) : this.#writer.bytes;
    return this.#mutation.damage(base, other, TOKENS, random).slice();
  }

  /** Writes a whole request and says how it is to be repeated. */
  #write(random: Random, mayHaveBody = true): WholeRequest {
    const out = this.#writer.clear();
    const path = random.pick(PATHS.slice(0, -1));
    const query = random.oneIn(3) ? `?a=${random.below(1000)}&b=%20` : "";
    const hasBody = random.oneIn(2) && mayHaveBody;
    const method = hasBody ? random.pick(["POST", "PUT"]) : random.pick(["GET", "DELETE", "OPTIONS"]);
    out.text(`${method} ${path}${query} HTTP/1.1\r\n${random.pick(["Host", "host", "HOST"])}: vedette\r\n`);
    for (let headers = random.below(4); headers > 0; headers--) out.text(`${random.pick(HEADERS)}\r\n`);
    const body = hasBody ? Uint8Array.from({ length: random.below(random.pick([4, 40, 600])) }, () => random.next()) : new Uint8Array();
    if (hasBody && random.oneIn(3)) writeChunked(out, body, random);
    else if (hasBody) out.text(`Content-Length: ${body.length}\r\n\r\n`).raw(body);
    else out.text("\r\n");
    return { head: `${method} ${path} ${query.slice(1)}`, body };
  }
}

function writeChunked(out: InputWriter, body: Uint8Array, random: Random): void {
  out.text("Transfer-Encoding: chunked\r\n\r\n");
  for (let at = 0; at < body.length; ) {
    const piece = body.subarray(at, at + random.between(1, 200));
    out
      .text(`${piece.length.toString(16)}\r\n`)
      .raw(piece)
      .text("\r\n");
    at += piece.length;
  }
  out.text("0\r\n\r\n");
}
