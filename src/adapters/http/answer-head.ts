/** Status lines and header checks of answers, the same for both adapters. */
import { STATUS_CODES } from "node:http";
import type { HttpHeaders } from "./http-server.ts";

const OWNED_BY_ADAPTER = new Set(["content-length", "transfer-encoding", "connection", "date", "keep-alive"]);
const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const VALUE = /^[\t\x20-\x7e]*$/;

/** The status line without the version, as in `404 Not Found`. */
export function statusLine(status: number): string {
  return `${status} ${STATUS_CODES[status] ?? "Unknown"}`;
}

/**
 * Throws on a header that would break the answer's framing: uws writes any bytes as they are, so a line break in a value would be a
 * second answer.
 */
function assertAnswerHead(status: number, headers: HttpHeaders): void {
  if (!Number.isInteger(status) || status < 200 || status > 599) throw new RangeError(`not a final HTTP status: ${status}`);
  for (const [name, value] of headers) {
    if (!NAME.test(name) || !VALUE.test(value)) throw new TypeError(`header with forbidden characters: ${JSON.stringify(name)}`);
    if (OWNED_BY_ADAPTER.has(name.toLowerCase())) throw new TypeError(`header belongs to the HTTP adapter: ${name}`);
  }
}

/** Makes whole heads of answers: checked, and with the lines that every answer has. Most answers have the lines of the one before. */
export class AnswerHeads {
  readonly #common: HttpHeaders;
  #status = 0;
  #given: HttpHeaders | undefined;
  #whole: HttpHeaders = [];

  constructor(common: HttpHeaders) {
    this.#common = common;
  }

  /** All lines of an answer's head that are not the adapter's. Throws on what would break its framing. */
  whole(status: number, headers: HttpHeaders): HttpHeaders {
    if (status === this.#status && headers === this.#given) return this.#whole;
    assertAnswerHead(status, headers);
    const own = new Set(headers.map(([name]) => name.toLowerCase()));
    this.#status = status;
    this.#given = headers;
    this.#whole = [...headers, ...this.#common.filter(([name]) => !own.has(name.toLowerCase()))];
    return this.#whole;
  }
}

/** Whether an answer carries neither body nor Content-Length by definition (RFC 9110, 8.6). */
export function isBodiless(status: number): boolean {
  return status === 204 || status === 304;
}
