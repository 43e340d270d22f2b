/** Copies a uws request before it disappears. */
import { UNIX_PEER } from "../../../core/protocol/access.ts";
import type { HttpLimits } from "../http-limits.ts";
import type { HttpRequest } from "../http-server.ts";
import { type HeadFault, RequestHeaders } from "../request-headers.ts";
import type { UwsRequest, UwsResponse } from "./uws-library.ts";

const NO_TRAILERS = "trailers are not understood here; leave them, or start the server with HTTP_ENGINE=node";

/** The head of a request on uws. */
export class UwsRequestHead implements HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  /** The parser refuses every other. */
  readonly version = "1.1";
  /** The pinned library cannot tell. */
  readonly hasClientCertificate = false;
  readonly isUnix: boolean;
  readonly headers = new RequestHeaders();
  #response: UwsResponse | undefined;
  #remoteAddress = "";

  constructor(request: UwsRequest, response: UwsResponse, isUnix: boolean) {
    this.method = request.getCaseSensitiveMethod();
    this.path = request.getUrl();
    this.query = request.getQuery() ?? "";
    this.isUnix = isUnix;
    if (isUnix) this.#remoteAddress = UNIX_PEER;
    else this.#response = response;
    request.forEach((name, value) => {
      this.headers.add(name, value);
    });
  }

  /** Asked for only when wanted: it is a system call, and was a seventh of the cost of a small post. */
  get remoteAddress(): string {
    if (this.#response !== undefined) this.#remoteAddress = remoteAddress(this.#response);
    this.#response = undefined;
    return this.#remoteAddress;
  }

  /** What is wrong with the head, or with what it announces: the parser takes trailers for the next request. */
  fault(limits: HttpLimits): HeadFault | undefined {
    const fault = this.headers.fault(limits);
    if (fault !== undefined || !this.headers.isChunked || this.headers.get("trailer") === undefined) return fault;
    return { status: 501, code: "not_implemented", message: NO_TRAILERS };
  }

  /** Lets go of the native response, which must not be asked any more. */
  detach(): void {
    this.#response = undefined;
  }

  header(name: string): string | undefined {
    return this.headers.get(name);
  }

  findHeader(test: (name: string) => boolean): string | undefined {
    return this.headers.find(test);
  }
}

function remoteAddress(response: UwsResponse): string {
  const bytes = new Uint8Array(response.getRemoteAddress());
  if (bytes.length === 4) return ipv4Text(bytes, 0);
  if (isMappedIpv4(bytes)) return ipv4Text(bytes, 12);
  if (bytes.length !== 16) return "";
  // uws writes all eight groups in full; URL has the short form that node:net gives.
  const text = Buffer.from(response.getRemoteAddressAsText()).toString("latin1");
  return new URL(`http://[${text}]`).hostname.slice(1, -1);
}

/** Dotted form of four bytes. */
function ipv4Text(bytes: Uint8Array, at: number): string {
  return `${bytes[at]}.${bytes[at + 1]}.${bytes[at + 2]}.${bytes[at + 3]}`;
}

function isMappedIpv4(bytes: Uint8Array): boolean {
  return bytes.length === 16 && bytes[10] === 0xff && bytes[11] === 0xff && bytes.subarray(0, 10).every((byte) => byte === 0);
}
