// Whose a request's credential is. One that was found genuine before is one look-up; an API key is checked at once; a token that is new here takes the time of a
// signature, and of a fetch of keys at worst, while the exchange is held. A change of keys or users is in force with the next request.

import { credentialDigest, credentialName, isNameOf } from "../../../adapters/credentials/credential-hash.ts";
import type { VerifyOutcome } from "../../../adapters/credentials/token-verifier.ts";
import type { HttpRequest } from "../../../adapters/http/http-server.ts";
import type { Clock } from "../../../adapters/platform/clock.ts";
import { isPrometheusPath } from "../../../api/prometheus/prometheus-envelope.ts";
import { BoundedMap } from "../../../core/collections/bounded-map.ts";
import { AUTHENTICATIONS_WAITING_MAX, CREDENTIALS_CACHED_MAX } from "../../../core/config/limits.ts";
import type { AccessChange } from "../../../core/protocol/access.ts";
import type { Principal } from "../../../core/protocol/query.ts";
import { DEFAULT_TENANT, isOwnOrigin } from "../../../domain/access/access-policy.ts";
import { keyIdIn, resemblesApiKey } from "../../../domain/access/api-key.ts";
import { rightsOf } from "../../../domain/access/key-scopes.ts";
import { presentedCredential } from "../../../domain/access/presented-credential.ts";
import { type ClaimNames, readClaims } from "../../../domain/access/token-claims.ts";
import { boundRole } from "../../../domain/access/user-role.ts";
import type { CredentialDirectory } from "./credential-directory.ts";

/** No credential came. */
export interface Anonymous {
  readonly kind: "anonymous";
}

/** A credential that is wrong, or that cannot be judged now. */
export interface RefusedCredential {
  readonly kind: "refused";
  readonly code: "unauthorized" | "forbidden" | "overloaded";
  readonly message: string;
  /** It came as a session cookie, which the answer should end. */
  readonly isSession: boolean;
}

/** A token that has to be verified first. */
export interface PendingCredential {
  readonly kind: "pending";
  readonly name: string;
  readonly token: string;
  readonly isSession: boolean;
}

/** Verdict known at once on a request's credential. */
export type Identity = KnownCredential | Anonymous | RefusedCredential | PendingCredential;
/** Verdict on it in the end. */
export type SettledIdentity = Exclude<Identity, PendingCredential>;

export interface AuthenticatorOptions {
  readonly claims: ClaimNames;
  readonly clockSkewSeconds: number;
  /** The token of DATA_DIR/admin-token: whoever can read the data folder is admin of the default tenant. */
  readonly adminToken: string;
  /** Name of the cookie of a signed-in browser. */
  readonly sessionCookie: () => string;
}

export interface AuthenticatorDependencies {
  readonly clock: Clock;
  readonly directory: CredentialDirectory;
  /** Whether keys and users have been loaded: before, nothing can be said of a credential. */
  readonly isLoaded: () => boolean;
  readonly tenantExists: (tenant: string) => boolean;
  readonly verify: (token: string, nowMs: number) => Promise<VerifyOutcome>;
}

const ANONYMOUS: Anonymous = { kind: "anonymous" };
const NOT_LOADED = "the server is not ready: reading API keys and users; try again shortly";
const UNKNOWN_KEY = "the API key is not known here, or was revoked; ask an admin for a new one";
const UNKNOWN_CREDENTIAL =
  "unknown credential: it is mistyped, revoked or of another server; send an API key (vdt_...) in X-API-Key, a JWT in Authorization: Bearer, or neither header";
const FOREIGN_PAGE =
  "the session of a browser counts for pages of this server only; from elsewhere send Authorization: Bearer with a token";

/** Identifies the callers of one server. */
export class Authenticator {
  readonly #options: AuthenticatorOptions;
  readonly #dependencies: AuthenticatorDependencies;
  /** By SHA-256 of the credential. */
  readonly #cache = new BoundedMap<string, KnownCredential>(CREDENTIALS_CACHED_MAX);
  readonly #adminDigest: Uint8Array;
  readonly #waiting = new Map<string, Promise<SettledIdentity>>();
  /** Counts changes of the keys that tokens are checked with. */
  #tokenKeys = 0;
  #waitingCount = 0;
  refusedTotal = 0;
  /** Counts changes of keys, users and tenants: where it is what it was, a credential that was good is good still, but for its end. */
  changes = 0;

