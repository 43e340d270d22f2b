/** The port on node:http. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer, type Server as TlsServer } from "node:https";
import { type AddressInfo, Server as NetServer, type Socket } from "node:net";
import { after, connection, type Home, listen, listenOnce, run } from "../../../core/faults/guard.ts";
import { statusLine } from "../answer-head.ts";
import { http2Refusal, isHttp2Preface } from "../grpc/grpc-advice.ts";
import type { HttpHandler, HttpServer, HttpServerOptions, RefusalCode } from "../http-server.ts";
import { createServerContext, type ServerContext } from "../server-context.ts";
import type { TlsIdentity } from "../tls/tls-identity.ts";
import { renewIdentity, tlsOptions } from "../tls/tls-options.ts";
import { claimSocketPath, withPrivateFiles } from "../unix-socket.ts";
import { ConnectionPipeline } from "./connection-pipeline.ts";
import { listening } from "./listening.ts";
import { NodeExchange } from "./node-exchange.ts";

/** Length of the kernel's queue of connections not yet accepted; Linux cuts it to net.core.somaxconn, 4096 by default. */
const LISTEN_BACKLOG = 4096;

const PARSER_REFUSALS: ReadonlyMap<string, readonly [status: number, code: RefusalCode, message: string]> = new Map([
  ["HPE_HEADER_OVERFLOW", [431, "headers_too_large", "the request has too many or too long headers"]],
  ["ERR_HTTP_REQUEST_TIMEOUT", [408, "request_timeout", "the request took too long to arrive"]],
]);
const BAD_REQUEST = [400, "bad_request", "the request is not valid HTTP"] as const;

export class NodeHttpServer implements HttpServer {
  readonly engineName = "node";
  readonly #context: ServerContext;
  readonly #handler: HttpHandler;
  readonly #server: Server | TlsServer;
  readonly #handshakes = new TlsHandshakes();
  readonly #pipelines = new Map<Socket, ConnectionPipeline>();
  #drained: Promise<void> | undefined;

