// One request on its way to its answer: its id, its time, and the form of what it is answered with.
import { gzip } from "node:zlib";
import type { BodyReceiver, HttpExchange, HttpHeaders } from "../../adapters/http/http-server.ts";
import type { Clock } from "../../adapters/platform/clock.ts";
import type { Endpoint } from "../../api/endpoint.ts";
import { ENDPOINTS } from "../../api/endpoints.ts";
import { completeError, errorAnswer } from "../../api/error-answer.ts";
import { type OtlpAnswer, type OtlpDialect, otlpDialect, otlpError, otlpSuccess, type PartialSuccess } from "../../api/otlp-answer.ts";
import { errorTypeOf, isPrometheusPath, prometheusErrorBody } from "../../api/prometheus/prometheus-envelope.ts";
import { ERROR_STATUS, type ErrorCode, type Refusal } from "../../api/refusal.ts";
import type { Route } from "../../api/route-match.ts";
import { COMPRESSED_BYTES_MIN } from "../../core/config/interface-limits.ts";
import { answerFault, background, guarded, run } from "../../core/faults/guard.ts";
import type { WrittenCounts } from "../../core/protocol/engine-control.ts";
import type { Principal } from "../../core/protocol/query.ts";
import type { AdmissionHandler, AdmittedBody } from "./access/authorizer.ts";
import { ALERT_CHART, chartAnswer } from "./alert-charts.ts";
import { JSON_HEADERS, NO_HEADERS, refusalHeaders, retryHeaders } from "./answer-headers.ts";
import type { DocumentAnswer } from "./documents.ts";
import { acceptedCodings } from "./file-request.ts";
import type { OutcomeReceiver, SentBody } from "./ingestion.ts";
import { type RequestHistogram, UNMATCHED } from "./metrics-page.ts";
import type { RefusedBodies } from "./refused-bodies.ts";
import { isRemoteWrite2, writtenHeaders } from "./remote-write-headers.ts";

/** What a request uses of the front. */
export interface RequestDependencies {
  readonly clock: Clock;
  readonly requests: RequestHistogram;
  readonly refusedBodies: RefusedBodies;
  readonly nextRequestId: () => string;
  /** Takes a request on its way once it is known whom it acts as. */
  readonly admitted: (request: FrontRequest, route: Route, principal: Principal) => void;
}

const NO_CONTENT = 204;
/** Headers of answers that are compressed: fast, for half a millisecond more would save a tenth. */
const PACKED_HEADERS: HttpHeaders = [...JSON_HEADERS, ["Content-Encoding", "gzip"], ["Vary", "Accept-Encoding"]];
/** Endpoints whose path is one of OTLP. */
const OTLP_ENDPOINTS: ReadonlySet<Endpoint> = new Set(ENDPOINTS.filter(({ path }) => otlpDialect(path, undefined) !== undefined));
const GZIP_OPTIONS = { level: 4 };

/** One request on its way to its answer. */
export class FrontRequest implements OutcomeReceiver, SentBody, AdmissionHandler {
  readonly exchange: HttpExchange;
  readonly #dependencies: RequestDependencies;
  /** Undefined where no endpoint has its method and path. */
  readonly #route: Route | undefined;
  readonly #endpoint: Endpoint | undefined;
  #collect: AdmittedBody | undefined;
  readonly #startMs: number;
  #endMs: number | undefined;
  #id: string | undefined;
  #written: WrittenCounts | null = null;
  /** Dialect of a request to an OTLP path: how it is answered. */
  readonly #dialect: OtlpDialect | undefined;

  constructor(exchange: HttpExchange, dependencies: RequestDependencies, route: Route | undefined) {
    const { request } = exchange;
    this.exchange = exchange;
    this.#dialect =
      route === undefined || OTLP_ENDPOINTS.has(route.endpoint) ? otlpDialect(request.path, request.header("content-type")) : undefined;
    this.#dependencies = dependencies;
    this.#route = route;
    this.#endpoint = route?.endpoint;
    this.#startMs = dependencies.clock.monotonicMs();
  }

  /** Goes on as whom it acts as; its body is collected in this way. */
  admit(principal: Principal, collect: AdmittedBody): void {
    this.#collect = collect;
    this.#dependencies.admitted(this, this.#route as Route, principal);
  }

