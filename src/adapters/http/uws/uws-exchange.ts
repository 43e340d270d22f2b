/**
 * One exchange on uws. Rules of the native side that shape it: onAborted and onData are attached before the handler returns; a chunk's memory
 * is taken away after its callback; every write happens inside cork(); after the end or the abort the response must not be touched again.
 */
import { after, afterTurn, answerFault, connection, fatal, guardedOf, guardedOr, type Home } from "../../../core/faults/guard.ts";
import { type AnswerHead, isBodiless, statusLine } from "../answer-head.ts";
import { type AppendOutcome, BodyCollector, bodyRefusal } from "../body-collector.ts";
import type { Expiring } from "../deadline-sweep.ts";
import { BUFFERED_BODY_BYTES_MAX, UWS_ENDING_BYTES_MAX, UWS_WHOLE_ANSWER_BYTES_MAX } from "../http-limits.ts";
import type { BodyReceiver, HttpExchange, HttpHandler, HttpHeaders, HttpStream, RefusalCode } from "../http-server.ts";
import type { HeadFault } from "../request-headers.ts";
import type { ServerContext } from "../server-context.ts";
import type { UwsRequest, UwsResponse } from "./uws-library.ts";
import { UwsRequestHead } from "./uws-request.ts";
import { UwsStream } from "./uws-stream.ts";

const NO_EXTENSIONS =
  "the body did not end: chunk extensions are not understood here; leave them, or start the server with HTTP_ENGINE=node";
const NO_BYTES = new Uint8Array();
const CHUNKS_END = Buffer.from("\r\n0\r\n\r\n");

/** The last bytes of a body, as many as CHUNKS_END has, when another piece has come. */
function tailOf(tail: Uint8Array, chunk: ArrayBuffer): Buffer {
  const from = Math.max(0, chunk.byteLength - CHUNKS_END.length);
  return Buffer.concat([tail, new Uint8Array(chunk, from)]).subarray(-CHUNKS_END.length);
}

/** What the exchanges of one server have in common. */
export interface UwsPort {
  readonly context: ServerContext;
  readonly whole: WholeBodies;
  /** Called once for each exchange, when its answer has left our hands or its client is gone. */
  onOver(): void;
}

/** An exchange. Closures and homes are made where they are needed: a small post has those alone that the native side keeps. */
export class UwsExchange implements HttpExchange, Expiring {
  readonly request: UwsRequestHead;
  tenant?: string;
  sweepIndex = -1;
  sweepsLeft = 0;
  readonly #response: UwsResponse;
  readonly #port: UwsPort;
  readonly #context: ServerContext;
  #aborted = false;
  #answered = false;
  #over = false;
  /** The client has not sent all of the body that its head announces. */
  #bodyPending: boolean;
  #collector: BodyCollector | undefined;
  #buffered: BufferedBody | undefined;
  /** An answer that waits until the client has sent its unwanted body, for lingerMs at most. */
  #lingering: (() => void) | undefined;
  /** Last bytes of a chunked body, and what waits for more of it where they look like its end. */
  #tail: Uint8Array = NO_BYTES;
  #endTimer: NodeJS.Timeout | undefined;
  #stream: UwsStream | undefined;
  #abortCallback: (() => void) | undefined;

