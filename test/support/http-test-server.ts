/** Servers and clients of a test, closed together after it. */
import { BodyShares } from "../../src/adapters/http/body-shares.ts";
import { createHttpServer } from "../../src/adapters/http/http-engine.ts";
import type { HttpLimits } from "../../src/adapters/http/http-limits.ts";
import type { HttpEngineName, HttpHandler, HttpServer, HttpServerOptions } from "../../src/adapters/http/http-server.ts";
import { RawHttpClient } from "./http-raw-client.ts";

/** A promise to be settled from elsewhere. */
export interface Deferred<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
}

/** Makes a promise to be settled from elsewhere. */
export function deferred<T = void>(): Deferred<T> {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((settle) => (resolve = settle));
  return { promise, resolve };
}

/** One test's servers and clients. */
export class HttpTestBench {
  readonly faults: unknown[] = [];
  port = 0;
  #servers: HttpServer[] = [];
  #clients: RawHttpClient[] = [];

  /** Memory of bodies on their way of the servers that start from now on. */
  bodies = BodyShares.alone();

  /** Starts a server on a free port of the loopback interface. */
  async serve(kind: HttpEngineName, handler: HttpHandler, limits: Partial<HttpLimits> = {}): Promise<HttpServer> {
    const server = createHttpServer(kind, { ...this.options(limits), bodies: this.bodies }, handler, () => {});
    this.#servers.push(server);
    this.port = (await server.listen("127.0.0.1", 0)).port;
    return server;
  }

  /** Options which note faults and write refusals as JSON. */
  options(limits: Partial<HttpLimits> = {}): HttpServerOptions {
    return {
      limits,
      onHandlerFault: (error) => this.faults.push(error),
      refusal: (status, code, message) => ({
        headers: [["Content-Type", "application/json"]],
        body: JSON.stringify({ status, code, message }),
      }),
    };
  }

  /** Opens a connection to the server started last. */
  async connect(options: { allowHalfOpen?: boolean } = {}): Promise<RawHttpClient> {
    const client = await RawHttpClient.open(this.port, options);
    this.#clients.push(client);
    return client;
  }

  /** Closes everything. */
  async close(): Promise<void> {
    for (const client of this.#clients) client.socket.destroy();
    await Promise.all(this.#servers.map((server) => server.drain(0)));
    this.#clients = [];
    this.#servers = [];
    this.faults.length = 0;
    this.bodies = BodyShares.alone();
  }
}
