/** Header lines of a request, copied at once into one flat array: 10 to 20 lines are searched faster than a map is built. */
import type { HttpLimits } from "./http-limits.ts";
import type { RefusalCode } from "./http-server.ts";

/** Why a request is refused before its handler sees it. */
export interface HeadFault {
  readonly status: number;
  readonly code: RefusalCode;
  readonly message: string;
}

/** Lower-case names and values, alternating, in the order of arrival. */
export class RequestHeaders {
  readonly #lines: string[] = [];
  #bytes = 0;
  #contentLength: number | undefined;
  #hasEncoding = false;

  /** Adds one line; `name` is in lower case. */
  add(name: string, value: string): void {
    this.#lines.push(name, value);
    this.#bytes += name.length + value.length;
    if (name === "content-length") this.#contentLength = this.#contentLength === undefined ? numberOf(value) : Number.NaN;
    else if (name === "transfer-encoding") this.#hasEncoding = true;
  }

  /** Value by lower-case name, repeated lines joined by ", ". */
  get(name: string): string | undefined {
    const lines = this.#lines;
    let value: string | undefined;
    for (let i = 0; i < lines.length; i += 2) {
      const known = lines[i] as string;
      // Lengths first: a comparison of texts is a call, and a request is asked for a dozen names that it has not.
      if (known.length !== name.length || known !== name) continue;
      value = value === undefined ? lines[i + 1] : `${value}, ${lines[i + 1]}`;
    }
    return value;
  }

  /** The first name that `test` says yes to. */
  find(test: (name: string) => boolean): string | undefined {
    for (let i = 0; i < this.#lines.length; i += 2) if (test(this.#lines[i] as string)) return this.#lines[i];
    return undefined;
  }

  /** The declared length of the body; undefined for none. Anything but one whole number is a fault and never gets here. */
  get contentLength(): number | undefined {
    return this.#contentLength;
  }

  /** Whether a body follows the head. */
  get announceBody(): boolean {
    return this.#hasEncoding || (this.#contentLength ?? 0) > 0;
  }

  /** Whether the body comes in chunks. */
  get isChunked(): boolean {
    return this.#hasEncoding;
  }

  /**
   * What is wrong with the head. Framing is checked here although both parsers check it too: the pinned uws takes the first of two
   * Content-Length headers and any Transfer-Encoding that ends in chunked, which behind a proxy is request smuggling.
   */
  fault(limits: HttpLimits): HeadFault | undefined {
    if (this.#lines.length > limits.headerCountMax * 2 || this.#bytes > limits.headerBytesMax) {
      return { status: 431, code: "headers_too_large", message: "the request has too many or too long headers" };
    }
    if (Number.isNaN(this.#contentLength)) return { status: 400, code: "bad_request", message: "Content-Length is not one number" };
    if (!this.#hasEncoding) return undefined;
    if (this.#contentLength !== undefined) {
      return { status: 400, code: "bad_request", message: "Content-Length and Transfer-Encoding exclude each other" };
    }
    if (this.get("transfer-encoding")?.toLowerCase() === "chunked") return undefined;
    return { status: 501, code: "not_implemented", message: "the only Transfer-Encoding understood is chunked" };
  }
}

/** At most 15 digits; NaN for anything else. */
function numberOf(digits: string): number {
  let number = digits.length > 0 && digits.length <= 15 ? 0 : Number.NaN;
  for (let i = 0; i < digits.length; i++) {
    const digit = digits.charCodeAt(i) - 48;
    number = digit >= 0 && digit <= 9 ? 10 * number + digit : Number.NaN;
  }
  return number;
}
