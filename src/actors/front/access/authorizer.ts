// The way of a request from its credential to whom it acts as: who it is, whose tenant it means, and whether that may do what is asked.
import type { BodyReceiver, HttpExchange, HttpHeaders, HttpRequest } from "../../../adapters/http/http-server.ts";
import type { Refusal } from "../../../api/refusal.ts";
import { background } from "../../../core/faults/guard.ts";
import type { Principal } from "../../../core/protocol/query.ts";
import {
  type Access,
  type AccessPolicyOptions,
  type ActingOutcome,
  type AlertsPort,
  actAsAlertmanager,
  actForTenant,
  actWithoutCredential,
  type Caller,
  lostTrust,
  refuseAccess,
} from "../../../domain/access/access-policy.ts";
import { beginsAsNginx, isForwardingHeader } from "../../../domain/access/forwarding.ts";
import { credentialInQuery } from "../../../domain/access/presented-credential.ts";
import type { Authenticator, SettledIdentity } from "./authenticator.ts";

const NO_HEADERS: HttpHeaders = [];
const NO_CERTIFICATE =
  "senders show a client certificate here (TLS_CLIENT_CA_FILE): this connection has shown none, or one that another authority signed or that has ended";

export interface AuthorizerDependencies {
  /** Settings of access, and the address where the server listens: the port is known once it does. */
  readonly policy: () => AccessPolicyOptions;
  readonly authenticator: Authenticator;
  readonly tenantExists: (tenant: string) => boolean;
  readonly sessionCookie: () => string;
  /** Told once why a request of this machine was not taken for a local one. */
  readonly onLostTrust: (reason: string) => void;
  /** Whoever writes must have shown a certificate. */
  readonly needsClientCertificate: boolean;
}

/** Callbacks of a request that is being authorized: exactly one of the two is called, once, unless the client leaves. */
export interface AdmissionHandler {
  /** `collect` is how this request's body is to be collected. */
  admit(principal: Principal, collect: AdmittedBody): void;
  refuse(refusal: Refusal, headers: HttpHeaders): void;
}

/** Collects a body as `collectBody` does, for whoever was admitted: where credentials have changed while it came, its own is asked again, and nothing is taken with one that counts no more. */
export type AdmittedBody = (bytesMax: number, onBody: BodyReceiver) => void;

/** What an endpoint asks of whoever calls it. */
export interface Asked {
  readonly access: Access;
  /** Machines send there, and not only telemetry: they must have shown a certificate where senders have one. */
  readonly isOfSender?: boolean;
}

/** Rules of what a request must be, made once for all requests of their kind. */
interface AuthorizationRules extends Asked {
  /** The port for alerts, at which one without a credential acts as its tenant has it. */
  readonly alertsPort?: AlertsPort;
}

/** What comes of a credential: whom its request acts as, or why it is refused. */
type Judgement =
  | { readonly ok: true; readonly principal: Principal }
  | { readonly ok: false; readonly refusal: Refusal; readonly headers: HttpHeaders };

type BodyAdmissionHandler = Pick<AdmissionHandler, "refuse"> & { readonly onBody: BodyReceiver };

/** Admits requests. */
export class Authorizer {
  readonly #dependencies: AuthorizerDependencies;
  #isTrustReported = false;

  constructor(dependencies: AuthorizerDependencies) {
    this.#dependencies = dependencies;
  }

  /** Decides on a request; at once unless its token is new here, and then its exchange is held. */
  authorize(asked: Asked, exchange: HttpExchange, handler: AdmissionHandler): void {
    this.#authorize(asked, exchange, handler);
  }

  /** Decides on an alert at ALERTS_PORT: as on the main port where it shows a credential, else by where it comes from. */
  authorizeAlert(alertsPort: AlertsPort, exchange: HttpExchange, handler: AdmissionHandler): void {
    this.#authorize({ access: "operator", isOfSender: true, alertsPort }, exchange, handler);
  }

  #authorize(rules: AuthorizationRules, exchange: HttpExchange, handler: AdmissionHandler): void {
    const inUrl = credentialInQuery(exchange.request.query);
    if (inUrl !== undefined) {
      handler.refuse(
        { code: "bad_request", message: `${inUrl} stands in the URL, where logs and histories keep it: ${SEND_HEADER}` },
        NO_HEADERS,
      );
      return;
    }
    const refusal = rules.isOfSender === true || rules.access === "ingest" ? this.#refuseSender(exchange.request) : undefined;
    if (refusal !== undefined) {
      handler.refuse(refusal, NO_HEADERS);
      return;
    }
    const identity = this.#dependencies.authenticator.identify(exchange.request);
    if (identity.kind !== "pending") {
      this.#decide(rules, exchange, identity, handler);
      return;
    }
    const goOn = exchange.hold();
    const decided = this.#dependencies.authenticator
      .settle(identity)
      .then((settled) => goOn(() => this.#decide(rules, exchange, settled, handler)));
    background(exchange.home, decided);
  }

  /** Why this connection may not write, whatever its credential is: senders must have shown a certificate. */
  #refuseSender(request: HttpRequest): Refusal | undefined {
    if (!this.#dependencies.needsClientCertificate || request.hasClientCertificate || request.isUnix) return undefined;
    return { code: "unauthorized", message: NO_CERTIFICATE };
  }

  /** Whether the credential of a request that was admitted counts still, as far as can be said at once. */
  isStillGood(request: HttpRequest): boolean {
    const { kind } = this.#dependencies.authenticator.identify(request);
    return kind === "known" || kind === "anonymous";
  }

  /**
   * Wall time at which what a request has opened must end: its token's `exp`. One that came after it, but within what clocks may differ by, opens until the
   * end of that.
   */
  endMs(request: HttpRequest, nowMs: number): number {
    const identity = this.#dependencies.authenticator.identify(request);
    if (identity.kind !== "known") return Number.POSITIVE_INFINITY;
    return identity.expiresMs > nowMs ? identity.expiresMs : identity.validUntilMs;
  }

  /** To be called in the turn in which its identity was found. */
  #decide(rules: AuthorizationRules, exchange: HttpExchange, identity: SettledIdentity, handler: AdmissionHandler): void {
    const judged = this.#judge(rules, exchange.request, identity);
    if (!judged.ok) return handler.refuse(judged.refusal, judged.headers);
    const { authenticator } = this.#dependencies;
    const { changes } = authenticator;
    handler.admit(judged.principal, (bytesMax, onBody) => {
      exchange.collectBody(bytesMax, (body) => {
        if (authenticator.changes === changes) onBody(body);
        else this.#askAgain(rules, exchange, body, { onBody, refuse: handler.refuse });
      });
    });
  }

