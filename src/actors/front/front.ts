// The front: routes a request, decides who asks, and passes it on: ingestion to an engine, queries to the coordinator, the rest it answers.
import { isUtf8 } from "node:buffer";
import type { HttpExchange, HttpHeaders, HttpRequest } from "../../adapters/http/http-server.ts";
import type { Clock } from "../../adapters/platform/clock.ts";
import type { Endpoint } from "../../api/endpoint.ts";
import { ANY_QUERY } from "../../api/endpoints/query-shapes.ts";
import type { EndpointName, FrontEndpoint } from "../../api/endpoints.ts";
import { otlpDialect, refuseGrpc, TELEMETRY_TYPES_BODY } from "../../api/otlp-answer.ts";
import { parseQuery, splitQuery } from "../../api/query-parsing.ts";
import { done, type Outcome, type Refusal, shown } from "../../api/refusal.ts";
import { matchRoute, type Route } from "../../api/route-match.ts";
import { OBJECT_BODY_BYTES_MAX } from "../../core/config/body-limits.ts";
import { background } from "../../core/faults/guard.ts";
import type { Principal } from "../../core/protocol/query.ts";
import { METRICS_CONTENT_TYPE } from "../../core/telemetry/metric.ts";
import { type AlertsPort, DEFAULT_TENANT, isAnonymous } from "../../domain/access/access-policy.ts";
import { presentedCredential } from "../../domain/access/presented-credential.ts";
import { reaches } from "../../domain/access/roles.ts";
import { isAskedByForeignPage } from "./access/authenticator.ts";
import type { Asked, Authorizer } from "./access/authorizer.ts";
import type { SignIn } from "./access/sign-in.ts";
import type { AlertCharts } from "./alert-charts.ts";
import { JSON_HEADERS, NO_HEADERS } from "./answer-headers.ts";
import { hasNoBody, mediaTypeOf, refuseBodyHeaders } from "./body-headers.ts";
import { type DocumentAnswer, Documents } from "./documents.ts";
import type { EventStreams, StreamWish } from "./event-streams.ts";
import { fileRequest } from "./file-request.ts";
import { FrontRequest, type RequestDependencies } from "./front-request.ts";
import type { Ingestion } from "./ingestion.ts";
import type { RequestHistogram } from "./metrics-page.ts";
import { type PrometheusFront, PrometheusRequests } from "./prometheus-requests.ts";
import type { QueryLink } from "./query-link.ts";
import type { RefusedBodies } from "./refused-bodies.ts";
import { AlertRateLimiter } from "./tenants/alert-rate-limiter.ts";
import type { RefusalQueue } from "./tenants/refusal-queue.ts";
import type { TenantAdmission } from "./tenants/tenant-admission.ts";
import type { WebFiles } from "./web-files.ts";

const TEXT = `Vedette, anomaly detection and incident analysis. Open this address in a browser for the user interface.

/docs                       the API, for people
/openapi.json               the API, for machines
/healthz  /readyz           the process
/metrics                    self-telemetry for Prometheus
/api/v1/status              what runs and what does not
/api/v1/anomalies           what was found, newest first
/api/v1/alerts              what people are notified of
/api/v1/stream              both as server-sent events, as they come

Send a value:  curl -H 'Content-Type: application/json' -d '{"service_id":"checkout","metric_name":"queue.depth","value":17,"timestamp":"2026-01-31T12:00:00Z"}' <this address>/api/v1/telemetry
`;
const HEADERS: HttpHeaders = [
  ["Content-Type", "text/plain; charset=utf-8"],
  ["Vary", "Accept"],
];
/** The page of links. */
const LINKS = { headers: HEADERS, body: TEXT } as const;

/** State shown by /healthz. */
export interface Health {
  readonly status: "ok" | "degraded";
  readonly store: "ok" | "read_only";
  readonly log: "ok" | "read_only";
  readonly queue: "ok" | "full";
  readonly data: "ok" | "unchecked" | "damaged";
}

export interface FrontOptions {
  readonly version: string;
  readonly startedMs: number;
  /** The page of metrics needs a credential. */
  readonly guardsMetrics: boolean;
}

