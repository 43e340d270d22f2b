// Headers of every answer.
import type { HttpHeaders } from "../../adapters/http/http-server.ts";

/** Nothing that the server says is to be taken for another kind of file, or kept by a cache. */
const ALWAYS: HttpHeaders = [
  ["X-Content-Type-Options", "nosniff"],
  ["Cache-Control", "no-store"],
];
/** RFC 6797; a year. Without includeSubDomains: other hosts are not ours to speak for. */
const STRICT_TRANSPORT = ["Strict-Transport-Security", "max-age=31536000"] as const;
const HTTPS_PORT = 443;

/**
 * Browsers take Strict-Transport-Security for all ports of a host: said on port 8080 it would shut out plain servers beside this one. So it is said only where people reach
 * the server at https's own port.
 */
export function commonHeaders(server: { readonly isTls: boolean; readonly port: number; readonly publicUrl: string }): HttpHeaders {
  const { isTls, port, publicUrl } = server;
  const isAtOwnPort = port === HTTPS_PORT || (URL.canParse(publicUrl) && isHttpsRoot(new URL(publicUrl)));
  return isTls && isAtOwnPort ? [...ALWAYS, STRICT_TRANSPORT] : ALWAYS;
}

function isHttpsRoot({ protocol, port }: URL): boolean {
  return protocol === "https:" && port === "";
}
