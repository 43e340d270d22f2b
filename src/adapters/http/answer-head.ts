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

/** A head as it is written: its lines, and those of them as one header whose value has the others in it, for whom each line is a call out of JavaScript. */
export interface AnswerHead {
  readonly lines: HttpHeaders;
  /** Name of the first line; empty where there is none. */
  readonly firstName: string;
  /** Value of the first line, and behind it the other lines without the last line end. */
  readonly rest: string;
}

/** Makes whole heads of answers: checked, and with the lines that every answer has. Most answers have the lines of the one before. */
export class AnswerHeads {
  readonly #common: HttpHeaders;
  #status = 0;
  #headers: HttpHeaders | undefined;
  #whole: AnswerHead = headOf([]);

  constructor(common: HttpHeaders) {
    this.#common = common;
  }

  /** All lines of an answer's head that are not the adapter's. Throws on what would break its framing. */
  whole(status: number, headers: HttpHeaders): AnswerHead {
    if (status === this.#status && headers === this.#headers) return this.#whole;
    assertAnswerHead(status, headers);
    const own = new Set(headers.map(([name]) => name.toLowerCase()));
    this.#status = status;
    this.#headers = headers;
    this.#whole = headOf([...headers, ...this.#common.filter(([name]) => !own.has(name.toLowerCase()))]);
    return this.#whole;
  }
}

function headOf(lines: HttpHeaders): AnswerHead {
  const [firstName, firstValue] = lines[0] ?? ["", ""];
  const others = lines.slice(1).map(([name, value]) => `${name}: ${value}`);
  return { lines, firstName, rest: [firstValue, ...others].join("\r\n") };
}

/** Whether an answer carries neither body nor Content-Length by definition (RFC 9110, 8.6). */
export function isBodiless(status: number): boolean {
  return status === 204 || status === 304;
}