/** Parts that requests go through. */
export interface FrontParts {
  readonly ingestion: Ingestion;
  readonly queries: QueryLink;
  readonly streams: EventStreams;
  readonly tenants: TenantAdmission;
  /** Requests beyond a rate. */
  readonly refusals: RefusalQueue;
  readonly requests: RequestHistogram;
  readonly refusedBodies: RefusedBodies;
}

export interface FrontDependencies extends FrontParts {
  readonly clock: Clock;
  readonly authorizer: Authorizer;
  /** Addresses of pictures that are read without a session. */
  readonly charts: AlertCharts;
  /** Null where no link was printed. */
  readonly signIn: SignIn | null;
  /** Headers that give a browser a session for at most so long, or take it with 0. */
  readonly sessionHeaders: (credential: string, lifetimeMs?: number) => HttpHeaders;
  readonly web: WebFiles;
  readonly promql: PrometheusFront;
  /** The page of metrics. */
  readonly metrics: () => Promise<string>;
  readonly health: () => Health;
  /** Whether the store refuses writes now. */
  readonly isReadOnly: () => boolean;
  /** Why telemetry is not taken though the server runs, or null while it is. */
  readonly refusesWrites: () => string | null;
  /** Why requests cannot be served yet, or null once they can. */
  readonly notReady: () => string | null;
  readonly nextRequestId: () => string;
}

const JSON_ALONE = ["application/json"] as const;
const METRICS_HEADERS: HttpHeaders = [["Content-Type", METRICS_CONTENT_TYPE]];
const ALERT_WEBHOOK = "alertWebhook";
const METRICS = "metrics";
const GUARDED_METRICS: Asked = { access: "viewer" };
/** Whoever calls what is public. */
const VISITOR: Principal = { tenant: DEFAULT_TENANT, subject: "visitor", role: "viewer" };

/** Serves every request of one server. */
export class Front {
  readonly #options: FrontOptions;
  readonly #dependencies: FrontDependencies;
  readonly #ofRequest: RequestDependencies;
  readonly #documents: Documents;
  readonly #prometheus: PrometheusRequests;
  readonly #alerts = new AlertRateLimiter();

