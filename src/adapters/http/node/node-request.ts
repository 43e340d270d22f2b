/** The head of a request on node:http, in the port's terms. */
import type { IncomingMessage } from "node:http";
import { UNIX_PEER } from "../../../core/protocol/access.ts";
import type { HttpRequest } from "../http-server.ts";
import { RequestHeaders } from "../request-headers.ts";
import { showsCertificate } from "../tls/shown-certificate.ts";

/** The head of a request on node:http. */
export class NodeRequestHead implements HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly remoteAddress: string;
  readonly version: string;
  readonly hasClientCertificate: boolean;
  readonly headers = new RequestHeaders();

  constructor(message: IncomingMessage, isUnix: boolean) {
    const target = originForm(message.url ?? "/");
    const mark = target.indexOf("?");
    this.method = message.method ?? "GET";
    this.path = mark < 0 ? target : target.slice(0, mark);
    this.query = mark < 0 ? "" : target.slice(mark + 1);
    this.version = message.httpVersion;
    this.remoteAddress = isUnix ? UNIX_PEER : (message.socket.remoteAddress ?? "").replace(/^::ffff:(?=\d+\.)/, "");
    this.hasClientCertificate = showsCertificate(message.socket);
    // rawHeaders, because `headers` drops the second of some repeated ones, which is what the framing check must see.
    const lines = message.rawHeaders;
    for (let i = 0; i + 1 < lines.length; i += 2) this.headers.add((lines[i] ?? "").toLowerCase(), lines[i + 1] ?? "");
  }

  /** Whether the target has a form of RFC 9112, 3.2 that a server takes: a path, http or https with a host, an asterisk, or what CONNECT names. */
  get hasTarget(): boolean {
    return this.path.startsWith("/") || this.path === "*" || this.method === "CONNECT";
  }

  /** RFC 9112, 3.2: a request of HTTP/1.1 has a Host. */
  get hasHost(): boolean {
    return this.version !== "1.1" || this.header("host") !== undefined;
  }

  header(name: string): string | undefined {
    return this.headers.get(name);
  }

  findHeader(test: (name: string) => boolean): string | undefined {
    return this.headers.find(test);
  }
}

/** A request to a proxy carries scheme and host in its target; RFC 9112, 3.2.2 asks every server to take it. */
function originForm(target: string): string {
  const absolute = /^https?:\/\/[^/?]*(.*)$/i.exec(target);
  if (absolute === null) return target;
  const rest = absolute[1] ?? "";
  return rest.startsWith("/") ? rest : `/${rest}`;
}
