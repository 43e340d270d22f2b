/** `fetch` for a server of ours that may listen on a Unix socket, or have a certificate that this machine's own authorities do not know: the platform's fetch reaches neither. */
import { X509Certificate } from "node:crypto";
import { type IncomingMessage, type RequestOptions, request as requestPlain } from "node:http";
import { request as requestTls } from "node:https";
import { rootCertificates } from "node:tls";

const UNIX = "unix:";

/** Request of the command line. */
export interface ServerRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

/** Whom an https server is believed, beside the usual authorities. */
export interface ServerTrust {
  /** In PEM: authorities, or the server's own certificate. */
  readonly certificates: string;
  /** Only a server that shows the first of them is meant, under whatever name it is reached. */
  readonly isPinned: boolean;
}

/** By the server's address; undefined where the usual authorities do. */
export type TrustBook = (base: string) => ServerTrust | undefined;

let trustBook: TrustBook = () => undefined;

/** Sets whom this process believes: for a command, before it asks anybody. */
export function trustServers(book: TrustBook): void {
  trustBook = book;
}

/** Asks the server at `base`, an http(s) address or `unix:/path/of/socket`, both without a slash at the end. Rejects as fetch does where it cannot be reached. */
export async function serverFetch(base: string, target: string, asked: ServerRequest = {}): Promise<Response> {
  const options = ownOptions(base, target);
  if (options === undefined) return fetch(`${base}${target}`, asked);
  const incoming = await send(options, asked);
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const status = incoming.statusCode ?? 500;
  const headers = { "Content-Type": incoming.headers["content-type"] ?? "" };
  return new Response(chunks.length === 0 ? null : Buffer.concat(chunks), { status, headers });
}

/** The same with the body as it comes. */
export async function serverStream(
  base: string,
  target: string,
  asked: ServerRequest = {},
): Promise<{ readonly status: number; readonly body: AsyncIterable<Uint8Array> }> {
  const options = ownOptions(base, target);
  if (options !== undefined) {
    const incoming = await send(options, asked);
    return { status: incoming.statusCode ?? 500, body: incoming };
  }
  const response = await fetch(`${base}${target}`, asked);
  return { status: response.status, body: response.body ?? emptyBody() };
}

type OwnOptions = RequestOptions & { readonly isTls: boolean };

/** Request options for a server that fetch does not reach; undefined for any other. */
function ownOptions(base: string, target: string): OwnOptions | undefined {
  if (base.startsWith(UNIX)) return { isTls: false, socketPath: base.slice(UNIX.length), path: target };
  const trust = base.startsWith("https:") ? trustBook(base) : undefined;
  if (trust === undefined) return undefined;
  const { hostname, port, pathname } = new URL(base);
  const host = hostname.replace(/^\[|\]$/g, "");
  return { isTls: true, host, port, path: `${pathname === "/" ? "" : pathname}${target}`, ...trustOptions(trust) };
}

function trustOptions({ certificates, isPinned }: ServerTrust) {
  if (!isPinned) return { ca: [...rootCertificates, certificates] };
  const pinned = new X509Certificate(certificates).raw;
  const checkServerIdentity = (_host: string, shown: { readonly raw: Buffer }) =>
    pinned.equals(shown.raw) ? undefined : new Error("it shows another certificate than the one in TLS_CERT_FILE");
  return { ca: certificates, allowPartialTrustChain: true, checkServerIdentity };
}

function send({ isTls, ...options }: OwnOptions, { method = "GET", headers, body, signal }: ServerRequest): Promise<IncomingMessage> {
  const length = body === undefined ? {} : { "Content-Length": Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const whole = { ...options, method, headers: { ...headers, ...length }, ...(signal && { signal }) };
    (isTls ? requestTls : requestPlain)(whole, resolve).on("error", reject).end(body);
  });
}

async function* emptyBody(): AsyncGenerator<Uint8Array> {}
