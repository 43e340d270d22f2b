// One unary call: the five bytes before its message are read, then the handler sees a request, and the message is collected as a body is. Answers of HTTP become statuses of gRPC.
import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import { constants } from "node:http2";
import { afterTurn, answerFault, type Home, listen, listenOnce } from "../../../core/faults/guard.ts";
import { BodyCollector, bodyRefusal } from "../body-collector.ts";
import { BodyDeadline } from "../body-deadline.ts";
import type { Expiring } from "../deadline-sweep.ts";
import type { BodyReceiver, HttpExchange, HttpHandler, HttpHeaders, HttpStream, RefusalCode } from "../http-server.ts";
import type { ServerContext } from "../server-context.ts";
import { type GrpcPeer, GrpcRequest, otlpPathOf, timeoutMs } from "./grpc-request.ts";
import {
  failureTrailers,
  GRPC_DEADLINE_EXCEEDED,
  GRPC_INVALID_ARGUMENT,
  GRPC_UNIMPLEMENTED,
  grpcCode,
  statusMessage,
} from "./grpc-status.ts";

/** Flag and length. https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md#requests */
const PREFIX_BYTES = 5;
const CODINGS: ReadonlySet<string> = new Set(["identity", "gzip"]);
const HEAD = { ":status": 200, "content-type": "application/grpc", "grpc-accept-encoding": "identity,gzip" } as const;

export interface GrpcCall {
  readonly stream: ServerHttp2Stream;
  readonly headers: IncomingHttpHeaders;
  readonly peer: GrpcPeer;
}

