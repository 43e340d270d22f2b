// A refusal that is given again and again, written once: a tenant far over its rate is answered thousands of times a second with the same words.
import type { ErrorCode, Refusal } from "./refusal.ts";

/** A refusal without field and index, whose ordinary body lacks nothing but the request's id. */
export class PreparedRefusal implements Refusal {
  readonly code: ErrorCode;
  readonly message: string;
  readonly #head: string;

  constructor(code: ErrorCode, message: string) {
    this.code = code;
    this.message = message;
    this.#head = `${JSON.stringify({ status: "error", error: code, message }).slice(0, -1)},"request_id":"`;
  }

  /** The body that error-answer.ts writes of such a refusal. `requestId` holds nothing that JSON escapes. */
  body(requestId: string): string {
    return `${this.#head}${requestId}"}`;
  }
}
