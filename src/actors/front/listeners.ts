// The ports of the server: which are open, over what, and with which certificate. The main port and the socket must be had; of the others the log says where they are not.
import type { BodyShares } from "../../adapters/http/body-shares.ts";
import { GrpcServer } from "../../adapters/http/grpc/grpc-server.ts";
import { createHttpServer } from "../../adapters/http/http-engine.ts";
import type { HttpHandler, HttpHeaders, HttpRequest, HttpServer, HttpServerOptions, RefusalCode } from "../../adapters/http/http-server.ts";
import type { TlsIdentity } from "../../adapters/http/tls/tls-identity.ts";
import { TlsSource } from "../../adapters/http/tls/tls-source.ts";
import { errorAnswer } from "../../api/error-answer.ts";
import { otlpDialect, otlpError } from "../../api/otlp-answer.ts";
import { errorTypeOf, isPrometheusPath, prometheusErrorBody } from "../../api/prometheus/prometheus-envelope.ts";
import { ERROR_STATUS } from "../../api/refusal.ts";
import { matchRoute } from "../../api/route-match.ts";
import { ConfigError } from "../../core/config/config-error.ts";
import type { Config } from "../../core/config/load-config.ts";
import { background, fatal } from "../../core/faults/guard.ts";
import type { ListenerState, Listeners as ListenerStates } from "../../core/protocol/query.ts";
import { errorFields, type Log, type LogComponent } from "../../core/telemetry/log-event.ts";
import { HTTPS_PORT } from "../../domain/access/access-policy.ts";
import { JSON_HEADERS, retryHeaders } from "./answer-headers.ts";
import type { Front } from "./front.ts";
import type { RefusedBodies } from "./refused-bodies.ts";

/** Nothing that the server says is to be taken for another kind of file, or kept by a cache. */
const ALWAYS: HttpHeaders = [
  ["X-Content-Type-Options", "nosniff"],
  ["Cache-Control", "no-store"],
];
/** RFC 6797; a year. Without includeSubDomains: other hosts are not ours to speak for. */
const STRICT_TRANSPORT = ["Strict-Transport-Security", "max-age=31536000"] as const;

type Settings = Pick<
  Config,
  | "HOST"
  | "PORT"
  | "SOCKET"
  | "OTLP_PORT"
  | "OTLP_GRPC_PORT"
  | "ALERTS_PORT"
  | "ALERTS_HOST"
  | "ALERTS_TENANT"
  | "HTTP_ENGINE"
  | "TLS_CERT_FILE"
  | "TLS_KEY_FILE"
  | "TLS_CLIENT_CA_FILE"
  | "PUBLIC_URL"
>;

export interface ListenersDependencies {
  readonly front: () => Front;
  /** Memory of bodies on their way, over all ports. */
  readonly bodies: BodyShares;
  readonly refusedBodies: RefusedBodies;
  readonly nextRequestId: () => string;
  readonly log: (component: LogComponent) => Log;
  readonly wallMs: () => number;
  /** Told how each port beside the main one is, for the status. */
  readonly report: (listeners: Partial<ListenerStates>) => void;
  /** A port that was open is lost: the process cannot go on. */
  readonly lost: (error: Error) => void;
}

/** A port beside the main one. */
interface SidePort {
  readonly name: keyof ListenerStates;
  readonly setting: string;
  readonly host: string;
  readonly port: number;
  readonly handler: HttpHandler;
  readonly isGrpc?: boolean;
  /** Log line for a port that is not to be had. */
  readonly instead: string;
}

/** A port that cannot be had again is lost. */
const RENEWAL = fatal("the renewal of a certificate");

/** All listening sockets of the process. */
export class Listeners {
  readonly #settings: Settings;
  readonly #dependencies: ListenersDependencies;
  readonly #log: Log;
  readonly #tls: TlsSource;
  readonly #servers: HttpServer[] = [];
  /** Ids of requests on which a handler failed, for the answer that follows. */
  readonly #faultIds = new WeakMap<HttpRequest, string>();
  #port = 0;

  /** Throws ConfigError where the certificate cannot be used. */
  constructor(settings: Settings, dependencies: ListenersDependencies) {
    this.#settings = settings;
    this.#dependencies = dependencies;
    this.#log = dependencies.log("server");
    this.#tls = new TlsSource(settings, { wallMs: dependencies.wallMs, log: dependencies.log("http") });
  }

  /** The main port, 0 before it is open. */
  get port(): number {
    return this.#port;
  }

  get openConnections(): number {
    return this.#servers.reduce((sum, { openConnections }) => sum + openConnections, 0);
  }

  /** Wall time in seconds at which the certificate ends; null without TLS. */
  get certificateExpiry(): number | null {
    return this.#tls.expiresSeconds;
  }

  /** Where the main port is reached. */
  get address(): string {
    const { HOST } = this.#settings;
    return `${this.#tls.identity === undefined ? "http" : "https"}://${HOST.includes(":") ? `[${HOST}]` : HOST}:${this.#port}`;
  }