  /** Credentials have changed while the body came. A token that is new again is verified first, and the body waits in a copy: it is lent for this call alone. */
  #askAgain(rules: AuthorizationRules, exchange: HttpExchange, body: Buffer, { onBody, refuse }: BodyAdmissionHandler): void {
    const { authenticator } = this.#dependencies;
    const go = (identity: SettledIdentity, bytes: Buffer) => {
      const judged = this.#judge(rules, exchange.request, identity);
      if (judged.ok) onBody(bytes);
      else refuse(judged.refusal, judged.headers);
    };
    const identity = authenticator.identify(exchange.request);
    if (identity.kind !== "pending") return go(identity, body);
    const copy = Buffer.allocUnsafeSlow(body.length);
    copy.set(body);
    background(
      exchange.home,
      authenticator.settle(identity).then((settled) => go(settled, copy)),
    );
  }

  #judge({ access, alertsPort }: AuthorizationRules, request: HttpRequest, identity: SettledIdentity): Judgement {
    if (identity.kind === "refused") {
      return refused(identity, identity.code === "unauthorized" ? this.#challenge(identity.isSession) : NO_HEADERS);
    }
    if (identity.kind === "known") return this.#actFor(access, request, identity.principal);
    const outcome =
      alertsPort === undefined ? this.#actWithoutCredential(access, request) : actAsAlertmanager(new RequestCaller(request), alertsPort);
    return outcome.ok ? this.#actFor(access, request, outcome.principal) : refused(outcome.refusal, this.#challenge(false));
  }

  #actWithoutCredential(access: Access, request: HttpRequest): ActingOutcome {
    const caller = new RequestCaller(request);
    const policy = this.#dependencies.policy();
    const outcome = actWithoutCredential(access, caller, policy);
    if (!outcome.ok && access !== "ingest" && !this.#isTrustReported) this.#reportLostTrust(lostTrust(caller, policy));
    return outcome;
  }

  #reportLostTrust(reason: string | null): void {
    if (reason === null) return;
    this.#isTrustReported = true;
    this.#dependencies.onLostTrust(reason);
  }

  #actFor(access: Access, request: HttpRequest, own: Principal): Judgement {
    const named = request.header("x-tenant-id");
    const outcome = named === undefined ? undefined : actForTenant(own, named, this.#dependencies.tenantExists);
    if (outcome?.ok === false) return refused(outcome.refusal, NO_HEADERS);
    const principal = outcome?.principal ?? own;
    const refusal = refuseAccess(access, principal);
    return refusal === null ? { ok: true, principal } : refused(refusal, NO_HEADERS);
  }

  /** RFC 9110, 11.6.1; a session that counts no more is ended, so that the browser does not send it for ever. */
  #challenge(isSession: boolean): HttpHeaders {
    const challenge = ["WWW-Authenticate", 'Bearer realm="vedette"'] as const;
    if (!isSession) return [challenge];
    return [challenge, ["Set-Cookie", `${this.#dependencies.sessionCookie()}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict`]];
  }
}

function refused(refusal: Refusal, headers: HttpHeaders): Judgement {
  return { ok: false, refusal, headers };
}

const SEND_HEADER = "send it in X-API-Key or Authorization: Bearer, and replace it, since others may have seen it";

/** Where a request comes from, looked up when it is asked for: the address is a system call, and requests with a credential need none of it. */
class RequestCaller implements Caller {
  readonly #request: HttpRequest;

  constructor(request: HttpRequest) {
    this.#request = request;
  }

  get remoteAddress(): string {
    return this.#request.remoteAddress;
  }

  get isUnix(): boolean {
    return this.#request.isUnix;
  }

  get host(): string | undefined {
    return this.#request.header("host");
  }

  get origin(): string | undefined {
    return this.#request.header("origin");
  }

  get referer(): string | undefined {
    return this.#request.header("referer");
  }

  get fetchSite(): string | undefined {
    return this.#request.header("sec-fetch-site");
  }

  get beginsAsNginx(): boolean {
    const names: string[] = [];
    this.#request.findHeader((name) => names.push(name) === 2);
    return beginsAsNginx(names, this.#request.header("connection"));
  }

  get version(): string {
    return this.#request.version;
  }

  get forwardedBy(): string | undefined {
    return this.#request.findHeader(isForwardingHeader);
  }
}