  constructor(options: HttpServerOptions, dependencies: { handler: HttpHandler }) {
    this.#context = createServerContext(options);
    this.#handler = dependencies.handler;
    this.#server = this.#createServer(options.tls);
    const server = this.#server;
    if (options.tls === undefined) listen(server, "connection", socketHome, (socket: Socket) => this.#onConnection(socket));
    else {
      listen(server, "connection", socketHome, (socket: Socket) => this.#handshakes.add(socket));
      listen(server, "secureConnection", socketHome, (socket: Socket) => {
        this.#handshakes.end(socket);
        this.#onConnection(socket);
      });
    }
    listen(server, "request", messageHome, (incoming: IncomingMessage, outgoing: ServerResponse) =>
      this.#onRequest(incoming, outgoing, false),
    );
    listen(server, "checkContinue", messageHome, (incoming: IncomingMessage, outgoing: ServerResponse) =>
      this.#onRequest(incoming, outgoing, true),
    );
    listen(server, "checkExpectation", messageHome, (incoming: IncomingMessage, outgoing: ServerResponse) =>
      this.#onExpectation(incoming, outgoing),
    );
    listen(
      server,
      "clientError",
      connection("a client's error", () => undefined),
      (error: Error, socket: Socket) => {
        run(socketHome(socket), () => this.#onClientError(error, socket));
      },
    );
  }

  get openConnections(): number {
    return this.#pipelines.size;
  }

  async listen(host: string, port: number): Promise<{ port: number }> {
    await this.#listen({ host, port }, `${host}:${port}`);
    return { port: (this.#server.address() as AddressInfo).port };
  }

  async listenUnix(path: string): Promise<void> {
    await claimSocketPath(path);
    this.#context.isUnix = true;
    await withPrivateFiles(() => this.#listen({ path }, path)); // closing it removes the path
  }

  #listen(where: { host: string; port: number } | { path: string }, name: string): Promise<void> {
    return listening(this.#server, { ...where, backlog: LISTEN_BACKLOG }, name);
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
    this.#context.draining = true;
    const home = connection("the last connections of HTTP", () => undefined);
    const timer = after(timeoutMs, home, () => this.#server.closeAllConnections());
    const closed = new Promise((resolve) => {
      // The close() of net and not of http: that one takes an answer which a slow reader still receives for idle and cuts it off, and a
      // connection on which nothing was ever sent for busy.
      NetServer.prototype.close.call(this.#server, resolve);
    });
    const gone = Promise.all([...this.#pipelines.values()].map((pipeline) => pipeline.closed));
    this.#handshakes.destroyAll();
    for (const pipeline of this.#pipelines.values()) if (pipeline.isIdle) pipeline.socket.destroy();
    await Promise.all([closed, gone]);
    clearTimeout(timer);
    this.#server.close(() => {}); // stops http's own timer; its error says that the server is closed
  }

  #createServer(identity: TlsIdentity | undefined): Server | TlsServer {
    const { limits } = this.#context;
    const options = {
      maxHeaderSize: limits.headerBytesMax,
      headersTimeout: limits.headerTimeoutMs,
      // Bounds bodies that nobody collects; collected ones have their own limit, which must come first.
      requestTimeout: limits.headerTimeoutMs + limits.bodyTimeoutMs * 2,
      connectionsCheckingInterval: Math.max(10, Math.floor(limits.headerTimeoutMs / 4)),
      keepAliveTimeout: limits.idleTimeoutMs,
      noDelay: true,
      requireHostHeader: false, // we refuse it, in our words
    };
    const server =
      identity === undefined
        ? createServer(options)
        : createTlsServer({ ...options, ...tlsOptions(identity), handshakeTimeout: limits.headerTimeoutMs });
    server.maxConnections = limits.connectionsMax;
    server.maxHeadersCount = 0; // else node drops the surplus silently; we count and refuse
    return server;
  }

  #onConnection(socket: Socket): void {
    const pipeline = new ConnectionPipeline({ waitingMax: this.#context.limits.pipelinedMax }, socket);
    this.#pipelines.set(socket, pipeline);
    listenOnce(socket, "close", socketHome(socket), () => this.#pipelines.delete(socket));
  }

  #onRequest(incoming: IncomingMessage, outgoing: ServerResponse, awaitsContinue: boolean): void {
    this.#enqueue(incoming, outgoing, awaitsContinue, (exchange) => {
      const fault = exchange.request.headers.fault(this.#context.limits);
      if (fault !== undefined) exchange.refuse(fault.status, fault.code, fault.message, true);
      else if (!exchange.request.hasTarget || !exchange.request.hasHost) exchange.refuse(...BAD_REQUEST, true);
      else exchange.guard(() => this.#handler(exchange));
    });
  }

  #onExpectation(incoming: IncomingMessage, outgoing: ServerResponse): void {
    this.#enqueue(incoming, outgoing, true, (exchange) => {
      exchange.refuse(417, "expectation_failed", "the only expectation understood is 100-continue", true);
    });
  }

  #enqueue(incoming: IncomingMessage, outgoing: ServerResponse, awaitsContinue: boolean, begin: (exchange: NodeExchange) => void): void {
    const pipeline = this.#pipelines.get(incoming.socket);
    pipeline?.enqueue((onOver) => {
      const exchange = new NodeExchange({ incoming, outgoing, awaitsContinue }, this.#context, (isLast) => {
        onOver(isLast);
        this.#closeIfDrained(pipeline);
      });
      begin(exchange);
      return exchange;
    });
  }

  #closeIfDrained(pipeline: ConnectionPipeline): void {
    // An answer whose head left before draining began says keep-alive.
    if (this.#context.draining && pipeline.isIdle && !pipeline.socket.destroyed) pipeline.socket.destroySoon();
  }

  #onClientError(error: Error & { code?: string; rawPacket?: Buffer }, socket: Socket): void {
    const pipeline = this.#pipelines.get(socket);
    if (pipeline === undefined || pipeline.refused || !socket.writable) return void socket.destroy();
    if (pipeline.isIdle && isHttp2Preface(error.rawPacket)) return this.#refuseHttp2(pipeline);
    const [status, code, message] = PARSER_REFUSALS.get(error.code ?? "") ?? BAD_REQUEST;
    pipeline.clear();
    pipeline.refused = true;
    if (pipeline.isIdle) return this.#refuseRaw(socket, status, code, message);
    // Bytes behind a request that has an answer due: a refusal now would be taken for that answer.
    if (pipeline.current?.isReceiving === true) pipeline.current.refuseNow(status, code, message);
    else if (pipeline.current?.isLingering === true) pipeline.current.expire();
    else socket.destroy();
  }

  #refuseHttp2(pipeline: ConnectionPipeline): void {
    pipeline.refused = true;
    pipeline.socket.end(http2Refusal());
    this.#closeSoon(pipeline.socket);
  }

  /** Answers where there is no request to answer. */
  #refuseRaw(socket: Socket, status: number, code: RefusalCode, message: string): void {
    const { headers, body } = this.#context.options.refusal(status, code, message);
    const lines = this.#context.heads
      .whole(status, headers)
      .lines.map(([name, value]) => `${name}: ${value}\r\n`)
      .join("");
    socket.write(`HTTP/1.1 ${statusLine(status)}\r\n${lines}Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n`);
    socket.end(body);
    this.#closeSoon(socket);
  }

  #closeSoon(socket: Socket): void {
    this.#context.sweep.add({ sweepIndex: -1, sweepsLeft: 0, expire: () => socket.destroy() }, this.#context.limits.lingerMs);
  }
}

function socketHome(socket: Socket): Home {
  return connection("a connection of HTTP", () => socket.destroy());
}

function messageHome({ socket }: IncomingMessage): Home {
  return connection("the beginning of a request over HTTP", () => socket.destroy());
}

// Connections whose TLS handshake is not over: the server of node:https knows no way to close them, and waits for them when it closes.

/** Raw sockets by the address of their peer, which the TLS socket over one has too. Bounded by the server's connections and its time for handshakes. */
class TlsHandshakes {
  readonly #sockets = new Map<string, Socket>();

  add(socket: Socket): void {
    const peer = peerOf(socket);
    this.#sockets.set(peer, socket);
    listenOnce(
      socket,
      "close",
      connection("a handshake of TLS", () => socket.destroy()),
      () => {
        if (this.#sockets.get(peer) === socket) this.#sockets.delete(peer);
      },
    );
  }

  /** The handshake of this TLS socket is over. */
  end(socket: Socket): void {
    this.#sockets.delete(peerOf(socket));
  }

  destroyAll(): void {
    for (const socket of this.#sockets.values()) socket.destroy();
  }
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