  /** Opens all ports. Rejects where the main one or the socket is not to be had. */
  async open(): Promise<void> {
    const { HOST, PORT } = this.#settings;
    const main = this.#makeHttp((exchange) => this.#dependencies.front().handle(exchange), this.#tls.identity);
    this.#servers.push(main);
    this.#port = (await main.listen(HOST, PORT)).port;
    for (const side of this.#sidePorts()) await this.#openSide(side);
    await this.#openSocket();
    this.#tls.follow((identity) => background(RENEWAL, this.#renew(identity)));
  }

  /** SIGHUP: the certificate is read again. */
  reload(): void {
    this.#tls.renew((identity) => background(RENEWAL, this.#renew(identity)));
  }

  /** Stops accepting and lets started exchanges finish, for at most so long. */
  async drain(timeoutMs: number): Promise<void> {
    this.#tls.close();
    await Promise.all(this.#servers.map((server) => server.drain(timeoutMs)));
  }

  #sidePorts(): readonly SidePort[] {
    const { HOST, OTLP_PORT, OTLP_GRPC_PORT, ALERTS_PORT, ALERTS_HOST, ALERTS_TENANT } = this.#settings;
    const { front } = this.#dependencies;
    return [
      {
        name: "otlp",
        setting: "OTLP_PORT",
        host: HOST,
        port: OTLP_PORT,
        handler: (exchange) => front().handleOtlp(exchange),
        instead: "OTLP is taken on the main port",
      },
      {
        name: "otlp_grpc",
        setting: "OTLP_GRPC_PORT",
        host: HOST,
        port: OTLP_GRPC_PORT,
        handler: (exchange) => front().handleOtlp(exchange),
        isGrpc: true,
        instead: "OTLP is taken over HTTP",
      },
      {
        name: "alerts",
        setting: "ALERTS_PORT",
        host: ALERTS_HOST,
        port: ALERTS_PORT,
        handler: (exchange) => front().handleAlerts(exchange, { boundHost: ALERTS_HOST, tenant: ALERTS_TENANT }),
        instead: "alerts are taken on the main port, with a credential",
      },
    ];
  }

  async #openSide({ name, setting, host, port, handler, isGrpc = false, instead }: SidePort): Promise<void> {
    let state: ListenerState["state"] = "closed";
    if (port !== 0) {
      const tls = this.#tls.identity;
      const server = isGrpc ? new GrpcServer(this.#serverOptions(tls), handler) : this.#makeHttp(handler, tls);
      state = await server.listen(host, port).then(
        () => "listening" as const,
        (error: Error) => {
          this.#log("warn", `${setting} is not served: ${error.message}; ${instead}`);
          return "unavailable" as const;
        },
      );
      if (state === "listening") this.#servers.push(server);
    }
    this.#dependencies.report({ [name]: { state, port } });
  }

  async #openSocket(): Promise<void> {
    const path = this.#settings.SOCKET;
    if (path === "") return;
    const server = this.#makeHttp((exchange) => this.#dependencies.front().handle(exchange), undefined);
    await server.listenUnix(path).catch((error: Error) => {
      throw new ConfigError(`SOCKET: ${error.message}`);
    });
    this.#servers.push(server);
  }

  async #renew(identity: TlsIdentity): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.renewTls(identity))).catch((error: Error) => this.#dependencies.lost(error));
  }

  #makeHttp(handler: HttpHandler, tls: TlsIdentity | undefined): HttpServer {
    const log = this.#dependencies.log("http");
    const kind = this.#settings.HTTP_ENGINE as "auto" | "uws" | "node";
    return createHttpServer(kind, this.#serverOptions(tls), handler, (line) => log("info", line));
  }

  #serverOptions(tls: TlsIdentity | undefined): HttpServerOptions {
    const { refusedBodies, nextRequestId, bodies } = this.#dependencies;
    const sources = {
      refusedBodies,
      requestId: (request: HttpRequest | undefined) => (request && this.#faultIds.get(request)) ?? nextRequestId(),
    };
    return {
      commonHeaders: commonHeaders({ isTls: tls !== undefined, port: this.#settings.PORT, publicUrl: this.#settings.PUBLIC_URL }),
      refusal: (_status: number, code: RefusalCode, message: string, request?: HttpRequest) =>
        refusalAnswer({ code, message, request }, sources),
      onHandlerFault: (error: unknown, request: HttpRequest) => this.#noteFault(error, request),
      bodies,
      tls,
    };
  }

  #noteFault(error: unknown, request: HttpRequest): void {
    const id = this.#dependencies.nextRequestId();
    this.#faultIds.set(request, id);
    this.#log("error", "a request failed", { request_id: id, method: request.method, path: request.path, ...errorFields(error) });
  }
}

// Headers of every answer.

/**
 * Browsers take Strict-Transport-Security for all ports of a host: said on port 8080 it would shut out plain servers beside this one. So it is said only where people reach
 * the server at https's own port.
 */
function commonHeaders(server: { readonly isTls: boolean; readonly port: number; readonly publicUrl: string }): HttpHeaders {
  const { isTls, port, publicUrl } = server;
  const isAtOwnPort = port === HTTPS_PORT || (URL.canParse(publicUrl) && isHttpsRoot(new URL(publicUrl)));
  return isTls && isAtOwnPort ? [...ALWAYS, STRICT_TRANSPORT] : ALWAYS;
}

function isHttpsRoot({ protocol, port }: URL): boolean {
  return protocol === "https:" && port === "";
}

// Answers that the HTTP adapter gives by itself: they look like all others.

interface RefusalSources {
  readonly refusedBodies: RefusedBodies;
  /** Id of the request as its log line names it, else a new one. */
  requestId(request: HttpRequest | undefined): string;
}

/** Answer to a request that was refused before it reached the front; `request` where its head was read. */
function refusalAnswer(
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
