/** Chooses the adapter behind the port. */
import type { HttpEngineName, HttpHandler, HttpServer, HttpServerOptions } from "./http-server.ts";
import { NodeHttpServer } from "./node/node-server.ts";
import { loadUwsLibrary } from "./uws/uws-library.ts";
import { UwsHttpServer } from "./uws/uws-server.ts";

/** A server on the wanted adapter. "auto" takes uws where it can be loaded and says in one line why not; "uws" throws where it cannot. */
export function createHttpServer(
  kind: "auto" | HttpEngineName,
  options: HttpServerOptions,
  handler: HttpHandler,
  log: (line: string) => void,
): HttpServer {
  if (kind === "node") return new NodeHttpServer(options, { handler });
  const loaded = loadUwsLibrary();
  if ("library" in loaded) return new UwsHttpServer(options, { library: loaded.library, handler });
  if (kind === "uws") throw new Error(`uWebSockets.js cannot be used: ${loaded.reason}`);
  log(`node:http instead of uWebSockets.js: ${loaded.reason}`);
  return new NodeHttpServer(options, { handler });
}
