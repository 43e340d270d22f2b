/** One exchange on node:http. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { answerFault, connection, type Home, ignoreErrors, listen, listenFirst, listenOnce } from "../../../core/faults/guard.ts";
import { UNIX_PEER } from "../../../core/protocol/access.ts";
import { isBodiless } from "../answer-head.ts";
import { type AppendOutcome, BodyCollector, bodyRefusal } from "../body-collector.ts";
import { BodyDeadline } from "../body-deadline.ts";
import type { Expiring } from "../deadline-sweep.ts";
import type { BodyReceiver, HttpExchange, HttpHeaders, HttpRequest, HttpStream, RefusalCode } from "../http-server.ts";
import { RequestHeaders } from "../request-headers.ts";
import type { ServerContext } from "../server-context.ts";
import { showsCertificate } from "../tls/tls-options.ts";
import { NodeStream } from "./node-stream.ts";

/** Both sides of a request as node:http gives them. */
export interface NodeMessages {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  /** The client sends its body only after `100 Continue`. */
  readonly awaitsContinue: boolean;
}

/** An exchange; `onOver` is called once, when its answer was sent or its client is gone, with whether the answer said that the connection closes. */
export class NodeExchange implements HttpExchange, Expiring {
  readonly request: NodeRequestHead;
  tenant?: string;
  readonly home: Home = { where: "request", name: "a request over HTTP", answer: (error) => this.#fault(error) };
  /** Of what goes wrong between the socket and the request: nobody could say where its bytes end. */
  readonly #wire = connection("a connection of HTTP", () => this.#outgoing.destroy());
  sweepIndex = -1;
  sweepsLeft = 0;
  readonly #incoming: IncomingMessage;
  readonly #outgoing: ServerResponse;
  readonly #context: ServerContext;
  readonly #onOver: (isLast: boolean) => void;
  #awaitsContinue: boolean;
  #aborted = false;
  #answered = false;
  #over = false;
  #sent = false;
  #lingering = false;
  #closing = false;
  #collector: BodyCollector | undefined;
  #deadline: BodyDeadline | undefined;
  #stream: NodeStream | undefined;
  #abortCallback: (() => void) | undefined;

  constructor(messages: NodeMessages, context: ServerContext, onOver: (isLast: boolean) => void) {
    this.#incoming = messages.incoming;
    this.#outgoing = messages.outgoing;
    this.#awaitsContinue = messages.awaitsContinue;
    this.#context = context;
    this.#onOver = onOver;
    this.request = new NodeRequestHead(messages.incoming, context.isUnix);
    // Before node's own listener, which may close the socket. "finish" also comes when a connection dies with the answer half out.
    listenFirst(this.#outgoing, "finish", this.#wire, () => {
      this.#sent = !messages.incoming.socket.destroyed;
    });
    listenOnce(this.#outgoing, "close", this.#wire, () => this.#close());
    ignoreErrors(this.#incoming); // a vanished client is reported by "close"; unheard, this event would be thrown
  }

  get aborted(): boolean {
    return this.#aborted;
  }

  /** Whether an answer about the request as a whole can still be given: nothing of one was sent, and it is still coming in. */
  get isReceiving(): boolean {
    return !this.#over && !this.#answered && !this.#incoming.complete;
  }

  /** Whether its answer is written, and the connection waits for the rest of the request before it closes. */
  get isLingering(): boolean {
    return this.#lingering && !this.#over;
  }

  /** Nothing has to be kept: node:http reads no further than its buffers until somebody listens. */
  hold(): (rest: () => void) => void {
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
    if (this.#awaitsContinue) this.#outgoing.writeContinue();
    this.#awaitsContinue = false;
    this.#deadline = new BodyDeadline(this.#context, this);
    listen(this.#incoming, "data", this.#wire, (chunk: Buffer) => this.#onData(chunk));
    listenOnce(this.#incoming, "end", this.#wire, () => this.#onBodyEnd());
  }

  respond(status: number, headers: HttpHeaders, body: string | Uint8Array): boolean {
    if (this.#answered || this.#over) return false;
    const whole = this.#context.heads.whole(status, headers).lines;
    if (body.length > this.#context.limits.answerBytesMax) throw new RangeError(`answer of ${body.length} bytes`);
    this.#answer(status, whole, body, false);
    return true;
  }

  openStream(status: number, headers: HttpHeaders): HttpStream | undefined {
    if (this.#answered || this.#over) return undefined;
    const whole = this.#context.heads.whole(status, headers).lines;
    this.#takeAnswer();
    this.#outgoing.writeHead(status, this.#headLines(whole, undefined, false));
    const options = {
      stallTimeoutMs: this.#context.limits.writeStallTimeoutMs,
      guard: (call: () => void) => this.guard(call),
    };
    this.#stream = new NodeStream(options, this.#outgoing);
    return this.#stream;
  }

  onAbort(callback: () => void): void {
    this.#abortCallback = callback;
  }

  /** Gives an answer of the adapter's own, closing the connection behind it if `close`. */
  refuse(status: number, code: RefusalCode, message: string, close: boolean): void {
    if (this.#answered || this.#over) return;
    const { headers, body } = this.#context.options.refusal(status, code, message, this.request);
    this.#answer(status, this.#context.heads.whole(status, headers).lines, body, close);
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
      if (this.#stream !== undefined || !(this.#answered || this.#over)) this.#outgoing.destroy();
    }
  }

  /** The body took too long, or the client still sends what nobody wants. */
  expire(): void {
    if (this.#lingering) this.#outgoing.end();
    else if (this.#deadline?.goesOn(this.#collector?.length ?? 0, true) !== true)
      this.refuseNow(408, "request_timeout", "the body took too long to arrive");
  }

  /** Refuses a request of which nothing more is to be read, and closes at once. */
  refuseNow(status: number, code: RefusalCode, message: string): void {
    this.refuse(status, code, message, true);
    if (this.#lingering) this.#outgoing.end();
  }

  #onData(chunk: Buffer): void {
    const collector = this.#collector;
    if (collector === undefined) return;
    const outcome = collector.append(chunk, collector.length + chunk.length === this.request.headers.contentLength);
    if (outcome !== "taken") this.#refuseBody(outcome, collector.maxBytes);
  }

  #onBodyEnd(): void {
    const collector = this.#collector;
    if (collector === undefined) return;
    this.#collector = undefined;
    this.#context.sweep.remove(this);
    this.guard(() => collector.deliver());
  }

  #refuseBody(outcome: Exclude<AppendOutcome, "taken">, maxBytes: number): void {
    this.refuse(...bodyRefusal(outcome, maxBytes), true);
  }

  #takeAnswer(): void {
    this.#answered = true;
    this.#collector?.discard();
    this.#collector = undefined;
    this.#context.sweep.remove(this);
  }

  #headLines(headers: HttpHeaders, bodyBytes: number | undefined, close: boolean): string[] {
    const lines = headers.flat();
    if (bodyBytes !== undefined) lines.push("Content-Length", String(bodyBytes));
    // Who was not told to continue may send the body all the same or not: the next request could not be distinguished from it.
    if (close || this.#awaitsContinue || this.#context.draining) lines.push("Connection", "close");
    return lines;
  }

  #answer(status: number, headers: HttpHeaders, body: string | Uint8Array, close: boolean): void {
    this.#takeAnswer();
    const closing = close || this.#context.draining;
    this.#closing = closing;
    const bodyBytes = isBodiless(status) ? undefined : Buffer.byteLength(body);
    this.#outgoing.writeHead(status, this.#headLines(headers, bodyBytes, closing));
    if (closing && !this.#incoming.complete && !this.#awaitsContinue) return this.#linger(body);
    this.#outgoing.end(bodyBytes === undefined ? undefined : body);
    if (!this.#incoming.complete) this.#awaitRest();
    if (this.#outgoing.writableLength > 0) this.#outgoing.setTimeout(this.#context.limits.writeStallTimeoutMs);
  }

  /**
   * Sends the answer whole but ends it, and with it the connection, only when the client has sent its body: closing earlier makes the
   * kernel reset the connection before the client has read.
   */
  #linger(body: string | Uint8Array): void {
    this.#lingering = true;
    this.#outgoing.write(body);
    listenOnce(this.#incoming, "end", this.#wire, () => this.#outgoing.end());
    this.#incoming.resume();
    this.#context.sweep.add(this, this.#context.limits.lingerMs);
  }

  /** What still comes of a body that nobody wants has the same time, also where the connection is kept: a body that drips would hold it. */
  #awaitRest(): void {
    const { sweep, limits } = this.#context;
    const { socket } = this.#incoming;
    const rest: Expiring = {
      sweepIndex: -1,
      sweepsLeft: 0,
      expire: () => {
        if (this.#outgoing.writableFinished) socket.destroy();
        else sweep.add(rest, limits.lingerMs); // its reader is slow
      },
    };
    sweep.add(rest, limits.lingerMs);
    listenOnce(this.#incoming, "close", this.#wire, () => sweep.remove(rest));
  }

  #close(): void {
    if (this.#over) return;
    this.#over = true;
    this.#aborted = !this.#sent;
    this.#takeAnswer();
    this.#onOver(this.#closing);
    if (!this.#aborted) return;
    this.guard(() => this.#stream?.closed());
    this.guard(() => this.#abortCallback?.());
  }
}

/** The head of a request on node:http, in the port's terms. */
class NodeRequestHead implements HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly remoteAddress: string;
  readonly isUnix: boolean;
  readonly version: string;
  readonly hasClientCertificate: boolean;
  readonly headers = new RequestHeaders();

  constructor(message: IncomingMessage, isUnix: boolean) {
    const target = originForm(message.url ?? "/");
    const mark = target.indexOf("?");
    this.method = message.method ?? "GET";
    this.path = mark < 0 ? target : target.slice(0, mark);
    this.query = mark < 0 ? "" : target.slice(mark + 1);
    this.version = message.httpVersion;
    this.isUnix = isUnix;
    this.remoteAddress = isUnix ? UNIX_PEER : (message.socket.remoteAddress ?? "").replace(/^::ffff:(?=\d+\.)/, "");
    this.hasClientCertificate = showsCertificate(message.socket);
    // rawHeaders, because `headers` drops the second of some repeated ones, which is what the framing check must see.
    const lines = message.rawHeaders;
    for (let i = 0; i + 1 < lines.length; i += 2) this.headers.add((lines[i] ?? "").toLowerCase(), lines[i + 1] ?? "");
  }

  /** Whether the target has a form of RFC 9112, 3.2 that a server takes: a path, http or https with a host, an asterisk, or what CONNECT names. */
  get hasTarget(): boolean {
    return this.path.startsWith("/") || this.path === "*" || this.method === "CONNECT";
  }

  /** RFC 9112, 3.2: a request of HTTP/1.1 has a Host. */
  get hasHost(): boolean {
    return this.version !== "1.1" || this.header("host") !== undefined;
  }

  header(name: string): string | undefined {
    return this.headers.get(name);
  }

  findHeader(test: (name: string) => boolean): string | undefined {
    return this.headers.find(test);
  }
}

/** A request to a proxy carries scheme and host in its target; RFC 9112, 3.2.2 asks every server to take it. */
function originForm(target: string): string {
  const absolute = /^https?:\/\/[^/?]*(.*)$/i.exec(target);
  if (absolute === null) return target;
  const rest = absolute[1] ?? "";
  return rest.startsWith("/") ? rest : `/${rest}`;
}