  constructor(options: AuthenticatorOptions, dependencies: AuthenticatorDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.#adminDigest = credentialDigest(options.adminToken);
    dependencies.directory.onChange((change) => this.#forget(change));
  }

  /** Credentials remembered. */
  get cached(): number {
    return this.#cache.size;
  }

  /** Requests that wait for the check of a token. */
  get waiting(): number {
    return this.#waitingCount;
  }

  /** Other keys count for tokens from now on: those that were found genuine are checked again. */
  tokenKeysChanged(): void {
    this.#tokenKeys++;
    this.changes++;
    this.#cache.forget(({ isToken }) => isToken);
  }

  /** Says at once what can be said at once. */
  identify(request: HttpRequest): Identity {
    const authorization = request.header("authorization");
    const apiKey = request.header("x-api-key");
    const session = authorization === undefined && apiKey === undefined ? this.#session(request) : undefined;
    if (authorization === undefined && apiKey === undefined && session === undefined) return ANONYMOUS;
    const presented = presentedCredential({ authorization, apiKey, session, takesPassword: isPrometheusPath(request.path) });
    if (presented.kind === "none") return ANONYMOUS;
    if (presented.kind === "unusable") return this.#refuse(presented.message);
    const { text, isSession } = presented;
    if (isSession && isFromForeignPage(request)) return { kind: "refused", code: "forbidden", message: FOREIGN_PAGE, isSession: false };
    const name = credentialName(text);
    const known = this.#cache.get(name);
    if (known === undefined) return this.#judge(name, text, isSession);
    if (known.validUntilMs > this.#dependencies.clock.wallMs()) return known;
    this.#cache.delete(name);
    return this.#refuse("the credential has expired; get a new one", isSession);
  }

  /** Verifies the token of a request whose exchange is held; never rejects. */
  async settle(pending: PendingCredential): Promise<SettledIdentity> {
    if (this.#waitingCount >= AUTHENTICATIONS_WAITING_MAX) return busy("too many tokens are being checked; try again shortly");
    this.#waitingCount++;
    try {
      const running = this.#waiting.get(pending.name) ?? this.#verify(pending);
      this.#waiting.set(pending.name, running);
      return await running;
    } finally {
      this.#waitingCount--;
      this.#waiting.delete(pending.name);
    }
  }

  /** A credential that is not remembered. */
  #judge(name: string, text: string, isSession: boolean): Identity {
    if (!this.#dependencies.isLoaded()) return busy(NOT_LOADED);
    if (resemblesApiKey(text)) return this.#judgeKey(name, text);
    if (text.includes(".")) return { kind: "pending", name, token: text, isSession };
    if (!isNameOf(name, this.#adminDigest)) return this.#refuse(UNKNOWN_CREDENTIAL, isSession);
    const principal = { tenant: DEFAULT_TENANT, subject: "admin-token", role: "admin" } as const;
    const never = Number.POSITIVE_INFINITY;
    return this.#remember(name, { kind: "known", principal, validUntilMs: never, expiresMs: never, isToken: false });
  }

  #judgeKey(name: string, text: string): Identity {
    const { directory, clock } = this.#dependencies;
    const key = directory.key(keyIdIn(text) ?? "");
    if (key === undefined || !isNameOf(name, key.digest)) return this.#refuse(UNKNOWN_KEY);
    const validUntilMs = key.expiresMs ?? Number.POSITIVE_INFINITY;
    if (validUntilMs <= clock.wallMs()) return this.#refuse("the API key has expired; ask an admin for a new one");
    const { keyId, tenant, scope, rateLimitRps } = key;
    const principal = { tenant, subject: `key:${keyId}`, role: rightsOf(scope).role, keyId, scope, rateLimitRps };
    return this.#remember(name, { kind: "known", principal, validUntilMs, expiresMs: validUntilMs, isToken: false });
  }

  async #verify(pending: PendingCredential): Promise<SettledIdentity> {
    const { clock, verify } = this.#dependencies;
    // Keys that change while a signature is being checked make it worth nothing; they do so rarely, and never three times in a row.
    for (let attempt = 0; attempt < 3; attempt++) {
      const keys = this.#tokenKeys;
      const outcome = await verify(pending.token, clock.wallMs());
      if (keys === this.#tokenKeys) return this.#bind(pending, outcome);
    }
    return busy("the keys that tokens are checked with change all the time; try again shortly");
  }

  /** From genuine claims to a principal, by the tenants and users as they are now. */
  #bind({ name, isSession }: PendingCredential, outcome: VerifyOutcome): SettledIdentity {
    if (!outcome.ok) return outcome.isTemporary ? busy(outcome.message) : this.#refuse(outcome.message, isSession);
    const read = readClaims(outcome.claims, this.#options.claims);
    if (!read.ok) return this.#refuse(read.message, isSession);
    const { subject, tenant, role: own, expiresAt } = read.identity;
    const { directory, tenantExists } = this.#dependencies;
    if (!tenantExists(tenant)) return this.#refuse("the token is of a tenant that does not exist here", isSession);
    const role = boundRole(own, directory.user(tenant, subject));
    if (role === null) return this.#refuse("the user of this token is disabled; ask an admin of the tenant", isSession);
    const validUntilMs = (expiresAt + this.#options.clockSkewSeconds) * 1000;
    const principal = { tenant, subject, role };
    return this.#remember(name, { kind: "known", principal, validUntilMs, expiresMs: expiresAt * 1000, isToken: true });
  }

  #remember(name: string, credential: KnownCredential): KnownCredential {
    this.#cache.set(name, credential);
    return credential;
  }

  #refuse(message: string, isSession = false): RefusedCredential {
    this.refusedTotal++;
    return { kind: "refused", code: "unauthorized", message, isSession };
  }

  #forget(change: AccessChange): void {
    this.changes++;
    if (change.type === "key" || change.type === "key-gone") {
      const keyId = change.type === "key" ? change.key.keyId : change.keyId;
      this.#cache.forget(({ principal }) => principal.keyId === keyId);
    } else if (change.type === "user" || change.type === "user-gone") {
      const { tenant, subject } = change.type === "user" ? change.user : change;
      this.#cache.forget(({ principal, isToken }) => isToken && principal.tenant === tenant && principal.subject === subject);
    } else if (change.type === "tenant-gone") this.#cache.forget(({ principal }) => principal.tenant === change.tenant);
  }

  #session(request: HttpRequest): string | undefined {
    const cookies = request.header("cookie");
    return cookies === undefined ? undefined : cookieNamed(cookies, this.#options.sessionCookie());
  }
}

function busy(message: string): RefusedCredential {
  return { kind: "refused", code: "overloaded", message, isSession: false };
}

/** Value of a cookie (RFC 6265, 5.4). */
function cookieNamed(cookies: string, name: string): string | undefined {
  if (!cookies.includes(name)) return undefined;
  for (const cookie of cookies.split(";")) {
    const at = cookie.indexOf("=");
    if (at > 0 && cookie.slice(0, at).trim() === name) return cookie.slice(at + 1).trim();
  }
  return undefined;
}

/** Browsers send cookies by themselves, so a request with one counts only when a page of this server made it: SameSite=Strict says so too, but a site has many ports. */
function isFromForeignPage(request: HttpRequest): boolean {
  const origin = request.header("origin");
  if (origin !== undefined) return !isOwnOrigin(origin, request.header("host"));
  const site = request.header("sec-fetch-site");
  if (site !== undefined) return site !== "same-origin" && site !== "none";
  return request.method !== "GET" && request.method !== "HEAD";
}

/** Whether a browser says that a page of another site or port made it ask; other clients say nothing. */
export function isAskedByForeignPage(request: HttpRequest): boolean {
  const saysWho = request.header("origin") !== undefined || request.header("sec-fetch-site") !== undefined;
  return saysWho && isFromForeignPage(request);
}

// A credential that was found genuine: a request with one of them costs one look-up.

/** A genuine credential. */
interface KnownCredential {
  readonly kind: "known";
  readonly principal: Principal;
  /** Expiry, wall time. */
  readonly validUntilMs: number;
  /** Expiry without the allowance for clocks that differ: what it opened ends then. */
  readonly expiresMs: number;
  /** It was checked with the keys of tokens, so it goes when those change. */
  readonly isToken: boolean;
}
