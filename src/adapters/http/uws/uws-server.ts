/**
 * The port on uWebSockets.js, on the main thread: one app, and with TLS one for each identity whose connections are still open, since an app reads its certificate when
 * it is made. The listening socket moves from one app to the next; between the two steps, in one turn, connections are refused.
 */
import { type AddressInfo, createServer } from "node:net";
import { after, afterTurn, connection, fatal, guarded, type Home } from "../../../core/faults/guard.ts";
import type { HttpHandler, HttpServer, HttpServerOptions } from "../http-server.ts";
import type { ServerContext } from "../server-context.ts";
import { createServerContext } from "../server-context.ts";
import { TLS_CIPHERS, type TlsIdentity } from "../tls/tls-identity.ts";
import { claimSocketPath, releaseSocketPath, withPrivateFiles } from "../unix-socket.ts";
import { UwsExchange, type UwsPort, WholeBodies } from "./uws-exchange.ts";
import type { UwsApp, UwsLibrary, UwsListenSocket, UwsRequest, UwsResponse } from "./uws-library.ts";

/** Apps of identities before, kept for their connections: beyond that those of the oldest are closed. */
const FORMER_APPS_MAX = 3;

const DRAIN = fatal("the end of a port");

/** An app with the number of its connections. */
interface CountedApp {
  readonly app: UwsApp;
  connections: number;
}

/** A server on the native library. */
export class UwsHttpServer implements HttpServer {
  readonly engineName = "uws";
  readonly #library: UwsLibrary;
  readonly #handler: HttpHandler;
  readonly #context: ServerContext;
  /** The oldest first; the last one listens. */
  #apps: CountedApp[];
  #address = { host: "", port: 0 };
  #listenSocket: UwsListenSocket | undefined;
  #socketPath: string | undefined;
  #connections = 0;
  #exchanges = 0;
  readonly #port: UwsPort;
  #onIdle: (() => void) | undefined;
  #drained: Promise<void> | undefined;

  constructor(options: HttpServerOptions, dependencies: { library: UwsLibrary; handler: HttpHandler }) {
    this.#library = dependencies.library;
    this.#handler = dependencies.handler;
    this.#context = createServerContext(options);
    this.#port = { context: this.#context, whole: new WholeBodies(), onOver: () => this.#onExchangeOver() };
    this.#apps = [this.#makeApp(options.tls)];
  }

  get openConnections(): number {
    return this.#connections;
  }

  async listen(host: string, port: number): Promise<{ port: number }> {
    if (this.#listenSocket !== undefined) throw new Error("this server listens already");
    // Only a socket that was bound to a number may be bound again while connections of before are open: uws sets SO_REUSEADDR for those alone.
    const number = port === 0 && this.#context.options.tls !== undefined ? await freePort(host) : port;
    const socket = await this.#openListenSocket(host, number);
    if (socket === false) throw new Error(`cannot listen on ${host}:${port}: ${await listenFailure(host, port)}`);
    this.#listenSocket = socket;
    this.#address = { host, port: this.#library.us_socket_local_port(socket) };
    return { port: this.#address.port };
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

  async renewTls(identity: TlsIdentity): Promise<void> {
    const { host, port } = this.#address;
    if (this.#listenSocket === undefined || port === 0) return; // nothing listens, or on a Unix socket
    const next = this.#makeApp(identity); // throws before anything is closed
    this.#library.us_listen_socket_close(this.#listenSocket);
    this.#apps = [...this.#apps.filter(({ connections }) => connections > 0), next];
    this.#listenSocket = undefined;
    const socket = await this.#openListenSocket(host, port);
    if (socket === false) throw new Error(`cannot listen on ${host}:${port} again: ${await listenFailure(host, port)}`);
    this.#listenSocket = socket;
    for (const { app } of this.#apps.splice(0, Math.max(0, this.#apps.length - 1 - FORMER_APPS_MAX))) app.close();
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
      const timer = after(timeoutMs, DRAIN, () => this.#onIdle?.());
      this.#onIdle = () => {
        this.#onIdle = undefined;
        clearTimeout(timer);
        for (const { app } of this.#apps) app.close();
        resolve();
      };
      this.#closeWhenIdle();
    });
  }

  get #app(): UwsApp {
    return (this.#apps.at(-1) as CountedApp).app;
  }

  #makeApp(identity: TlsIdentity | undefined): CountedApp {
    const files = identity?.files;
    const app =
      files === undefined
        ? this.#library.App()
        : this.#library.SSLApp({ cert_file_name: files.TLS_CERT_FILE, key_file_name: files.TLS_KEY_FILE, ssl_ciphers: TLS_CIPHERS });
    const counted = { app, connections: 0 };
    app.filter(guarded(responseHome, (response: UwsResponse, change: number) => this.#onConnection(counted, response, change)));
    app.any(
      "/*",
      guarded(responseHome, (response: UwsResponse, request: UwsRequest) => this.#onRequest(response, request)),
    );
    return counted;
  }

  #openListenSocket(host: string, port: number): Promise<UwsListenSocket | false> {
    // Exclusive, or a second process could share the port and take half of the requests.
    return new Promise((resolve) => this.#app.listen(host, port, this.#library.LIBUS_LISTEN_EXCLUSIVE_PORT, resolve));
  }

  #onConnection(counted: CountedApp, response: UwsResponse, change: number): void {
    counted.connections += change;
    this.#connections += change;
    if (change > 0 && this.#connections > this.#context.limits.connectionsMax) response.close();
  }

  #onRequest(response: UwsResponse, request: UwsRequest): void {
    this.#exchanges++;
    const exchange = new UwsExchange(response, request, this.#port);
    const fault = exchange.request.fault(this.#context.limits);
    if (fault !== undefined) exchange.refuseHead(fault);
    else exchange.handle(this.#handler);
  }

  #onExchangeOver(): void {
    this.#exchanges--;
    this.#closeWhenIdle();
  }

  #closeWhenIdle(): void {
    // One turn later, because the last answer may still be corked, and because app.close() ends other exchanges inside a native callback.
    if (this.#onIdle !== undefined && this.#exchanges === 0) afterTurn(DRAIN, () => this.#exchanges === 0 && this.#onIdle?.());
  }
}

function responseHome(response: UwsResponse): Home {
  return connection("a connection of HTTP", () => response.close());
}

/** A number that the system would give now. */
function freePort(host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    const listens = guarded(connection("the look for a free port", reject), () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
    probe.listen({ host, port: 0, exclusive: true }, listens);
  });
}

/** Why listening failed: uws only says that it did, so the same is tried with node:net. */
function listenFailure(host: string, port: number): Promise<string> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", (error) => resolve(error.message));
    const refused = () => resolve("refused by uWebSockets.js");
    probe.listen(
      { host, port, exclusive: true },
      guarded(connection("the look at a port", refused), () => probe.close(refused)),
    );
  });
}
