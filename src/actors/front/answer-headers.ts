// Headers of answers that follow from their status.
import type { HttpHeaders } from "../../adapters/http/http-server.ts";
import type { ErrorAnswer } from "../../api/error-answer.ts";

export const NO_HEADERS: HttpHeaders = [];
export const JSON_HEADERS: HttpHeaders = [["Content-Type", "application/json"]];
/** Seconds a sender is asked to wait when the server is overloaded or cannot store. */
const RETRY_AFTER_SECONDS = "1";
/** Headers of the answers to most requests beyond a rate. */
const TOO_MANY_HEADERS: HttpHeaders = [...JSON_HEADERS, ["Retry-After", RETRY_AFTER_SECONDS]];

/** The same array wherever it is the same lines: the adapter looks at those of its last answer no more. */
export function refusalHeaders({ status, contentType }: ErrorAnswer, headers: HttpHeaders): HttpHeaders {
  if (status === 429 && contentType === "application/json" && headers.length === 0) return TOO_MANY_HEADERS;
  return [["Content-Type", contentType], ...retryHeaders(status), ...headers];
}

/** Asks to wait where the status says that another time may do. */
export function retryHeaders(status: number): HttpHeaders {
  return status === 503 || status === 429 ? [["Retry-After", RETRY_AFTER_SECONDS]] : NO_HEADERS;
}
