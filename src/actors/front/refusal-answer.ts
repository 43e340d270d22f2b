// Answers that the HTTP adapter gives by itself: they look like all others.
import type { HttpHeaders, HttpRequest, RefusalCode } from "../../adapters/http/http-server.ts";
import { errorAnswer } from "../../api/error-answer.ts";
import { otlpDialect, otlpError } from "../../api/otlp-answer.ts";
import { errorTypeOf, isPrometheusPath, prometheusErrorBody } from "../../api/prometheus/prometheus-envelope.ts";
import { ERROR_STATUS } from "../../api/refusal.ts";
import { matchRoute } from "../../api/route-match.ts";
import { JSON_HEADERS, retryHeaders } from "./answer-headers.ts";
import type { RefusedBodies } from "./refused-bodies.ts";

export interface RefusalSources {
  readonly refusedBodies: RefusedBodies;
  /** Id of the request as its log line names it, else a new one. */
  requestId(request: HttpRequest | undefined): string;
}

/** Answer to a request that was refused before it reached the front; `request` where its head was read. */
export function refusalAnswer(
  refused: { readonly code: RefusalCode; readonly message: string; readonly request: HttpRequest | undefined },
  { refusedBodies, requestId }: RefusalSources,
): { readonly headers: HttpHeaders; readonly body: string | Uint8Array } {
  const { code, message, request } = refused;
  const refusal = { code: code === "body_too_large" ? "payload_too_large" : code, message } as const;
  const route = request === undefined ? undefined : matchRoute(request.method, request.path);
  if (route?.found === true && route.endpoint.handledBy === "engine") refusedBodies.count(refusal.code);
  if (request !== undefined && isPrometheusPath(request.path)) {
    const status = ERROR_STATUS[refusal.code];
    return { headers: [...JSON_HEADERS, ...retryHeaders(status)], body: prometheusErrorBody(errorTypeOf(status), message) };
  }
  const dialect = request === undefined ? undefined : otlpDialect(request.path, request.header("content-type"));
  const answer = dialect === undefined ? errorAnswer(refusal, requestId(request), undefined) : otlpError(dialect, refusal);
  const headers: Array<readonly [string, string]> = [["Content-Type", answer.contentType]];
  if (answer.status === 503) headers.push(["Retry-After", "1"]);
  return { headers, body: answer.body };
}
