// Who a request may act as, and what it may do as that. Credentials have been checked before: a wrong one never gets here.
import type { Role } from "../../core/protocol/access.ts";
import type { Principal } from "../../core/protocol/query.ts";
import { rightsOf } from "./key-scopes.ts";
import { reaches } from "./roles.ts";

/** The tenant of requests without a credential. */
export const DEFAULT_TENANT = "default";

/** Access that an endpoint needs: to write telemetry, or a role. Public ones need none, and are not asked about here. */
export type Access = "ingest" | Role;

/** Origin of a request, as it shows it. Header values as sent; undefined = absent. */
export interface Caller {
  /** Not asked for where the peer came over the server's Unix socket, or where nothing hangs on it. */
  readonly remoteAddress: string;
  /** It came over the server's Unix socket. */
  readonly isUnix: boolean;
  /** Version of HTTP: "1.0" or "1.1". */
  readonly version: string;
  readonly host: string | undefined;
  readonly origin: string | undefined;
  readonly referer: string | undefined;
  /** Sec-Fetch-Site, which browsers send and pages cannot set. */
  readonly fetchSite: string | undefined;
  /** The head begins as nginx writes it (forwarding.ts). */
  readonly beginsAsNginx: boolean;
  /** The first header that proxies add (forwarding.ts), in lower case. */
  readonly forwardedBy: string | undefined;
}

export interface AccessPolicyOptions {
  readonly ingestAuth: string;
  readonly readAuth: string;
  /** Address the server listens on. */
  readonly boundHost: string;
  /** Port the server listens on. */
  readonly boundPort: number;
  /** It speaks TLS there. */
  readonly isTls: boolean;
}

/** Why a request is refused. */
export interface AccessRefusal {
  readonly code: "unauthorized" | "forbidden" | "not_found";
  readonly message: string;
}

/** Whom the request acts as, or why not. */
export type ActingOutcome = { readonly ok: true; readonly principal: Principal } | { readonly ok: false; readonly refusal: AccessRefusal };

const LOCAL_SUBJECT = "local";
const LOCAL: ActingOutcome = { ok: true, principal: { tenant: DEFAULT_TENANT, subject: LOCAL_SUBJECT, role: "operator" } };
const NOBODY = unauthorized(
  "this needs a credential here (READ_AUTH=required): send X-API-Key, or Authorization: Bearer with a token, which vedette token makes; or ask over the server's Unix socket (SOCKET)",
);
const NOT_LOCAL = unauthorized(
  "this needs a credential from there: send X-API-Key, or Authorization: Bearer with a token; without one, ask from this machine, straight and at the server's own address and port (READ_AUTH=loopback), or over its Unix socket (SOCKET)",
);
/** Characters of a header's name in a line of the log, at most. */
const SHOWN_MAX = 60;
/** Ports of a Host that names none. */
const HTTP_PORT = 80;
export const HTTPS_PORT = 443;
const LOOPBACK_NAME = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\]|::1)$/i;

/** Whether a request had no credential. Tokens with that subject are refused. */
export function isAnonymous({ subject }: Principal): boolean {
  return subject === LOCAL_SUBJECT;
}

/** Whether an address or host name (without port) is this machine's loopback. */
function isLoopback(host: string): boolean {
  return LOOPBACK_NAME.test(host);
}

/** A function of one text that remembers its last answer; another text costs a comparison more than without. */
function rememberLast(call: (text: string) => boolean): (text: string) => boolean {
  let last: { readonly text: string; readonly answer: boolean } | undefined;
  return (text) => {
    if (last?.text !== text) last = { text, answer: call(text) };
    return last.answer;
  };
}

/** Whether the server listens on loopback alone; it is the same address with every request. */
const isBoundToLoopback = rememberLast(isLoopback);
/** Whether a Host is this machine's loopback name or address; most requests have that of the one before. */
const isLoopbackHost = rememberLast((host) => isLoopback(host.replace(/:\d+$/, "")));

