// Who a request may act as, and what it may do as that (decisions.md section 5). Credentials have been checked before: a wrong one never gets here.
import type { Role } from "../../core/protocol/access.ts";
import type { Principal } from "../../core/protocol/query.ts";
import { rightsOf } from "./key-scopes.ts";
import { reaches } from "./roles.ts";

/** The tenant of requests without a credential. */
export const DEFAULT_TENANT = "default";

/** What an endpoint asks of its caller: to write telemetry, or a role. Public ones ask nothing, and are not asked about here. */
export type Access = "ingest" | Role;

/** What a request shows of where it comes from. Header values as sent; undefined = absent. */
export interface Caller {
  readonly remoteAddress: string;
  readonly host: string | undefined;
  readonly origin: string | undefined;
  /** Any of Forwarded, X-Forwarded-For, X-Forwarded-Host, X-Real-IP, Via. */
  readonly forwarded: boolean;
}

export interface AccessPolicyOptions {
  readonly ingestAuth: string;
  readonly readAuth: string;
  /** Address the server listens on. */
  readonly boundHost: string;
}

/** Why a request is refused. */
export interface AccessRefusal {
  readonly code: "unauthorized" | "forbidden" | "not_found";
  readonly message: string;
}

/** Whom the request acts as, or why not. */
export type ActingOutcome = { readonly ok: true; readonly principal: Principal } | { readonly ok: false; readonly refusal: AccessRefusal };

const LOCAL: ActingOutcome = { ok: true, principal: { tenant: DEFAULT_TENANT, subject: "local", role: "operator" } };
const LOOPBACK_NAME = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\]|::1)$/i;

/** Whether an address or host name (without port) is this machine's loopback. */
function isLoopback(host: string): boolean {
  return LOOPBACK_NAME.test(host);
}

function hostName(host: string): string {
  return host.replace(/:\d+$/, "");
}

function originHost(origin: string): string | undefined {
  return /^https?:\/\/([^/]+)$/i.exec(origin)?.[1];
}

/** Whether the page that makes a browser send a request came from the server itself; requests that name no origin are not asked about here. */
export function isOwnOrigin(origin: string, host: string | undefined): boolean {
  return originHost(origin) === host;
}

/** True when a request without credential comes from this machine itself, not through a proxy, a rebound name or another site's page. */
function isLocal(caller: Caller, options: AccessPolicyOptions): boolean {
  if (options.readAuth !== "loopback" || !isLoopback(options.boundHost) || caller.forwarded) return false;
  if (!isLoopback(caller.remoteAddress) || caller.host === undefined || !isLoopback(hostName(caller.host))) return false;
  return caller.origin === undefined || isOwnOrigin(caller.origin, caller.host);
}

/** Whom a request without a credential acts as: an operator of the default tenant, or nobody. */
export function actWithoutCredential(access: Access, caller: Caller, options: AccessPolicyOptions): ActingOutcome {
  if (access === "ingest") {
    return options.ingestAuth === "optional"
      ? LOCAL
      : unauthorized("writing telemetry needs a credential here (INGEST_AUTH=required): send X-API-Key");
  }
  if (isLocal(caller, options)) return LOCAL;
  return unauthorized(
    "this needs a credential from there: send X-API-Key, or Authorization: Bearer with a token; without one, ask from this machine at its loopback address (READ_AUTH=loopback)",
  );
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