  collect(bytesMax: number, onBody: BodyReceiver): void {
    if (this.#collect === undefined) this.exchange.collectBody(bytesMax, onBody);
    else this.#collect(bytesMax, onBody);
  }

  /** Made when it is first asked for: most requests need none. */
  get id(): string {
    this.#id ??= this.#dependencies.nextRequestId();
    return this.#id;
  }

  /** It is decided what is answered: from here on the request waits for others, which is not the server's time. */
  stopClock(): void {
    this.#endMs = this.#dependencies.clock.monotonicMs();
  }

  respond(status: number, headers: HttpHeaders, body: string | Uint8Array): void {
    this.exchange.respond(status, this.#isRemoteWrite2 ? [...headers, ...writtenHeaders(this.#written ?? undefined)] : headers, body);
    const endMs = this.#endMs ?? this.#dependencies.clock.monotonicMs();
    this.#dependencies.requests.observe(this.#endpoint?.name ?? UNMATCHED, (endMs - this.#startMs) / 1000);
  }

  sendLater(answer: Promise<DocumentAnswer>): void {
    const goOn = this.exchange.hold();
    background(
      this.exchange.home,
      answer.then(({ status, headers, body }) => goOn(() => this.respond(status, headers, body))),
    );
  }

  get #isRemoteWrite2(): boolean {
    return this.#written !== null || (this.#endpoint?.name.startsWith("remoteWrite") === true && isRemoteWrite2(this.exchange.request));
  }

  /** Passes on an answer of an engine or of the coordinator; `written` is of remote-write 2.0. What it throws is this request's, and not that of the others in the same message. */
  answer(status: number, body: string | null, written: WrittenCounts | null = null): void {
    try {
      this.#answer(status, body, written);
    } catch (error) {
      answerFault(this.exchange.home, error);
    }
  }

  #answer(status: number, body: string | null, written: WrittenCounts | null): void {
    this.#written = written;
    if (this.#dialect !== undefined) this.#answerOtlp(this.#dialect, status, body);
    else if (status === 200 && body !== null && this.#endpoint?.name === ALERT_CHART) this.#respondPicture(body);
    else if (status < 400 && body !== null && this.#isWorthPacking(body)) this.#respondPacked(status, body);
    else if (status < 400) this.respond(status, body === null || status === NO_CONTENT ? NO_HEADERS : JSON_HEADERS, body ?? "");
    else {
      const known = JSON.parse(body as string) as { message: string; request_id?: string };
      if (isPrometheusPath(this.exchange.request.path)) return this.#refusePrometheus(status, known.message);
      const answer = completeError(body as string, known.request_id ?? this.id, this.exchange.request.header("accept"));
      this.respond(answer.status, [["Content-Type", answer.contentType], ...retryHeaders(answer.status)], answer.body);
    }
  }

  #respondPicture(body: string): void {
    background(
      this.exchange.home,
      chartAnswer(body).then(({ status, headers, body: file }) => this.respond(status, headers, file)),
    );
  }

  /** Sends a finished answer of a query worker. */
  answerBytes(status: number, body: string | Uint8Array): void {
    run(this.exchange.home, () => {
      if (status < 400 && this.#isWorthPacking(body)) this.#respondPacked(status, body);
      else this.respond(status, [...JSON_HEADERS, ...retryHeaders(status)], body);
    });
  }

  /** Long answers to queries, where the client takes gzip. */
  #isWorthPacking(body: string | Uint8Array): boolean {
    const handler = this.#endpoint?.handledBy;
    if ((handler !== "coordinator" && handler !== "query") || body.length < COMPRESSED_BYTES_MIN) return false;
    return acceptedCodings(this.exchange.request.header("accept-encoding")).has("gzip");
  }

  /** Compressed beside the main thread: 300 kB take 4 ms of another. */
  #respondPacked(status: number, body: string | Uint8Array): void {
    const packed = (error: Error | null, bytes: Uint8Array<ArrayBuffer>) => {
      if (error === null) this.respond(status, PACKED_HEADERS, new Uint8Array(bytes));
      else this.respond(status, JSON_HEADERS, body);
    };
    gzip(body, GZIP_OPTIONS, guarded(this.exchange.home, packed));
  }

  /** Answers with the result of an engine: nothing, a partial success, or a refusal as api/error-answer.ts writes it. */
  #answerOtlp(dialect: OtlpDialect, status: number, body: string | null): void {
    const known: unknown = body === null ? null : JSON.parse(body);
    if (status < 400) this.#respondOtlp(otlpSuccess(dialect, known as PartialSuccess | null));
    else {
      const { error: code, message } = known as { error: ErrorCode; message: string };
      this.#respondOtlp(otlpError(dialect, { code, message }));
    }
  }

  #respondOtlp({ status, contentType, body }: OtlpAnswer, headers: HttpHeaders = []): void {
    this.respond(status, [["Content-Type", contentType], ...retryHeaders(status), ...headers], body);
  }

  refuse(refusal: Refusal, headers: HttpHeaders = []): void {
    run(this.exchange.home, () => this.#refuse(refusal, headers));
  }

  #refuse(refusal: Refusal, headers: HttpHeaders): void {
    if (this.#endpoint?.handledBy === "engine") this.#dependencies.refusedBodies.count(refusal.code);
    if (this.#dialect !== undefined) {
      this.#respondOtlp(otlpError(this.#dialect, refusal), headers);
      return;
    }
    if (isPrometheusPath(this.exchange.request.path)) {
      this.#refusePrometheus(ERROR_STATUS[refusal.code], refusal.message, headers);
      return;
    }
    const answer = errorAnswer(refusal, this.id, this.exchange.request.header("accept"));
    this.respond(answer.status, refusalHeaders(answer, headers), answer.body);
  }

  #refusePrometheus(status: number, message: string, headers: HttpHeaders = []): void {
    const body = prometheusErrorBody(errorTypeOf(status), message);
    this.respond(status, [...JSON_HEADERS, ...retryHeaders(status), ...headers], body);
  }
}
