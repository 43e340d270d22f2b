/**
 * The port between the server's HTTP face and whatever speaks HTTP. Two complete adapters stand behind it, `uws/` (fast, native) and `node/`
 * (node:http, everywhere); test/conformance/http-adapters.test.ts holds both to what is written here.
 *
 * Life of an exchange: headers read ▶ handler(exchange) ▶ [hold] ▶ [collectBody ▶ onBody] ▶ respond once, or openStream ▶ write* ▶ end.
 * It is over when it was answered or when the client went away; everything called on it afterwards is ignored.
 */
import type { Home } from "../../core/faults/guard.ts";
import type { BodyShares } from "./body-shares.ts";
import type { HttpLimits } from "./http-limits.ts";
import type { TlsIdentity } from "./tls/tls-identity.ts";

/** Header lines of an answer; Content-Length, Transfer-Encoding, Connection and Date belong to the adapter and are refused. */
export type HttpHeaders = ReadonlyArray<readonly [name: string, value: string]>;

/** The head of a request, copied out of the parser: it stays valid as long as anybody holds it, but for the remote address. */
export interface HttpRequest {
  /** As the client wrote it, so normally upper case. */
  readonly method: string;
  /** Path without the query, not decoded. */
  readonly path: string;
  /** Query without its `?`, not decoded; empty when there is none. */
  readonly query: string;
  /** The peer's address as text; IPv4 in its dotted form also on a dual-stack socket; UNIX_PEER on a Unix socket. Empty if first read when the exchange is over. */
  readonly remoteAddress: string;
  /** The peer came over the server's Unix socket; costs nothing, as the address does. */
  readonly isUnix: boolean;
  /** HTTP's version, "1.1" or "1.0"; uws refuses the latter by itself. */
  readonly version: string;
  /** The peer has shown a certificate of the server's `clientAuthorities`. */
  readonly hasClientCertificate: boolean;
  /** Value of a header by its lower-case name; repeated headers are joined by ", ". */
  header(name: string): string | undefined;
  /** The first header name, in lower case, that `test` says yes to. */
  findHeader(test: (name: string) => boolean): string | undefined;
}

/** Receives a whole body in a pooled Buffer which starts at an 8-byte boundary and is valid only during the call. */
export type BodyReceiver = (body: Buffer) => void;

/** One request and its one answer. */
export interface HttpExchange {
  readonly request: HttpRequest;
  /** Whom it acts for, set once that is known: bodies on their way have shares by it. */
  tenant?: string;
  /** Where a throw on the way of this request is at home: it becomes a 500, or ends the answer that has begun. For whatever the handler does in a later turn. */
  readonly home: Home;
  /** True once the client went away before the answer was complete. */
  readonly aborted: boolean;
  /**
   * Keeps the exchange for a handler that has to wait before it knows what to do with it: collectBody may then be called at any later time, once.
   * Must be called synchronously in the handler. What comes of the body meanwhile is kept up to about 64 KiB; then the client is not read any more.
   * Gives back what runs the rest of the handler later, as the handler itself was run; it does nothing once the exchange is over. The caller must go on
   * in limited time: nothing here ends a held exchange.
   */
  hold(): (rest: () => void) => void;
  /**
   * Collects the body up to `maxBytes` and gives it to `onBody` once, after the handler has returned, or the call where the exchange was held. Must be called
   * synchronously in the handler, but for held exchanges. Answers by itself, and never calls `onBody`, when the body is too long (413), too slow (408) or
   * finds no memory in its sender's share (503).
   */
  collectBody(maxBytes: number, onBody: BodyReceiver): void;
  /** Answers; false when that was ignored because the exchange is over or already answered. A HEAD request gets the headers only. */
  respond(status: number, headers: HttpHeaders, body: string | Uint8Array): boolean;
  /** Starts a streaming answer; undefined when the exchange is over or already answered. */
  openStream(status: number, headers: HttpHeaders): HttpStream | undefined;
  /** Called at most once, when the client goes away before the answer is complete; the last callback set counts. */
  onAbort(callback: () => void): void;
}

/** An answer of unknown length. The head may leave only with the first chunk: who wants it seen at once writes one. */
export interface HttpStream {
  /** False means that the chunk was queued behind a slow reader: stop until onDrain. The chunk must not be changed afterwards. */
  write(chunk: Uint8Array): boolean;
  /** Called each time the queue has emptied after a `write` returned false. */
  onDrain(callback: () => void): void;
  /** Called once when the client goes away before `end`. */
  onClose(callback: () => void): void;
  /** Completes the answer behind what is queued. */
  end(): void;
  /** Bytes accepted by `write` which the kernel has not taken yet, as far as the adapter can see (uws: to within 16 KiB). */
  readonly bufferedBytes: number;
}

/** Decides on one request; may answer now or at any later time. What it throws becomes a 500. */
export type HttpHandler = (exchange: HttpExchange) => void;

/** Headers and body of an answer which the adapter gives by itself. */
export interface Refusal {
  readonly headers: HttpHeaders;
  readonly body: string | Uint8Array;
}

export interface HttpServerOptions {
  /** Makes the answers that the adapter gives by itself, so that they look like all others; without a request when none could be read. */
  refusal(status: number, code: RefusalCode, message: string, request?: HttpRequest): Refusal;
  /** Gets everything that a handler or a callback threw; `refusal` of the same request comes after it, unless its answer had begun. */
  onHandlerFault(error: unknown, request: HttpRequest): void;
  /** Header lines of every answer, but for those of which the answer has one of its own. */
  readonly commonHeaders?: HttpHeaders;
  /** Certificate that the server shows to speak TLS; undefined for plain HTTP. Unix sockets are always plain. */
  readonly tls?: TlsIdentity | undefined;
  /** Memory of bodies on their way, where other ports have it together with this one. */
  readonly bodies?: BodyShares;
  /** Departures from HTTP_LIMITS. */
  readonly limits?: Partial<HttpLimits>;
}

/** Why an adapter answered by itself. */
export type RefusalCode =
  | "bad_request"
  | "request_timeout"
  | "body_too_large"
  | "expectation_failed"
  | "headers_too_large"
  | "internal_error"
  | "not_implemented"
  | "overloaded";

/** Name of the adapter behind the port. */
export type HttpEngineName = "uws" | "node";

/** A server with one listening socket. */
export interface HttpServer {
  readonly engineName: HttpEngineName;
  /** Connections open now. */
  readonly openConnections: number;
  /** Listens on one address and gives the real port; rejects with a message that names address and reason. */
  listen(host: string, port: number): Promise<{ port: number }>;
  /** Listens on a Unix socket instead, mode 0600, which goes with the server; rejects with a message that names path and reason. */
  listenUnix(path: string): Promise<void>;
  /** Shows another identity to connections that open from now on; those that are open go on with the one before. Rejects where the port is lost by that. */
  renewTls(identity: TlsIdentity): Promise<void>;
  /**
   * Stops accepting, closes idle connections, lets started exchanges finish and closes each behind its answer. Resolves when all are gone,
   * at the latest after `timeoutMs`, when the rest is cut off. Streams do not end by themselves: their owner ends them.
   */
  drain(timeoutMs: number): Promise<void>;
}
