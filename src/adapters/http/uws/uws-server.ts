/** The port on uWebSockets.js: one app on the main thread. */
import { createServer } from "node:net";
import type { HttpHandler, HttpServer, HttpServerOptions } from "../http-server.ts";
import type { ServerContext } from "../server-context.ts";
import { createServerContext } from "../server-context.ts";
import { claimSocketPath, releaseSocketPath, withPrivateFiles } from "../unix-socket.ts";
import { UwsExchange } from "./uws-exchange.ts";
import type { UwsApp, UwsLibrary, UwsListenSocket, UwsRequest, UwsResponse } from "./uws-library.ts";

/** A server on the native library. */
export class UwsHttpServer implements HttpServer {
  readonly engineName = "uws";
  readonly #library: UwsLibrary;
  readonly #handler: HttpHandler;
  readonly #context: ServerContext;
  readonly #app: UwsApp;
  #listenSocket: UwsListenSocket | undefined;
  #socketPath: string | undefined;
  #connections = 0;
  #exchanges = 0;
  readonly #onOver = () => this.#onExchangeOver();
  #onIdle: (() => void) | undefined;
  #drained: Promise<void> | undefined;

  constructor(options: HttpServerOptions, dependencies: { library: UwsLibrary; handler: HttpHandler }) {
    this.#library = dependencies.library;
    this.#handler = dependencies.handler;
    this.#context = createServerContext(options);
    this.#app = this.#library.App();
    this.#app.filter((response, change) => this.#onConnection(response, change));
    this.#app.any("/*", (response, request) => this.#onRequest(response, request));
  }

  get openConnections(): number {
    return this.#connections;
  }

  async listen(host: string, port: number): Promise<{ port: number }> {
    if (this.#listenSocket !== undefined) throw new Error("this server listens already");
    const socket = await this.#openListenSocket(host, port);
    if (socket === false) throw new Error(`cannot listen on ${host}:${port}: ${await listenFailure(host, port)}`);
    this.#listenSocket = socket;
    return { port: this.#library.us_socket_local_port(socket) };
  }

  async listenUnix(path: string): Promise<void> {
    if (this.#listenSocket !== undefined) throw new Error("this server listens already");
    await claimSocketPath(path);
    this.#context.isUnix = true;
    const socket = await new Promise<UwsListenSocket | false>((resolve) => withPrivateFiles(() => this.#app.listen_unix(resolve, path)));
    if (socket === false) throw new Error(`cannot listen on ${path}: refused by uWebSockets.js; look at the folder's owner and mode`);
    this.#listenSocket = socket;
    this.#socketPath = path;
  }

  drain(timeoutMs: number): Promise<void> {
    this.#drained ??= this.#drain(timeoutMs);
    return this.#drained;
  }

  #drain(timeoutMs: number): Promise<void> {
    this.#context.draining = true;
    if (this.#listenSocket !== undefined) this.#library.us_listen_socket_close(this.#listenSocket);
    this.#listenSocket = undefined;
    if (this.#socketPath !== undefined) releaseSocketPath(this.#socketPath);
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#onIdle?.(), timeoutMs);
      this.#onIdle = () => {
        this.#onIdle = undefined;
        clearTimeout(timer);
        this.#app.close();
        resolve();
      };
      this.#closeWhenIdle();
    });
  }

  #openListenSocket(host: string, port: number): Promise<UwsListenSocket | false> {
    // Exclusive, or a second process could share the port and take half of the requests.
    return new Promise((resolve) => this.#app.listen(host, port, this.#library.LIBUS_LISTEN_EXCLUSIVE_PORT, resolve));
  }

  #onConnection(response: UwsResponse, change: number): void {
    this.#connections += change;
    if (change > 0 && this.#connections > this.#context.limits.connectionsMax) response.close();
  }

  #onRequest(response: UwsResponse, request: UwsRequest): void {
    this.#exchanges++;
    const exchange = new UwsExchange(response, request, this.#context, this.#onOver);
    const fault = exchange.request.headers.fault(this.#context.limits);
    if (fault !== undefined) exchange.refuseHead(fault);
    else exchange.guard(() => this.#handler(exchange));
  }

  #onExchangeOver(): void {
    this.#exchanges--;
    this.#closeWhenIdle();
  }

  #closeWhenIdle(): void {
    // One turn later, because the last answer may still be corked, and because app.close() ends other exchanges inside a native callback.
    if (this.#onIdle !== undefined && this.#exchanges === 0) setImmediate(() => this.#exchanges === 0 && this.#onIdle?.());
  }
}

/** Why listening failed: uws only says that it did, so the same is tried with node:net. */
function listenFailure(host: string, port: number): Promise<string> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", (error) => resolve(error.message));
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve("refused by uWebSockets.js")));
  });
}
