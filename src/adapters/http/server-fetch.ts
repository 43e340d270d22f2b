/** `fetch` for a server of ours that may listen on a Unix socket, which the platform's own cannot reach. */
import { type IncomingMessage, request } from "node:http";

const UNIX = "unix:";

/** What the command line asks for. */
export interface ServerRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

/** Asks the server at `base`, an http(s) address or `unix:/path/of/socket`, both without a slash at the end. Rejects as fetch does where it cannot be reached. */
export async function serverFetch(base: string, target: string, asked: ServerRequest = {}): Promise<Response> {
  if (!base.startsWith(UNIX)) return fetch(`${base}${target}`, asked);
  const incoming = await send(base.slice(UNIX.length), target, asked);
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const status = incoming.statusCode ?? 500;
  const headers = { "Content-Type": incoming.headers["content-type"] ?? "" };
  return new Response(chunks.length === 0 ? null : Buffer.concat(chunks), { status, headers });
}

function send(socketPath: string, path: string, { method = "GET", headers, body, signal }: ServerRequest): Promise<IncomingMessage> {
  const length = body === undefined ? {} : { "Content-Length": Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const options = { socketPath, path, method, headers: { ...headers, ...length }, ...(signal && { signal }) };
    request(options, resolve).on("error", reject).end(body);
  });
}

/** The same with the body as it comes. */
export async function serverStream(
  base: string,
  target: string,
  asked: ServerRequest = {},
): Promise<{ readonly status: number; readonly body: AsyncIterable<Uint8Array> }> {
  if (base.startsWith(UNIX)) {
    const incoming = await send(base.slice(UNIX.length), target, asked);
    return { status: incoming.statusCode ?? 500, body: incoming };
  }
  const response = await fetch(`${base}${target}`, asked);
  return { status: response.status, body: response.body ?? emptyBody() };
}

async function* emptyBody(): AsyncGenerator<Uint8Array> {}