function hostPort(host: string, isTls: boolean): number {
  return Number(/:(\d+)$/.exec(host)?.[1] ?? (isTls ? HTTPS_PORT : HTTP_PORT));
}

function originHost(origin: string): string | undefined {
  return /^https?:\/\/([^/]+)$/i.exec(origin)?.[1];
}

function refererHost(referer: string): string | undefined {
  return /^https?:\/\/([^/?#]+)/i.exec(referer)?.[1];
}

/** Whether the page that makes a browser send a request came from the server itself; requests that name no origin are not asked about here. */
export function isOwnOrigin(origin: string, host: string | undefined): boolean {
  return originHost(origin) === host;
}

/** Whether the peer itself may be taken for an operator of this machine. Who may open the socket may read the data folder, and with it the admin's token. */
function hasLocalPeer(caller: Caller, { readAuth, boundHost }: AccessPolicyOptions): boolean {
  return caller.isUnix || (readAuth === "loopback" && isBoundToLoopback(boundHost) && isLoopback(caller.remoteAddress));
}

/** Sign that a request was passed on by somebody or made by a foreign page; null where there is none. */
function foreignSign(caller: Caller, { boundPort, isTls }: AccessPolicyOptions): string | null {
  if (caller.forwardedBy !== undefined) return `it has the header ${caller.forwardedBy.slice(0, SHOWN_MAX)}, which proxies add`;
  if (caller.beginsAsNginx) return "it begins with Host and Connection: close, as nginx passes requests on";
  if (caller.version !== "1.1") return `it speaks HTTP/${caller.version}, as proxies do`;
  if (caller.isUnix) return null; // no browser gets there, and what a client writes as Host means nothing
  if (caller.host === undefined) return "it has no Host";
  if (!isLoopbackHost(caller.host)) return "its Host is not this machine's loopback name or address";
  if (hostPort(caller.host, isTls) !== boundPort) return `its Host is not at port ${boundPort}, where this server listens`;
  return isOfForeignPage(caller) ? "another site's page made a browser send it" : null;
}

/** By what browsers say of it; other clients say nothing. */
function isOfForeignPage(caller: Caller): boolean {
  const { referer, fetchSite, host } = caller;
  if (fetchSite !== undefined && fetchSite !== "same-origin" && fetchSite !== "none") return true;
  if (referer !== undefined && refererHost(referer) !== host) return true;
  return foreignOrigin(caller);
}

function foreignOrigin({ origin, host }: Caller): boolean {
  return origin !== undefined && !isOwnOrigin(origin, host);
}

/** Why a request that comes from this machine is not taken for one of somebody on it; null where it is, or where it comes from elsewhere. */
export function lostTrust(caller: Caller, options: AccessPolicyOptions): string | null {
  return hasLocalPeer(caller, options) ? foreignSign(caller, options) : null;
}

/** Whom a request without a credential acts as: an operator of the default tenant, or nobody. */
export function actWithoutCredential(access: Access, caller: Caller, options: AccessPolicyOptions): ActingOutcome {
  if (access === "ingest" && !caller.isUnix) return writeWithoutCredential(caller, options);
  if (hasLocalPeer(caller, options) && foreignSign(caller, options) === null) return LOCAL;
  if (access === "ingest") return writeWithoutCredential(caller, options);
  return options.readAuth === "required" ? NOBODY : NOT_LOCAL;
}

/** Whether a name that was bound anew to this machine can be ruled out: where loopback alone is listened on, the Host names it. */
function isOwnHost({ host }: Caller, boundHost: string): boolean {
  return !isBoundToLoopback(boundHost) || host === undefined || isLoopbackHost(host);
}

/** Telemetry is taken from anybody, but not from a browser that another site's page, or a name that was bound anew to this machine, makes send it. */
function writeWithoutCredential(caller: Caller, { ingestAuth, boundHost }: AccessPolicyOptions): ActingOutcome {
  if (ingestAuth !== "optional") return unauthorized("writing telemetry needs a credential here (INGEST_AUTH=required): send X-API-Key");
  if (foreignOrigin(caller)) {
    return unauthorized("a page of another site (see Origin) writes telemetry with a credential only: send X-API-Key, or no Origin");
  }
  if (caller.isUnix || isOwnHost(caller, boundHost)) return LOCAL;
  return unauthorized(
    "writing telemetry at this Host needs a credential: send X-API-Key; without one the Host must be localhost, 127.0.0.1 or [::1], since the server listens there alone",
  );
}

/** The port for alerts of an Alertmanager, which asks no credential. */
export interface AlertsPort {
  readonly boundHost: string;
  /** Whose the alerts are. */
  readonly tenant: string;
}

/** Whom an alert without a credential acts as at that port: an operator of its tenant, or nobody where a page of another site makes a browser send it. */
export function actAsAlertmanager(caller: Caller, { boundHost, tenant }: AlertsPort): ActingOutcome {
  if (foreignOrigin(caller)) {
    return unauthorized("a page of another site (see Origin) declares alerts with a credential only: send X-API-Key, or no Origin");
  }
  if (isOwnHost(caller, boundHost)) return { ok: true, principal: { tenant, subject: "alertmanager", role: "operator" } };
  return unauthorized(
    "alerts at this Host need a credential: send X-API-Key; without one the Host must be localhost, 127.0.0.1 or [::1], since ALERTS_PORT listens there alone",
  );
}

/** Warning for the operator of a server that takes telemetry of everybody who reaches it; null where nobody else does, or a credential is wanted. */
export function openIngestionWarning({ ingestAuth, boundHost }: Pick<AccessPolicyOptions, "ingestAuth" | "boundHost">): string | null {
  if (ingestAuth !== "optional" || isBoundToLoopback(boundHost)) return null;
  return `everybody who reaches ${boundHost} may write telemetry into the tenant default without a credential (INGEST_AUTH=optional); set INGEST_AUTH=required and give senders API keys, or HOST=127.0.0.1 where they are on this machine`;
}

function unauthorized(message: string): ActingOutcome {
  return { ok: false, refusal: { code: "unauthorized", message } };
}

/** Whom a request acts as that names a tenant in X-Tenant-ID. */
export function actForTenant(principal: Principal, tenant: string, exists: (tenant: string) => boolean): ActingOutcome {
  if (tenant === principal.tenant) return { ok: true, principal };
  if (!reaches(principal.role, "super_admin")) {
    const message = `X-Tenant-ID names a tenant that is not yours (${principal.tenant}); that needs the role super_admin, yours is ${principal.role}`;
    return { ok: false, refusal: { code: "forbidden", message } };
  }
  if (exists(tenant)) return { ok: true, principal: { ...principal, tenant } };
  const message = "X-Tenant-ID names a tenant that does not exist; GET /api/v1/tenants lists them";
  return { ok: false, refusal: { code: "not_found", message } };
}

/** Why somebody may not do what an endpoint does; null where they may. */
export function refuseAccess(access: Access, principal: Principal): AccessRefusal | null {
  const rights = principal.scope === undefined ? undefined : rightsOf(principal.scope);
  if (access === "ingest") {
    const writes = rights === undefined ? reaches(principal.role, "operator") : rights.writes;
    return writes ? null : forbidden("writing telemetry needs the role operator, or an API key with the scope ingestion", principal);
  }
  if (rights?.asks === false) return forbidden(`this needs the role ${access}; an API key with the scope ingestion only writes telemetry`);
  return reaches(principal.role, access) ? null : forbidden(`this needs the role ${access}`, principal);
}

function forbidden(message: string, principal?: Principal): AccessRefusal {
  return { code: "forbidden", message: principal === undefined ? message : `${message}; yours is ${describeRights(principal)}` };
}

function describeRights({ role, scope, subject }: Principal): string {
  if (scope !== undefined) return `${role}, by an API key with the scope ${scope}`;
  return subject === "local" ? `${role}, because no credential was sent: send Authorization: Bearer with a token, or X-API-Key` : role;
}
