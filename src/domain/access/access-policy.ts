// Who a request may act as (decisions.md section 5), as far as credentials can be checked at this stage: there is one, the token in the data folder.
// Any other that is presented is wrong, and a wrong one is refused, never taken for nobody.
import type { Principal, Role } from "../../core/protocol/query.ts";

/** The tenant of requests without a credential. */
export const DEFAULT_TENANT = "default";

/** What an endpoint asks of its caller. */
export type Access = "public" | "ingest" | Role;

/** What a request shows of its caller. Header values as sent; undefined = absent. */
export interface Caller {
  readonly remoteAddress: string;
  readonly host: string | undefined;
  readonly origin: string | undefined;
  readonly authorization: string | undefined;
  readonly apiKey: string | undefined;
  /** Any of Forwarded, X-Forwarded-For, X-Forwarded-Host, X-Real-IP, Via. */
  readonly forwarded: boolean;
}

export interface AccessPolicyOptions {
  readonly ingestAuth: string;
  readonly readAuth: string;
  /** The token of DATA_DIR/admin-token: whoever can read the data folder is admin of what is in it. */
  readonly adminToken: string;
  /** Address the server listens on. */
  readonly boundHost: string;
}

/** The caller, or the refusal to answer with. */
export type AccessDecision =
  | { readonly allowed: true; readonly principal: Principal }
  | { readonly allowed: false; readonly status: 401 | 403; readonly code: "unauthorized" | "forbidden"; readonly message: string };

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

/** True when a request without credential comes from this machine itself, not through a proxy, a rebound name or another site's page. */
function isLocal(caller: Caller, options: AccessPolicyOptions): boolean {
  if (options.readAuth !== "loopback" || !isLoopback(options.boundHost) || caller.forwarded) return false;
  if (!isLoopback(caller.remoteAddress) || caller.host === undefined || !isLoopback(hostName(caller.host))) return false;
  return caller.origin === undefined || originHost(caller.origin) === caller.host;
}

const refused = (message: string): AccessDecision => ({ allowed: false, status: 401, code: "unauthorized", message });

function allow(role: Principal["role"]): AccessDecision {
  return { allowed: true, principal: { tenant: DEFAULT_TENANT, subject: "local", role } };
}

/** A request from this machine without a credential is an operator's. */
const NOT_ADMIN: AccessDecision = {
  allowed: false,
  status: 403,
  code: "forbidden",
  message: "this needs the role admin; send Authorization: Bearer with the token in the file admin-token of the data folder",
};

function isAdmin({ authorization, apiKey }: Caller, token: string): boolean {
  const given = apiKey ?? /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1] ?? "";
  return token !== "" && equalsInConstantTime(given, token) && (apiKey === undefined || authorization === undefined);
}

/** How long it takes says nothing of where two texts differ. */
function equalsInConstantTime(given: string, expected: string): boolean {
  let difference = given.length ^ expected.length;
  for (let i = 0; i < expected.length; i++) difference |= given.charCodeAt(i % Math.max(1, given.length)) ^ expected.charCodeAt(i);
  return difference === 0;
}

/** Decides whether the caller may use an endpoint of this access. */
export function decideAccess(access: Access, caller: Caller, options: AccessPolicyOptions): AccessDecision {
  if (access === "public") return allow("viewer");
  if (caller.authorization !== undefined || caller.apiKey !== undefined) {
    if (isAdmin(caller, options.adminToken)) return allow("admin");
    return refused(
      "the credential is not known here; the only one is in the file admin-token of the data folder: send that, or neither Authorization nor X-API-Key",
    );
  }
  if (access === "ingest") {
    return options.ingestAuth === "optional"
      ? allow("operator")
      : refused("writing telemetry needs a credential here (INGEST_AUTH=required): send X-API-Key");
  }
  if (isLocal(caller, options)) return access === "viewer" || access === "operator" ? allow("operator") : NOT_ADMIN;
  return refused("reading needs a credential from there; without one, ask from this machine at its loopback address (READ_AUTH=loopback)");
}
