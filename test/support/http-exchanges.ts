/** Requests, handlers and expectations which the tests of the HTTP adapters share. */
import { createHash } from "node:crypto";
import { expect } from "vitest";
import type { HttpEngineName, HttpHandler } from "../../src/adapters/http/http-server.ts";
import { loadUwsLibrary } from "../../src/adapters/http/uws/uws-library.ts";
import type { RawHttpClient } from "./http-raw-client.ts";

/** Bytes of a mebibyte. */
export const MIB = 1024 * 1024;
/** Headers of a plain text. */
export const TEXT = [["Content-Type", "text/plain"]] as const;

const loadedUws = loadUwsLibrary();
/** Why uws cannot be tested here; undefined where it can. Never in CI. */
export const uwsMissing = "reason" in loadedUws ? loadedUws.reason : undefined;
if (uwsMissing !== undefined) {
  if (process.env.CI) throw new Error(`uws must not be skipped in CI: ${uwsMissing}`);
  process.stderr.write(`http-adapters: uws skipped: ${uwsMissing}\n`);
}

/** A request as it goes over the wire. */
export function request(method: string, target: string, headers: readonly string[] = [], body = ""): string {
  const lines = [`${method} ${target} HTTP/1.1`, "Host: vedette", ...headers];
  if (body !== "") lines.push(`Content-Length: ${Buffer.byteLength(body)}`);
  return `${lines.join("\r\n")}\r\n\r\n${body}`;
}

/** Hash of a body. */
export function sha256(data: Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}

/** Answers what it was asked. */
export const echoHead: HttpHandler = (exchange) => {
  const { method, path, query, remoteAddress } = exchange.request;
  const seen = {
    method,
    path,
    query,
    remoteAddress,
    accept: exchange.request.header("accept"),
    absent: exchange.request.header("x-absent"),
  };
  exchange.respond(200, [["Content-Type", "application/json"]], JSON.stringify(seen));
};

/** Answers in a later turn, length and hash of the body. */
export function hashBody(maxBytes: number): HttpHandler {
  return (exchange) => {
    exchange.collectBody(maxBytes, (body) => {
      const answer = `${body.length} ${sha256(body)}`;
      setImmediate(() => exchange.respond(200, TEXT, answer));
    });
  };
}

/** Stops at the body limit given by the path, as in `/10`. */
export const limitByPath: HttpHandler = (exchange) => hashBody(Number(exchange.request.path.slice(1)))(exchange);

/** Expects an answer of the adapter's own. */
export function expectRefusal(response: { status: number; body: Buffer }, status: number, code: string): void {
  expect(response.status).toBe(status);
  expect(JSON.parse(response.body.toString())).toMatchObject({ status, code });
}

/** Expects that the connection serves another request. */
export async function stillServes(client: RawHttpClient): Promise<void> {
  await client.send(request("GET", "/still"));
  expect((await client.response()).status).toBe(200);
}

/** Both adapters, with whether they must be skipped here. */
export const ENGINES: ReadonlyArray<{ kind: HttpEngineName; skipped: boolean }> = [
  { kind: "uws", skipped: uwsMissing !== undefined },
  { kind: "node", skipped: false },
];