/** A call; `onOver` is called once. */
export class GrpcExchange implements HttpExchange, Expiring {
  readonly request: GrpcRequest;
  tenant?: string;
  sweepIndex = -1;
  sweepsLeft = 0;
  readonly #stream: ServerHttp2Stream;
  readonly #context: ServerContext;
  readonly home: Home = { where: "request", name: "a call of gRPC", answer: (error) => this.#fault(error) };
  readonly #coding: string;
  /** The caller gives up sooner than a body may take. */
  readonly #hasDeadline: boolean;
  #prefix: Buffer = Buffer.alloc(0);
  /** Size of the message, once its prefix is read. */
  #messageBytes = -1;
  #received = 0;
  #early: Buffer | undefined;
  /** The caller has sent all: node tells so of a paused stream too, where nothing of it is left to read. */
  #ended = false;
  #collector: BodyCollector | undefined;
  #deadline: BodyDeadline | undefined;
  #answered = false;
  #over = false;
  #abortCallback: (() => void) | undefined;

  constructor({ stream, headers, peer }: GrpcCall, context: ServerContext, handler: HttpHandler) {
    this.#stream = stream;
    this.#context = context;
    const path = otlpPathOf(String(headers[":path"]));
    this.request = new GrpcRequest(path ?? "", headers, peer);
    this.#coding = String(headers["grpc-encoding"] ?? "identity");
    const deadlineMs = timeoutMs(headers["grpc-timeout"] as string | undefined);
    this.#hasDeadline = deadlineMs !== undefined && deadlineMs < context.limits.bodyTimeoutMs;
    listenOnce(stream, "close", this.home, () => this.#close());
    if (path === undefined) this.#fail(GRPC_UNIMPLEMENTED, "only Export of OTLP's services for metrics, traces and logs is served here");
    else if (!CODINGS.has(this.#coding))
      this.#fail(GRPC_UNIMPLEMENTED, `grpc-encoding must be gzip or identity, got ${this.#coding.slice(0, 80)}`);
    else {
      this.#deadline = new BodyDeadline(context, this, this.#hasDeadline ? deadlineMs : undefined);
      listen(stream, "data", this.home, (chunk: Buffer) => this.#onData(chunk, handler));
      listenOnce(stream, "end", this.home, () => this.#onEnd());
    }
  }

  get aborted(): boolean {
    return this.#over && !this.#answered;
  }

  /** Nothing has to be kept: the stream is not read until the body is collected. */
  hold(): (rest: () => void) => void {
    return (rest) => {
      if (!this.#over) this.guard(rest);
    };
  }

  collectBody(maxBytes: number, onBody: BodyReceiver): void {
    if (this.#answered || this.#over || this.#collector !== undefined) return;
    if (this.#messageBytes > maxBytes) {
      this.#refuse(413, "body_too_large", `the message is longer than ${maxBytes} bytes; send smaller requests`);
      return;
    }
    const { pool, bodies } = this.#context;
    const account = bodies.open(this.tenant ?? "", this.request);
    this.#collector = new BodyCollector({ maxBytes, onBody, countsFirst: true }, { pool, account });
    const early = this.#early;
    this.#early = undefined;
    if (early !== undefined) this.#append(early);
    if (this.#ended) afterTurn(this.home, () => this.#complete());
    else this.#stream.resume();
  }

  respond(status: number, headers: HttpHeaders, body: string | Uint8Array): boolean {
    const bytes = typeof body === "string" ? Buffer.from(body) : body;
    if (status === 200) return this.#succeed(bytes);
    return this.#fail(grpcCode(status), statusMessage(bytes), retrySeconds(headers));
  }

  /** Unary calls have none. */
  openStream(): HttpStream | undefined {
    return undefined;
  }

  onAbort(callback: () => void): void {
    this.#abortCallback = callback;
  }

  /** Runs somebody else's code: what it throws becomes INTERNAL. */
  guard(call: () => void): void {
    try {
      call();
    } catch (error) {
      answerFault(this.home, error);
    }
  }

  /** A throw on the way of this call: INTERNAL; where not even that can be said, the call is reset. */
  #fault(error: unknown): void {
    this.#context.options.onHandlerFault(error, this.request);
    try {
      this.#refuse(500, "internal_error", "the server failed to handle the request");
    } finally {
      if (!this.#over && !this.#stream.headersSent) this.#stream.destroy();
    }
  }

  /** The caller's deadline has passed, or the message took too long. */
  expire(): void {
    if (this.#deadline?.goesOn(this.#received, this.#isAwaited) === true) return;
    this.guard(() => {
      if (this.#deadline?.isOver === true && this.#hasDeadline) this.#fail(GRPC_DEADLINE_EXCEEDED, "the deadline of the call has passed");
      else this.#refuse(408, "request_timeout", "the message took too long to arrive");
    });
  }

  /** Whether the next bytes are the caller's to send: not while the exchange is held, nor once the message is whole. */
  get #isAwaited(): boolean {
    return this.#messageBytes < 0 || this.#collector !== undefined;
  }

  #onData(chunk: Buffer, handler: HttpHandler): void {
    if (this.#answered) return;
    if (this.#messageBytes >= 0) {
      if (this.#collector === undefined) this.#early = this.#early === undefined ? chunk : Buffer.concat([this.#early, chunk]);
      else this.#append(chunk);
      return;
    }
    this.#prefix = this.#prefix.length === 0 ? chunk : Buffer.concat([this.#prefix, chunk]);
    if (this.#prefix.length < PREFIX_BYTES) return;
    const isCompressed = this.#prefix[0] === 1;
    if (isCompressed && this.#coding === "identity") {
      this.#fail(GRPC_INVALID_ARGUMENT, "the message is flagged as compressed, but grpc-encoding names no coding");
      return;
    }
    this.#messageBytes = this.#prefix.readUInt32BE(1);
    this.request.encoding = isCompressed ? this.#coding : undefined;
    if (this.#prefix.length > PREFIX_BYTES) this.#early = this.#prefix.subarray(PREFIX_BYTES);
    this.#stream.pause();
    this.guard(() => handler(this));
  }

  #append(chunk: Buffer): void {
    this.#received += chunk.length;
    if (this.#received > this.#messageBytes)
      this.#fail(GRPC_INVALID_ARGUMENT, "a call has one message, and that is longer than its prefix says");
    else if (this.#collector?.append(chunk, false) === "no-memory") this.#refuse(...bodyRefusal("no-memory", this.#messageBytes));
  }

  #onEnd(): void {
    this.#ended = true;
    const isPending = this.#messageBytes >= 0 && this.#collector === undefined;
    if (!isPending) this.#complete(); // else collectBody, or a refusal, is still to come
  }

  #complete(): void {
    if (this.#answered || this.#over) return;
    const collector = this.#collector;
    if (collector === undefined || this.#received !== this.#messageBytes) {
      this.#fail(GRPC_INVALID_ARGUMENT, "the call ended before its message did");
      return;
    }
    this.#collector = undefined;
    if (!this.#hasDeadline) this.#context.sweep.remove(this);
    this.guard(() => collector.deliver());
  }

  #refuse(status: number, code: RefusalCode, message: string): void {
    if (this.#answered || this.#over) return;
    const { headers } = this.#context.options.refusal(status, code, message, this.request);
    this.#fail(grpcCode(status), message, retrySeconds(headers));
  }

  #succeed(message: Uint8Array): boolean {
    if (!this.#takeAnswer()) return false;
    const frame = Buffer.allocUnsafe(PREFIX_BYTES + message.length);
    frame[0] = 0;
    frame.writeUInt32BE(message.length, 1);
    frame.set(message, PREFIX_BYTES);
    this.#stream.respond(HEAD, { waitForTrailers: true });
    listenOnce(this.#stream, "wantTrailers", this.home, () => {
      if (this.#isOpen) this.#stream.sendTrailers({ "grpc-status": "0" });
    });
    this.#stream.end(frame);
    return true;
  }

  #fail(code: number, message: string, retryAfter?: number): boolean {
    if (!this.#takeAnswer()) return false;
    this.#stream.respond({ ...HEAD, ...failureTrailers(code, message, retryAfter) }, { endStream: true });
    // What the caller still sends is not wanted (RFC 9113, 8.1). A turn later: Node 22 resets a stream that is closed at once before its headers have left.
    if (!this.#stream.readableEnded)
      afterTurn(this.home, () => {
        if (this.#isOpen) this.#stream.close(constants.NGHTTP2_NO_ERROR);
      });
    return true;
  }

  /** Whether anything can be written: a caller's end destroys the stream a turn and more before "close" tells, and "end" may come between. */
  get #isOpen(): boolean {
    return !this.#stream.destroyed && !this.#stream.closed;
  }

  /** Takes the one answer for the caller; false where it was given, or where nobody is there to take it. */
  #takeAnswer(): boolean {
    if (this.#answered || this.#over) return false;
    if (!this.#isOpen || this.#stream.headersSent) {
      this.#close();
      return false;
    }
    this.#answered = true;
    this.#release();
    return true;
  }

  #close(): void {
    if (this.#over) return;
    this.#over = true;
    if (this.#answered) return;
    this.#release();
    this.guard(() => this.#abortCallback?.());
  }

  #release(): void {
    this.#collector?.discard();
    this.#collector = undefined;
    this.#early = undefined;
    this.#context.sweep.remove(this);
  }
}

function retrySeconds(headers: HttpHeaders): number | undefined {
  const line = headers.find(([name]) => name === "Retry-After");
  return line === undefined ? undefined : Math.min(60, Number(line[1]));
}
