/** Chooses the adapter behind the port. */
import { ConfigError } from "../../core/config/config-error.ts";
import type { HttpEngineName, HttpHandler, HttpServer, HttpServerOptions } from "./http-server.ts";
import { NodeHttpServer } from "./node/node-server.ts";
import { loadUwsLibrary } from "./uws/uws-library.ts";
import { UwsHttpServer } from "./uws/uws-server.ts";

const NO_CLIENT_CERTIFICATES = "the pinned uWebSockets.js cannot tell who has shown a certificate (TLS_CLIENT_CA_FILE)";

/** A server on the wanted adapter. "auto" takes uws where it can be loaded and says in one line why not; "uws" throws where it cannot. */
export function createHttpServer(
  kind: "auto" | HttpEngineName,
  options: HttpServerOptions,
  handler: HttpHandler,
  log: (line: string) => void,
): HttpServer {
  if (kind === "node") return new NodeHttpServer(options, { handler });
  if (options.tls?.clientAuthorities !== undefined) {
    if (kind === "uws")
      throw new ConfigError(`HTTP_ENGINE=uws: ${NO_CLIENT_CERTIFICATES}; leave TLS_CLIENT_CA_FILE or take HTTP_ENGINE=node`);
    log(`node:http instead of uWebSockets.js: ${NO_CLIENT_CERTIFICATES}`);
    return new NodeHttpServer(options, { handler });
  }
  const loaded = loadUwsLibrary();
  if ("library" in loaded) return new UwsHttpServer(options, { library: loaded.library, handler });
  if (kind === "uws") throw new Error(`uWebSockets.js cannot be used: ${loaded.reason}`);
  log(`node:http instead of uWebSockets.js: ${loaded.reason}`);
  return new NodeHttpServer(options, { handler });
}
