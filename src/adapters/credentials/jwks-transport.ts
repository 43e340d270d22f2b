// Where key sets are read from: a file, or a URL that the operator has set.
import { watchFile } from "node:fs";
import { open } from "node:fs/promises";
import { JWKS_BYTES_MAX } from "./jwks-content.ts";

/** A provider that takes longer is down. */
const FETCH_MS_MAX = 5_000;

/** Reads a file; rejects with one line that may be logged. */
export async function readJwksFile(path: string): Promise<string> {
  const file = await open(path, "r");
  try {
    const bytes = Buffer.alloc(JWKS_BYTES_MAX + 1);
    const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
    return decode(bytes.subarray(0, bytesRead));
  } finally {
    await file.close();
  }
}

/** Fetches a URL, following no redirect; rejects with one line that may be logged. */
export async function fetchJwks(url: URL): Promise<string> {
  const headers: Record<string, string> = { accept: "application/jwk-set+json, application/json" };
  const response = await fetch(url, { headers, redirect: "error", signal: AbortSignal.timeout(FETCH_MS_MAX) }).catch(explain);
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new Error(`it answers ${response.status}`);
  }
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > JWKS_BYTES_MAX) break;
  }
  return decode(Buffer.concat(chunks));
}

/** The message of `fetch` may hold the URL, and with it a password; the code of its cause does not. */
function explain(error: unknown): never {
  const { name, cause } = error as { name: string; cause?: { code?: string; message?: string } };
  if (name === "TimeoutError") throw new Error(`it did not answer in ${FETCH_MS_MAX / 1000} s`);
  throw new Error(`it cannot be fetched (${cause?.code ?? (cause?.message === "unexpected redirect" ? "it redirects" : name)})`);
}

function decode(bytes: Uint8Array): string {
  if (bytes.length > JWKS_BYTES_MAX) throw new Error(`it is longer than ${JWKS_BYTES_MAX} bytes`);
  return Buffer.from(bytes).toString("utf8");
}

/** Calls when a file has changed: within a second. */
export function followFile(path: string, onChange: () => void): void {
  watchFile(path, { interval: 1_000, persistent: false }, onChange);
}