  /** What the front answers by itself. */
  readonly #answers: {
    readonly [N in FrontEndpoint]: (request: FrontRequest, principal: Principal, path: Readonly<Record<string, string>>) => void;
  } = {
    healthz: (request) => request.respond(200, JSON_HEADERS, JSON.stringify(this.#health())),
    readyz: (request) => this.#ready(request),
    telemetryTypes: (request) => request.respond(200, JSON_HEADERS, TELEMETRY_TYPES_BODY),
    metrics: (request, principal) => this.#sendMetrics(request, principal),
    openapi: (request) => request.sendLater(this.#documents.openApi(fileRequest(request.exchange.request))),
    docs: (request) => request.sendLater(this.#documents.page(fileRequest(request.exchange.request))),
    stream: (request, principal) => this.#stream(request, principal),
    signIn: (request) => this.#signIn(request),
    startSession: (request) => this.#startSession(request),
    endSession: (request) => this.#endSession(request),
    web: (request) => this.#web(request),
    webFile: (request, _principal, { file = "" }) => this.#webFile(request, file),
  };

  constructor(options: FrontOptions, dependencies: FrontDependencies) {
    this.#options = options;
    this.#documents = new Documents(options.version);
    this.#prometheus = new PrometheusRequests(options, dependencies);
    this.#dependencies = dependencies;
    const { clock, requests, refusedBodies, nextRequestId } = dependencies;
    const admitted: RequestDependencies["admitted"] = (request, route, principal) => this.#dispatch(request, route, principal);
    this.#ofRequest = { clock, requests, refusedBodies, nextRequestId, admitted };
  }

  /** The handler of the HTTP port. */
  handle(exchange: HttpExchange): void {
    const { method, path } = exchange.request;
    const route = matchRoute(method, path);
    const request = new FrontRequest(exchange, this.#ofRequest, route.found ? route : undefined);
    if (!route.found) {
      const allow: HttpHeaders = route.allow === undefined ? [] : [["Allow", route.allow]];
      return request.refuse(refuseGrpc(exchange.request) ?? route.refusal, allow);
    }
    const { endpoint, path: parameters } = route;
    const isGuarded = endpoint.name === METRICS && this.#options.guardsMetrics;
    const signed = this.#dependencies.charts.signed(endpoint.name, parameters, exchange.request.query);
    if (signed?.ok === false) return request.refuse(signed.refusal);
    if (signed !== undefined || (endpoint.access === "public" && !isGuarded)) {
      this.#dispatch(request, route, signed?.principal ?? VISITOR);
      return;
    }
    this.#dependencies.authorizer.authorize(endpoint.access === "public" ? GUARDED_METRICS : (endpoint as Asked), exchange, request);
  }

  /** The handler of the OTLP port: nothing else is served there. */
  handleOtlp(exchange: HttpExchange): void {
    const { path } = exchange.request;
    if (otlpDialect(path, undefined) !== undefined) return this.handle(exchange);
    const message = `this port takes OTLP over HTTP only: POST /v1/metrics, /v1/traces and /v1/logs, not ${shown(path)}`;
    new FrontRequest(exchange, this.#ofRequest, undefined).refuse(refuseGrpc(exchange.request) ?? { code: "not_found", message });
  }

  /** The handler of the port of alerts: their webhook alone, as an operator of one tenant. */
  handleAlerts(exchange: HttpExchange, port: AlertsPort): void {
    const { method, path } = exchange.request;
    const route = matchRoute(method, path);
    const request = new FrontRequest(exchange, this.#ofRequest, route.found ? route : undefined);
    if (!route.found || route.endpoint.name !== ALERT_WEBHOOK) {
      const message = `this port takes alerts of an Alertmanager only: POST /api/v1/alerts/webhook, not ${method} ${shown(path)}`;
      request.refuse({ code: "not_found", message });
      return;
    }
    const refusal = this.#alerts.refuseAddress(exchange.request.remoteAddress, this.#dependencies.clock.monotonicMs());
    if (refusal !== undefined) return request.refuse(refusal);
    this.#dependencies.authorizer.authorizeAlert(port, exchange, request);
  }

  #dispatch(request: FrontRequest, { endpoint, path }: Route, principal: Principal): void {
    request.exchange.tenant = principal.tenant;
    const refusal = this.#refuseFirst(request, endpoint, principal);
    if (refusal !== undefined) {
      request.refuse(refusal);
      return;
    }
    const waiting = endpoint.handledBy === "front" ? null : this.#dependencies.notReady();
    const limited = waiting === null ? this.#dependencies.tenants.admit(principal, endpoint.handledBy === "engine") : undefined;
    if (limited !== undefined) {
      request.stopClock();
      this.#dependencies.refusals.put(request, limited);
    } else if (waiting !== null) request.refuse({ code: "overloaded", message: `the server is not ready: ${waiting}; try again shortly` });
    else if (endpoint.handledBy === "engine" && this.#dependencies.isReadOnly()) {
      request.refuse({
        code: "store_unavailable",
        message: "the store cannot be written now; nothing of this request was stored, send it again later",
      });
    } else if (endpoint.handledBy === "engine") this.#ingest(request, endpoint, principal);
    else if (endpoint.handledBy === "coordinator") this.#query(request, endpoint, principal, path);
    else if (endpoint.envelope === "prometheus") this.#prometheus.take(request, endpoint, principal, path);
    else this.#answers[endpoint.name as FrontEndpoint](request, principal, path);
  }

  /** What is refused whatever the body holds. */
  #refuseFirst({ exchange }: FrontRequest, endpoint: Endpoint, { tenant }: Principal): Refusal | undefined {
    if (endpoint.name === ALERT_WEBHOOK) return this.#alerts.refuseTenant(tenant, this.#dependencies.clock.monotonicMs());
    if (endpoint.handledBy === "coordinator" || endpoint.envelope === "prometheus") return undefined;
    return refuseQuery(endpoint, exchange.request.query);
  }

  #ingest(request: FrontRequest, endpoint: Endpoint, principal: Principal): void {
    const { tenant } = principal;
    const number = this.#dependencies.tenants.number(tenant);
    const sender = number !== undefined && { tenant: number, isAnonymous: isAnonymous(principal), subject: principal.subject };
    if (sender) this.#dependencies.ingestion.take(endpoint.name, sender, request, request);
    else request.refuse({ code: "forbidden", message: `there is no tenant ${shown(tenant)} here; POST /api/v1/tenants adds it` });
  }

  #query(request: FrontRequest, endpoint: Endpoint, principal: Principal, path: Readonly<Record<string, string>>): void {
    if (endpoint.envelope === "prometheus") {
      // Parameters may come more than once there, and are read where they are used.
      const { query: parameters } = request.exchange.request;
      this.#call(request, { endpoint: endpoint.name, principal, path: { parameters }, query: {}, body: null, requestId: request.id });
      return;
    }
    const split = splitQuery(request.exchange.request.query);
    if (!split.ok) {
      request.refuse(split.refusal);
      return;
    }
    const call = { endpoint: endpoint.name, principal, path, query: { ...split.value }, body: null, requestId: request.id };
    const { exchange } = request;
    const isChange = exchange.request.method !== "GET" && exchange.request.method !== "HEAD";
    const ifMatch = exchange.request.header("if-match");
    const known = { address: exchange.request.remoteAddress, ...(ifMatch !== undefined && { ifMatch }) };
    const from = isChange ? { ...call, ...known } : call;
    if (endpoint.body === undefined) {
      this.#call(request, from);
      return;
    }
    if (endpoint.bodyOptional === true && hasNoBody(exchange.request)) {
      this.#call(request, { ...from, body: "" });
      return;
    }
    const mediaType = mediaTypeOf(exchange.request);
    const refusal = refuseBodyHeaders(exchange.request, mediaType, endpoint.bodyTypes ?? JSON_ALONE);
    if (refusal !== undefined) request.refuse(refusal);
    else
      request.collect(endpoint.bodyBytesMax ?? OBJECT_BODY_BYTES_MAX, (bytes) =>
        this.#callWith(request, { ...from, mediaType }, Buffer.from(bytes)),
      );
  }

  #callWith(request: FrontRequest, call: Parameters<QueryLink["call"]>[0], bytes: Buffer): void {
    if (isUtf8(bytes)) this.#call(request, { ...call, body: bytes.toString("utf8") });
    else request.refuse({ code: "invalid_json", message: "the body is not valid UTF-8; JSON and YAML must be sent as UTF-8" });
  }

  #call(request: FrontRequest, call: Parameters<QueryLink["call"]>[0]): void {
    const sent = this.#dependencies.queries.call(call, (status, body) => request.answer(status, body));
    if (!sent) request.refuse({ code: "overloaded", message: "too many queries wait already; try again shortly" });
  }

  /** The user interface for whoever can show it; curl and scripts get links. */
  #web(request: FrontRequest): void {
    const { request: head } = request.exchange;
    const wantsPage = head.header("accept")?.includes("text/html") ?? false;
    const page = wantsPage ? this.#dependencies.web.page(fileRequest(head)) : undefined;
    if (page === undefined) request.respond(200, LINKS.headers, LINKS.body);
    else request.respond(page.status, page.headers, page.body);
  }

  #webFile(request: FrontRequest, name: string): void {
    const file = this.#dependencies.web.file(name, fileRequest(request.exchange.request));
    if (file === undefined)
      request.refuse({ code: "not_found", message: `the user interface has no file ${shown(name)}; load the page again` });
    else request.respond(file.status, file.headers, file.body);
  }

  /** They are of the whole server, with numbers of all tenants: where they are guarded, for its own people. */
  #sendMetrics(request: FrontRequest, principal: Principal): void {
    if (principal.tenant === DEFAULT_TENANT || reaches(principal.role, "super_admin")) request.sendLater(this.#metrics());
    else request.refuse({ code: "forbidden", message: `metrics of the server need a credential of the tenant ${DEFAULT_TENANT}` });
  }

  async #metrics(): Promise<DocumentAnswer> {
    return { status: 200, headers: METRICS_HEADERS, body: await this.#dependencies.metrics() };
  }

  #health() {
    const { clock, health } = this.#dependencies;
    const uptime = Math.floor((clock.wallMs() - this.#options.startedMs) / 1000);
    const { status, ...parts } = health();
    return { status, version: this.#options.version, uptime_seconds: uptime, ...parts };
  }

  #ready(request: FrontRequest): void {
    const waiting = this.#dependencies.notReady();
    const refusing = waiting === null ? this.#dependencies.refusesWrites() : null;
    const isReady = waiting === null && refusing === null;
    const body = isReady
      ? { status: "ready" }
      : { status: waiting === null ? "refusing_writes" : "starting", message: waiting ?? refusing };
    request.respond(isReady ? 200 : 503, JSON_HEADERS, JSON.stringify(body));
  }

  #signIn(request: FrontRequest): void {
    const { clock, signIn } = this.#dependencies;
    const { method, query } = request.exchange.request;
    if (method === "HEAD") request.respond(200, NO_HEADERS, "");
    else if (signIn?.take(new URLSearchParams(query).get("token") ?? "", clock.wallMs()) !== true) {
      const message =
        "the sign-in link was used before, is too old, or is another; restart the server for a new one, or run: vedette token";
      request.refuse({ code: "unauthorized", message });
    } else {
      const goOn = request.exchange.hold();
      const wantsPage = request.exchange.request.header("accept")?.includes("text/html") ?? false;
      const session = signIn.session(wantsPage, clock.wallMs());
      background(
        request.exchange.home,
        session.then(({ headers, body }) => goOn(() => request.respond(200, headers, body))),
      );
    }
  }

  /** The credential was found good: it becomes a cookie. */
  #startSession(request: FrontRequest): void {
    const { authorizer, clock, sessionHeaders } = this.#dependencies;
    const { request: head } = request.exchange;
    const presented = presentedCredential({
      authorization: head.header("authorization"),
      apiKey: head.header("x-api-key"),
      session: undefined,
    });
    if (presented.kind !== "token") {
      request.refuse({ code: "bad_request", message: "send the token or API key that the session is to have in Authorization: Bearer" });
      return;
    }
    const nowMs = clock.wallMs();
    request.respond(204, sessionHeaders(presented.text, authorizer.endMs(head, nowMs) - nowMs), "");
  }

  /** A page of another site, or of another port of this host, must not end it. */
  #endSession(request: FrontRequest): void {
    if (isAskedByForeignPage(request.exchange.request)) request.refuse({ code: "forbidden", message: "sign out on a page of this server" });
    else request.respond(204, this.#dependencies.sessionHeaders("", 0), "");
  }

  #stream(request: FrontRequest, principal: Principal): void {
    const { streams, authorizer, clock } = this.#dependencies;
    const { request: head } = request.exchange;
    const wish = streamWish(head);
    if (!wish.ok) return request.refuse(wish.refusal);
    if (!streams.admits(principal.tenant)) {
      request.refuse({
        code: "overloaded",
        message: `${streams.count} event streams are open already; close one of yours, or try again later`,
      });
      return;
    }
    const headers: HttpHeaders = [
      ["Content-Type", "text/event-stream"],
      ["Cache-Control", "no-store"],
      ["X-Accel-Buffering", "no"],
    ];
    if (request.exchange.request.method === "HEAD") request.respond(200, headers, "");
    else {
      const stream = request.exchange.openStream(200, headers);
      if (stream === undefined) return;
      const credential = { isGood: () => authorizer.isStillGood(head), endMs: authorizer.endMs(head, clock.wallMs()) };
      streams.add(principal.tenant, stream, credential, wish.value);
    }
  }
}

// What a request for the event stream asks for.

/** A browser that connects again by itself says in a header what it had last; a page that opens another stream says it in the query. */
function streamWish(head: HttpRequest): Outcome<StreamWish> {
  const split = splitQuery(head.query);
  const parsed = split.ok ? parseQuery("stream", split.value) : split;
  if (!parsed.ok) return parsed;
  const { types, last_event_id } = parsed.value;
  return done({ names: types, lastEventId: head.header("last-event-id") ?? last_event_id });
}

// The parameters of what the front and the engines answer; the coordinator parses those of its own.

/** Why a query of an endpoint that takes no parameters, or any, is refused; undefined where it is not. */
function refuseQuery({ name, query: schema }: Endpoint, query: string): Refusal | undefined {
  if (query === "" || schema === ANY_QUERY) return undefined;
  const split = splitQuery(query);
  if (!split.ok) return split.refusal;
  const parsed = parseQuery(name as EndpointName, split.value);
  return parsed.ok ? undefined : parsed.refusal;
}