  constructor(response: UwsResponse, request: UwsRequest, port: UwsPort) {
    const { context } = port;
    this.#response = response;
    this.#port = port;
    this.#context = context;
    response.onAborted(guardedOf<UwsExchange, []>(this, UwsExchange.#wireOf, UwsExchange.#onAborted));
    this.request = new UwsRequestHead(request, response, context.isUnix);
    this.#bodyPending = this.request.headers.announceBody;
    if (this.#bodyPending) this.#attachData();
  }

  get home(): Home {
    return { where: "request", name: "a request over HTTP", answer: (error) => this.#fault(error) };
  }

  /** Of what goes wrong between the socket and the request: nobody could say where its bytes end. */
  get #wire(): Home {
    return connection("a connection of HTTP", () => {
      if (!this.#over) this.#response.close();
    });
  }

  static readonly #wireOf = (exchange: UwsExchange): Home => exchange.#wire;
  static readonly #onAborted = (exchange: UwsExchange): void => exchange.#abort();
  static readonly #onChunk = (exchange: UwsExchange, chunk: ArrayBuffer, isLast: boolean): void => exchange.#onData(chunk, isLast);

  get aborted(): boolean {
    return this.#aborted;
  }

  hold(): (rest: () => void) => void {
    if (!this.#answered && !this.#over && this.#buffered === undefined) {
      this.#buffered = new BufferedBody(this.#response);
      if (!this.#bodyPending) this.#attachData();
    }
    return (rest) => {
      if (!this.#over) this.guard(rest);
    };
  }

  collectBody(maxBytes: number, onBody: BodyReceiver): void {
    if (this.#answered || this.#over || this.#collector !== undefined) return;
    if ((this.request.headers.contentLength ?? 0) > maxBytes) return this.#refuseBody("too-long", maxBytes);
    const { pool, bodies } = this.#context;
    const account = bodies.open(this.tenant ?? "", this.request);
    this.#collector = new BodyCollector({ maxBytes, onBody }, { pool, account });
    if (this.#buffered !== undefined) return this.#releaseBuffered(this.#buffered);
    if (!this.#bodyPending) return this.#attachData(); // gives one empty last chunk after the handler
    this.#context.sweep.add(this, this.#context.limits.bodyTimeoutMs);
  }

  respond(status: number, headers: HttpHeaders, body: string | Uint8Array): boolean {
    if (this.#answered || this.#over) return false;
    const whole = this.#context.heads.whole(status, headers);
    if (body.length > this.#context.limits.answerBytesMax) throw new RangeError(`answer of ${body.length} bytes`);
    this.#answer(status, whole, body, this.#context.draining);
    return true;
  }

  openStream(status: number, headers: HttpHeaders): HttpStream | undefined {
    if (this.#answered || this.#over) return undefined;
    const whole = this.#context.heads.whole(status, headers);
    this.#takeAnswer();
    const writeHead = (): void => this.#writeHead(status, whole);
    const bodiless = this.request.method === "HEAD" || isBodiless(status);
    this.#stream = new UwsStream({ writeHead, bodiless, guard: (call) => this.guard(call) }, this.#response, () => this.#finish());
    return this.#stream;
  }

  onAbort(callback: () => void): void {
    this.#abortCallback = callback;
  }

  /** Gives an answer of the adapter's own, closing the connection behind it if `close`. */
  refuse(status: number, code: RefusalCode, message: string, close: boolean): void {
    if (this.#answered || this.#over) return;
    const { headers, body } = this.#context.options.refusal(status, code, message, this.request);
    const whole = this.#context.heads.whole(status, headers);
    if (!close) return this.#answer(status, whole, body, this.#context.draining);
    this.#takeAnswer();
    // An answer that is due keeps uws from serving the next request of the connection: it cuts the connection off instead. So the answer waits until the
    // parser is done with what has come. Of a body that is still coming it also waits for the end: closed earlier, the kernel resets the connection
    // before the client has read.
    const send = () => afterTurn(this.#wire, () => !this.#over && this.#sendAndClose(status, whole, body));
    if (this.#bodyPending) this.#linger(send);
    else send();
  }

  /** Refuses a request whose framing is at fault: where it ends nobody can say, so nothing more of the connection is read. */
  refuseHead({ status, code, message }: HeadFault): void {
    this.#refuseNow(status, code, message);
  }

  /** Runs the handler of requests, as `guard` does. */
  handle(handler: HttpHandler): void {
    try {
      handler(this);
    } catch (error) {
      answerFault(this.home, error);
    }
  }

  /** Runs somebody else's code: what it throws becomes a 500, or cuts off the answer that has begun. */
  guard(call: () => void): void {
    try {
      call();
    } catch (error) {
      answerFault(this.home, error);
    }
  }

  #fault(error: unknown): void {
    this.#context.options.onHandlerFault(error, this.request);
    try {
      if (this.#stream === undefined) this.refuse(500, "internal_error", "the server failed to handle the request", false);
    } finally {
      if (!this.#over && (this.#stream !== undefined || !this.#answered)) this.#response.close();
    }
  }

  /** The body took too long, or the client still sends what nobody wants. */
  expire(): void {
    if (this.#lingering !== undefined) this.#endLingering();
    else this.#refuseNow(408, "request_timeout", "the body took too long to arrive");
  }

  #attachData(): void {
    this.#response.onData(guardedOf<UwsExchange, [ArrayBuffer, boolean]>(this, UwsExchange.#wireOf, UwsExchange.#onChunk));
  }

  /** Hands over what came while the exchange was held: a turn later, as every body is. */
  #releaseBuffered(buffered: BufferedBody): void {
    this.#context.sweep.add(this, this.#context.limits.bodyTimeoutMs);
    afterTurn(this.#wire, () => {
      if (this.#answered || this.#over) return;
      this.#buffered = undefined;
      const chunks = buffered.take();
      chunks.forEach((chunk, index) => {
        this.#onPiece(chunk, buffered.isComplete && index === chunks.length - 1);
      });
      if (!buffered.isComplete && !this.#over) buffered.resume();
    });
  }

  #onData(chunk: ArrayBuffer, isLast: boolean): void {
    if (this.#buffered !== undefined) {
      if (isLast) this.#bodyPending = false;
      return this.#buffered.keep(chunk, isLast);
    }
    this.#onPiece(chunk, isLast);
  }

  #onPiece(chunk: ArrayBuffer, isLast: boolean): void {
    if (isLast) this.#bodyPending = false;
    if (this.#lingering !== undefined && isLast) return this.#endLingering();
    const collector = this.#collector;
    if (collector === undefined) return;
    const outcome = collector.append(new Uint8Array(chunk), isLast);
    if (outcome !== "taken") return this.#refuseBody(outcome, collector.maxBytes);
    if (!isLast) return this.#watchEnd(chunk);
    this.#context.sweep.remove(this);
    if (!this.#port.whole.add(this, chunk.byteLength)) this.deliver();
  }

  /** Hands over the body, which is whole. */
  deliver(): void {
    const collector = this.#collector;
    if (collector === undefined) return; // answered meanwhile, or the client is gone
    this.#collector = undefined;
    try {
      collector.deliver();
    } catch (error) {
      answerFault(this.home, error);
    }
  }

  /** Refuses a chunked body whose end was read as content, once nothing more comes: the parser takes a chunk extension for digits of the chunk's length. */
  #watchEnd(chunk: ArrayBuffer): void {
    clearTimeout(this.#endTimer);
    if (!this.request.headers.isChunked) return;
    this.#tail = tailOf(this.#tail, chunk);
    if (!CHUNKS_END.equals(this.#tail)) return;
    const refuse = () => this.#bodyPending && this.#refuseNow(400, "bad_request", NO_EXTENSIONS);
    this.#endTimer = after(this.#context.limits.lingerMs, this.#wire, refuse);
  }

  #refuseBody(outcome: Exclude<AppendOutcome, "taken">, maxBytes: number): void {
    this.refuse(...bodyRefusal(outcome, maxBytes), true);
  }

  #refuseNow(status: number, code: RefusalCode, message: string): void {
    this.#bodyPending = false; // no lingering: the client had its time
    this.refuse(status, code, message, true);
  }

  #takeAnswer(): void {
    this.#answered = true;
    clearTimeout(this.#endTimer);
    this.#collector?.discard();
    this.#collector = undefined;
    this.#buffered?.drop(!this.#aborted);
    this.#buffered = undefined;
    this.#context.sweep.remove(this);
  }

  #answer(status: number, head: AnswerHead, body: string | Uint8Array, close: boolean): void {
    this.#takeAnswer();
    // uws closes with the last byte of such an answer, and what then still comes in makes the kernel reset the connection before the client
    // has read. It also offers no way to close after an answer that was completed earlier. So the answer waits for the end of the body.
    if (close && this.#bodyPending) this.#linger(() => this.#response.cork(() => this.#send(status, head, body, close)));
    else this.#response.cork(() => this.#send(status, head, body, close));
  }

  #linger(send: () => void): void {
    this.#lingering = send;
    this.#context.sweep.add(this, this.#context.limits.lingerMs);
  }

  #endLingering(): void {
    const send = this.#lingering;
    this.#lingering = undefined;
    this.#context.sweep.remove(this);
    if (!this.#over) send?.();
  }

  #writeHead(status: number, { firstName, rest }: AnswerHead): void {
    if (status !== 200) this.#response.writeStatus(statusLine(status)); // uws begins with 200 OK by itself
    if (firstName !== "") this.#response.writeHeader(firstName, rest);
  }

  #send(status: number, head: AnswerHead, body: string | Uint8Array, close: boolean): void {
    this.#writeHead(status, head);
    if (this.request.method === "HEAD" || isBodiless(status)) {
      // Closing is left to the client or to the end of draining: with `close` uws demands a length, which it then gets wrong.
      if (close) this.#response.writeHeader("Connection", "close");
      if (!isBodiless(status)) this.#response.writeHeader("Content-Length", String(Buffer.byteLength(body)));
      this.#response.endWithoutBody();
    } else if (body.length > UWS_WHOLE_ANSWER_BYTES_MAX) {
      if (close) this.#response.writeHeader("Connection", "close");
      return this.#sendInSteps(typeof body === "string" ? Buffer.from(body) : body);
    } else {
      this.#response.end(body, close);
    }
    this.#finish();
  }

  /**
   * Sends a small answer and closes the connection, whatever it still holds. `end` with its flag to close does not do: where the reader of an earlier answer
   * is slow it closes later, and serves what comes until then. `close` must come before any end, so the body leaves as the rest of the last header line,
   * with the line's own end behind it.
   */
  #sendAndClose(status: number, head: AnswerHead, body: string | Uint8Array): void {
    const isText = typeof body === "string"; // JSON, where a line end does no harm: it is counted, so that the answer ends where it says
    const length = isText ? Buffer.byteLength(body) + 2 : body.length;
    const content = isText ? Buffer.from(body) : body;
    const isHead = this.request.method === "HEAD";
    const rest = isHead ? `${length}\r\n` : Buffer.concat([Buffer.from(`${length}\r\n\r\n`), content]);
    this.#response.cork(() => {
      this.#writeHead(status, head);
      this.#response.writeHeader("Connection", "close");
      this.#response.writeHeader("Content-Length", rest);
    });
    this.#finish();
    this.#response.close();
  }

  /** Leaves a large body in our memory and gives the kernel what it takes: end() would copy it and shift the copy at every step. */
  #sendInSteps(body: Uint8Array): void {
    const [, done] = this.#response.tryEnd(body, body.length);
    if (done) return this.#finish();
    const goOn = (offset: number) => {
      const [taken, complete] = this.#response.tryEnd(body.subarray(offset), body.length);
      if (complete) this.#finish();
      return taken;
    };
    this.#response.onWritable(guardedOr(this.#wire, true, goOn));
  }

  #finish(): void {
    if (this.#over) return;
    this.#over = true;
    this.request.detach();
    this.#port.onOver();
  }

  #abort(): void {
    if (this.#over) return;
    this.#aborted = true;
    this.#takeAnswer();
    this.#lingering = undefined;
    this.#finish();
    this.guard(() => this.#stream?.closed());
    this.guard(() => this.#abortCallback?.());
  }
}

/** Of what goes wrong between the bodies of several connections. */
const ENDINGS = fatal("the bodies that have come whole");

/**
 * Bodies that have come whole and wait until the parser is done with what has come, which is the end of the turn: a request behind one, or trailers, which it takes
 * for one, close the connection with the answer still due. So of what comes in one packet nothing is acted on whose answer would be lost.
 */
export class WholeBodies {
  #waiting: UwsExchange[] = [];
  /** Bytes of their last pieces. */
  #bytes = 0;

  /** False where so many bytes wait that the body is to be handed over at once. */
  add(exchange: UwsExchange, bytes: number): boolean {
    if (this.#bytes + bytes > UWS_ENDING_BYTES_MAX) return false;
    this.#bytes += bytes;
    if (this.#waiting.push(exchange) === 1) afterTurn(ENDINGS, () => this.#deliver());
    return true;
  }

  #deliver(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#bytes = 0;
    for (const exchange of waiting) exchange.deliver();
  }
}

/**
 * What has come of a body whose exchange is held. uws gives each piece once and takes its memory back, so it is copied here; behind BUFFERED_BODY_BYTES_MAX
 * the connection is paused, and the kernel's buffers make the client wait.
 */

/** The pieces of one body. */
class BufferedBody {
  readonly #response: UwsResponse;
  #chunks: ArrayBuffer[] = [];
  #bytes = 0;
  #isPaused = false;
  isComplete = false;

  constructor(response: UwsResponse) {
    this.#response = response;
  }

  keep(chunk: ArrayBuffer, isLast: boolean): void {
    this.isComplete ||= isLast;
    this.#chunks.push(chunk.slice(0)); // ArrayBuffer's slice copies
    this.#bytes += chunk.byteLength;
    if (isLast || this.#isPaused || this.#bytes < BUFFERED_BODY_BYTES_MAX) return;
    this.#isPaused = true;
    this.#response.pause();
  }

  /** Everything kept, in order; the last piece is the end of the body where it is complete. */
  take(): ArrayBuffer[] {
    const chunks = this.#chunks;
    this.#chunks = [];
    this.#bytes = 0;
    return chunks;
  }

  /** Reads on; must not be called once the response is over. */
  resume(): void {
    if (this.#isPaused) this.#response.resume();
    this.#isPaused = false;
  }

  /** Forgets everything; the rest of the body is read and dropped while the client is there. */
  drop(isAlive: boolean): void {
    this.take();
    if (isAlive) this.resume();
  }
}
