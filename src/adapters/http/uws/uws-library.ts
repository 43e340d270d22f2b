/**
 * The native uWebSockets.js and the gate before it.
 *
 * The package is a republication by a third party, without provenance, and runs with all rights of the process. So the file is read and its
 * sha256 compared with the table below before it is loaded, and only that file is loaded. Unknown or different: node:http does the work.
 * The types are our own and hold only what the pinned binaries have: the package's declarations allow any method name.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { firstLineOf } from "../../../core/text/error-text.ts";
import { onMainThread } from "../../threads/threads.ts";

const BINARY_SHA256: ReadonlyMap<string, string> = new Map([
  // uwebsockets 3.0.6; ABI 115 is Node 20, 127 is 22, 137 is 24, 141 is 25
  ["uws_linux_x64_115.node", "f4fa5d7b697529b45ac8aa3d57385d9af51bc1d2b26aa9f5b68ca4361542e665"],
  ["uws_linux_x64_127.node", "78e38a9a163b1cf33ce539619e5908111dea95a12e7943d95fbcdd524879caa8"],
  ["uws_linux_x64_137.node", "3b549c14e01d9d1faf234cdf4b6f0fb08158605e3692cd0eb1b905e327bd3449"],
  ["uws_linux_x64_141.node", "d22bae7642b872152cd0eeb682c6c2ffd186e91af8cf18cdf98be984a6549d49"],
]);

/** Answer of uws: any use after its end or its abort throws. */
export interface UwsResponse {
  onAborted(callback: () => void): void;
  onData(callback: (chunk: ArrayBuffer, isLast: boolean) => void): void;
  onWritable(callback: (offset: number) => boolean): void;
  cork(callback: () => void): void;
  writeStatus(status: string): void;
  writeHeader(name: string, value: string | Uint8Array): void;
  write(chunk: Uint8Array): boolean;
  tryEnd(rest: Uint8Array, totalBytes: number): [ok: boolean, done: boolean];
  end(body: string | Uint8Array, closeConnection: boolean): void;
  /** Called without arguments only: a length leaves the answer unfinished, and the next request on the connection is lost. */
  endWithoutBody(): void;
  close(): void;
  /** Stops reading from the connection, and its time limits with it. */
  pause(): void;
  resume(): void;
  getRemoteAddress(): ArrayBuffer;
  getRemoteAddressAsText(): ArrayBuffer;
}

/** Request of uws: lives on the native stack, so it is gone when the handler returns. */
export interface UwsRequest {
  getCaseSensitiveMethod(): string;
  getUrl(): string;
  getQuery(): string | undefined;
  forEach(callback: (name: string, value: string) => void): void;
}

/** Handle of a listening socket. */
export type UwsListenSocket = object;

/** One uws server. */
export interface UwsApp {
  any(pattern: string, handler: (response: UwsResponse, request: UwsRequest) => void): UwsApp;
  /** Called with +1 for a connection that opened and -1 for one that closed. */
  filter(callback: (response: UwsResponse, change: number) => void): UwsApp;
  listen(host: string, port: number, options: number, callback: (socket: UwsListenSocket | false) => void): UwsApp;
  /** Replaces whatever stands at the path. */
  listen_unix(callback: (socket: UwsListenSocket | false) => void, path: string): UwsApp;
  close(): UwsApp;
}

/** Files in PEM that a TLS app reads when it is made. */
export interface UwsTlsFiles {
  readonly cert_file_name: string;
  readonly key_file_name: string;
  /** Of OpenSSL, by their names. */
  readonly ssl_ciphers: string;
}

/** The native library. */
export interface UwsLibrary {
  App(): UwsApp;
  /** Throws where a file cannot be used. */
  SSLApp(files: UwsTlsFiles): UwsApp;
  us_listen_socket_close(socket: UwsListenSocket): void;
  us_socket_local_port(socket: UwsListenSocket): number;
  /** "silent": answers have no `uWebSockets` header from then on, in this process. Undocumented; conformance/http-adapters looks at the wire. */
  _cfg(key: "silent"): void;
  readonly LIBUS_LISTEN_EXCLUSIVE_PORT: number;
}

/** The library, or why there is none. */
export type UwsLoadResult = { readonly library: UwsLibrary } | { readonly reason: string };

/** The file of the package that fits this process. */
export function uwsBinaryName(): string {
  return `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;
}

/** Why a package folder must not be loaded from; undefined when its binary is the known one. */
export function uwsBinaryFault(folder: string): string | undefined {
  const name = uwsBinaryName();
  const expected = BINARY_SHA256.get(name);
  if (expected === undefined) return `no checksum is known for ${name}`;
  let content: Buffer;
  try {
    content = readFileSync(join(folder, name));
  } catch (error) {
    return `${name} cannot be read: ${firstLineOf(error)}`;
  }
  const actual = createHash("sha256").update(content).digest("hex");
  return actual === expected ? undefined : `${name} has sha256 ${actual}, not ${expected}`;
}

/** Loads the library from the installed package, or from `folder`, if its binary is the known one. */
export function loadUwsLibrary(folder?: string): UwsLoadResult {
  // A worker that ends while it owns a uws socket aborts the whole process.
  if (!onMainThread) return { reason: "uWebSockets.js runs on the main thread only" };
  const require = createRequire(import.meta.url);
  try {
    const home = folder ?? dirname(require.resolve("uWebSockets.js"));
    const fault = uwsBinaryFault(home);
    if (fault !== undefined) return { reason: fault };
    const library = require(join(home, uwsBinaryName())) as UwsLibrary;
    library._cfg("silent");
    return { library };
  } catch (error) {
    return { reason: firstLineOf(error) };
  }
}
