// The least that an HTTP server on uWebSockets.js can do: take the body, throw it away, answer 204. Run as a program it is that server
// (PORT from the environment); imported it starts one. The binary passes the same checksum as in the product.
import { fileURLToPath } from "node:url";
import { startProcess } from "./server-process.mjs";

const selfFile = fileURLToPath(import.meta.url);

export function startBareUws(options) {
  const plan = (port) => ({ command: process.execPath, args: [selfFile], env: { PORT: String(port) } });
  const server = { kind: "bare-uws", plan, ready: "/ready", path: "/", headers: [], countAccepted: () => Number.NaN };
  return startProcess(server, options);
}

async function serve() {
  const { loadUwsLibrary } = await import("../../dist/adapters/http/uws/uws-library.js");
  const loaded = loadUwsLibrary();
  if (!("library" in loaded)) throw new Error(`uWebSockets.js cannot be loaded: ${loaded.reason}`);
  const { library } = loaded;
  const discard = (response) => {
    response.onAborted(() => {});
    response.onData((_chunk, isLast) => {
      if (!isLast) return;
      response.cork(() => {
        response.writeStatus("204 No Content");
        response.endWithoutBody();
      });
    });
  };
  library
    .App()
    .any("/*", discard)
    .listen("127.0.0.1", Number(process.env.PORT), library.LIBUS_LISTEN_EXCLUSIVE_PORT, (socket) => {
      if (!socket) process.exit(1);
    });
}

if (process.argv[1] === selfFile) await serve();
