/**
 * OTLP over gRPC behind the port of HttpServer, on node:http2: calls become exchanges, so that a message goes the way of a body. nghttp2 itself answers pings, and
 * ends connections that flood it with them or with resets.
 */
import {
  createSecureServer,
  createServer,
  type Http2SecureServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { AddressInfo } from "node:net";
import { MIB } from "../../../core/config/byte-units.ts";
import { after, connection, guarded, type Home, ignoreErrors, listen, listenOnce } from "../../../core/faults/guard.ts";
import type { Expiring } from "../deadline-sweep.ts";
import type { HttpHandler, HttpServer, HttpServerOptions } from "../http-server.ts";
import { listening } from "../node/listening.ts";
import { createServerContext, type ServerContext } from "../server-context.ts";
import type { TlsIdentity } from "../tls/tls-identity.ts";
import { renewIdentity, showsCertificate, tlsOptions } from "../tls/tls-options.ts";
import { GrpcExchange } from "./grpc-exchange.ts";
import type { GrpcPeer } from "./grpc-request.ts";

/** Exporters have a handful under way; more waits at the sender. */
const STREAMS_MAX = 100;
/** Window of a call, then of a connection: with the protocol's 64 KiB a message of 1 MiB takes sixteen round trips. */
const STREAM_WINDOW_BYTES = MIB;
const CONNECTION_WINDOW_BYTES = 8 * MIB;
/** Exporters send once a minute by default. */
const IDLE_MS = 300_000;
const NEVER_UNIX = "OTLP over gRPC has no Unix socket";

/** A server of gRPC. */
export class GrpcServer implements HttpServer {
  readonly engineName = "node";
  readonly #context: ServerContext;
  readonly #server: Http2Server | Http2SecureServer;
  readonly #sessions = new Map<ServerHttp2Session, GrpcPeer>();
  #drained: Promise<void> | undefined;

  constructor(options: HttpServerOptions, handler: HttpHandler) {
    this.#context = createServerContext(options);
    this.#server = this.#createServer(options.tls);
    listen(this.#server, "session", sessionHome, (session: ServerHttp2Session) => this.#onSession(session));
    listen(this.#server, "stream", callHome, (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
      this.#onStream(stream, headers, handler);
    });
  }

  get openConnections(): number {
    return this.#sessions.size;
  }

  async listen(host: string, port: number): Promise<{ port: number }> {
    await listening(this.#server, { host, port }, `${host}:${port}`);
    return { port: (this.#server.address() as AddressInfo).port };
  }

  listenUnix(): Promise<void> {
    return Promise.reject(new Error(NEVER_UNIX));
  }

  renewTls(identity: TlsIdentity): Promise<void> {
    renewIdentity(this.#server, identity);
    return Promise.resolve();
  }

  drain(timeoutMs: number): Promise<void> {
    this.#drained ??= this.#drain(timeoutMs);
    return this.#drained;
  }

  async #drain(timeoutMs: number): Promise<void> {
    this.#server.close();
    const timer = after(
      timeoutMs,
      connection("gRPC's last connections", () => undefined),
      () => {
        for (const session of this.#sessions.keys()) session.destroy();
      },
    );
    const gone = [...this.#sessions.keys()].map((session) => new Promise((resolve) => session.once("close", resolve)));
    for (const session of this.#sessions.keys()) session.close(); // GOAWAY; calls under way are answered
    await Promise.all(gone);
    clearTimeout(timer);
  }

  #createServer(identity: TlsIdentity | undefined): Http2Server | Http2SecureServer {
    const { headerBytesMax, headerCountMax, headerTimeoutMs, connectionsMax } = this.#context.limits;
    const options = {
      settings: { maxConcurrentStreams: STREAMS_MAX, initialWindowSize: STREAM_WINDOW_BYTES, maxHeaderListSize: headerBytesMax },
      maxHeaderListPairs: headerCountMax,
      maxSessionMemory: 64, // MiB
    };
    const server =
      identity === undefined
        ? createServer(options)
        : createSecureServer({ ...options, ...tlsOptions(identity), handshakeTimeout: headerTimeoutMs });
    server.maxConnections = connectionsMax;
    ignoreErrors(server, "sessionError"); // of a peer that is gone or breaks the protocol
    return server;
  }

  #onSession(session: ServerHttp2Session): void {
    const { remoteAddress = "" } = session.socket;
    const peer = { address: remoteAddress.replace(/^::ffff:(?=\d+\.)/, ""), hasClientCertificate: showsCertificate(session.socket) };
    const home = sessionHome(session);
    ignoreErrors(session);
    this.#sessions.set(session, peer);
    const silence: Expiring = { sweepIndex: -1, sweepsLeft: 0, expire: () => session.destroy() };
    listenOnce(session, "close", home, () => {
      this.#sessions.delete(session);
      this.#context.sweep.remove(silence);
    });
    session.setLocalWindowSize(CONNECTION_WINDOW_BYTES);
    session.setTimeout(
      IDLE_MS,
      guarded(home, () => session.close()),
    );
    // The first that a client says: whoever has not come so far is no client of gRPC.
    this.#context.sweep.add(silence, this.#context.limits.headerTimeoutMs);
    listenOnce(session, "remoteSettings", home, () => this.#context.sweep.remove(silence));
  }

  #onStream(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, handler: HttpHandler): void {
    ignoreErrors(stream); // unheard, the error of a caller that goes away would be thrown
    if (stream.destroyed || stream.closed) return;
    const session = stream.session as ServerHttp2Session | undefined;
    const peer = session === undefined ? undefined : this.#sessions.get(session);
    if (peer === undefined) stream.close();
    else if (!String(headers["content-type"]).startsWith("application/grpc")) {
      stream.respond({ ":status": 415 }, { endStream: true }); // as the protocol has it
    } else new GrpcExchange({ stream, headers, peer }, this.#context, handler);
  }
}

function sessionHome(session: ServerHttp2Session): Home {
  return connection("a connection of gRPC", () => session.destroy());
}

function callHome(stream: ServerHttp2Stream): Home {
  return connection("the beginning of a call of gRPC", () => stream.destroy());
}
