// Bodies of error answers: ours by default, RFC 9457 problem details where the client asks for them.

import { ERROR_STATUS, type ErrorCode, PreparedRefusal, type Refusal } from "./refusal.ts";

/** Media type of ordinary answers. */
export const JSON_TYPE = "application/json";
/** Media type of RFC 9457. */
const PROBLEM_TYPE = "application/problem+json";

/** Titles of RFC 9457, the phrases of RFC 9110. */
const STATUS_TITLES: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  408: "Request Timeout",
  409: "Conflict",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  417: "Expectation Failed",
  422: "Unprocessable Content",
  429: "Too Many Requests",
  431: "Request Header Fields Too Large",
  500: "Internal Server Error",
  501: "Not Implemented",
  503: "Service Unavailable",
};

/** A finished error answer. */
export interface ErrorAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/** Body of a refusal before the request's id is known: what the coordinator hands to the front, which completes it with `completeError`. */
export function refusalBody(refusal: Refusal): string {
  const { code, message, field, index } = refusal;
  return JSON.stringify({ status: "error", error: code, message, field, index });
}

/** Makes the answer to a request that is refused; `accept` is the request's Accept header. */
export function errorAnswer(refusal: Refusal, requestId: string, accept: string | undefined): ErrorAnswer {
  const status = ERROR_STATUS[refusal.code];
  if (acceptsProblem(accept)) return problemAnswer(status, refusal, requestId);
  if (refusal instanceof PreparedRefusal) return { status, contentType: JSON_TYPE, body: refusal.body(requestId) };
  return plainAnswer(status, refusal, requestId);
}

/** Completes an error body made by `refusalBody` with the request's id, in the form that the client asks for. */
export function completeError(body: string, requestId: string, accept: string | undefined): ErrorAnswer {
  const { error, message, field, index } = JSON.parse(body) as { error: ErrorCode; message: string; field?: string; index?: number };
  return errorAnswer(
    { code: error, message, ...(field === undefined ? {} : { field }), ...(index === undefined ? {} : { index }) },
    requestId,
    accept,
  );
}

function plainAnswer(status: number, refusal: Refusal, requestId: string): ErrorAnswer {
  const { code, message, field, index } = refusal;
  return {
    status,
    contentType: JSON_TYPE,
    body: JSON.stringify({ status: "error", error: code, message, request_id: requestId, field, index }),
  };
}

/** `type` is about:blank, so `title` is the status phrase (RFC 9457, 4.2.1); our code and the rest are extension members. */
function problemAnswer(status: number, refusal: Refusal, requestId: string): ErrorAnswer {
  const { code, message, field, index } = refusal;
  const title = STATUS_TITLES[status] ?? "Error";
  const problem = { type: "about:blank", title, status, detail: message, error: code, request_id: requestId, field, index };
  return { status, contentType: PROBLEM_TYPE, body: JSON.stringify(problem) };
}

/** Whether an Accept header names problem details, and does not rank them below plain JSON. Wildcards get the plain form. */
export function acceptsProblem(accept: string | undefined): boolean {
  if (accept === undefined || !accept.toLowerCase().includes(PROBLEM_TYPE)) return false;
  const problem = quality(accept, PROBLEM_TYPE);
  return problem > 0 && problem >= quality(accept, JSON_TYPE);
}

/** The q value of a media type that an Accept header names exactly (RFC 9110, 12.5.1), 0 when it does not. */
function quality(accept: string, mediaType: string): number {
  for (const range of accept.toLowerCase().split(",")) {
    const [type, ...parameters] = range.split(";").map((part) => part.trim());
    if (type !== mediaType) continue;
    const q = parameters.find((parameter) => parameter.startsWith("q="));
    const weight = q === undefined ? 1 : Number(q.slice(2));
    return Number.isFinite(weight) ? weight : 0;
  }
  return 0;
}
