// Builds what decides on credentials, from the settings: where secrets and keys come from, what verifies tokens with them, the gate, and the sign-in link.
import { readFileSync } from "node:fs";
import { chartKey } from "../../../adapters/credentials/chart-signature.ts";
import { readJwks } from "../../../adapters/credentials/jwks-content.ts";
import { JwksSource } from "../../../adapters/credentials/jwks-source.ts";
import { fetchJwks, followFile, readJwksFile } from "../../../adapters/credentials/jwks-transport.ts";
import { ADMIN_TOKEN_FILE, JWT_SECRET_FILE, OWN_SECRET_BYTES, openSecretFile } from "../../../adapters/credentials/own-secret.ts";
import { SecretSource } from "../../../adapters/credentials/secret-source.ts";
import { mintToken } from "../../../adapters/credentials/token-mint.ts";
import { JWT_SECRET_BYTES_MIN, TokenVerifier } from "../../../adapters/credentials/token-verifier.ts";
import type { HttpHeaders } from "../../../adapters/http/http-server.ts";
import type { Clock } from "../../../adapters/platform/clock.ts";
import { ConfigError } from "../../../core/config/config-error.ts";
import { JWKS_COOLDOWN_MS } from "../../../core/config/limits.ts";
import type { Config } from "../../../core/config/load-config.ts";
import { background, task } from "../../../core/faults/guard.ts";
import { messageOf } from "../../../core/text/error-text.ts";
import type { Secret } from "../../../core/text/secret.ts";
import { type AccessPolicyOptions, DEFAULT_TENANT, openIngestionWarning } from "../../../domain/access/access-policy.ts";
import { Authenticator } from "./authenticator.ts";
import { Authorizer } from "./authorizer.ts";
import type { CredentialDirectory } from "./credential-directory.ts";
import { SignIn, sessionHeaders } from "./sign-in.ts";

/** Settings; texts that are empty are not set. */
type Settings = Pick<
  Config,
  | "DATA_DIR"
  | "HOST"
  | "INGEST_AUTH"
  | "READ_AUTH"
  | "JWT_SECRET"
  | "JWKS_URL"
  | "JWKS_FILE"
  | "JWKS_REFRESH_SECONDS"
  | "JWT_ISSUER"
  | "JWT_AUDIENCE"
  | "JWT_UNCHECKED_CLAIMS"
  | "JWT_CLAIM_TENANT"
  | "JWT_CLAIM_ROLE"
  | "JWT_CLOCK_SKEW_SECONDS"
  | "PUBLIC_URL"
  | "TLS_CERT_FILE"
  | "TLS_CLIENT_CA_FILE"
>;

const LOST_TRUST = "a request without a credential from this machine was not taken for a local one and was refused";
const PROXY_ADVICE =
  "Where a proxy or a tunnel stands before this server, set READ_AUTH=required: its other requests may look local. SOCKET gives this machine a way in that no proxy has. (Told once.)";

export interface AccessControlDependencies {
  readonly clock: Clock;
  readonly directory: CredentialDirectory;
  readonly tenantExists: (tenant: string) => boolean;
  readonly randomHex: (bytes: number) => string;
  readonly log: (level: "info" | "warn", line: string) => void;
  /** Told when tokens that were genuine may be so no more. */
  readonly onTokenKeys: () => void;
  /** The port that the server listens on: cookies of one machine's servers must not be mixed up, and they know no ports. */
  readonly port: () => number;
}

/** Everything about credentials on the main thread. */
export class AccessControl {
  readonly authorizer: Authorizer;
  readonly authenticator: Authenticator;
  readonly jwks: JwksSource | null;
  /** Null where secrets are the operator's. */
  readonly signIn: SignIn | null;
  /** Path and query of the link; null where there is none. */
  readonly signInTarget: string | null;
  /** Key of addresses that are read without a session. */
  readonly chartKey: Uint8Array;
  /** The headers that give a browser a session, or take it with a life of 0. */
  readonly sessionHeaders: (credential: string, lifetimeMs?: number) => HttpHeaders;
  readonly #secret: SecretSource | null;
  readonly #dependencies: AccessControlDependencies;

  /** Opens, and at the first start makes, what the data folder holds. Throws ConfigError on settings that cannot be used. */
  constructor(settings: Settings, dependencies: AccessControlDependencies) {
    const { clock, directory, randomHex, port } = dependencies;
    const secret = this.#openSecret(settings, dependencies);
    this.#secret = secret;
    this.#dependencies = dependencies;
    this.jwks = this.#openJwks(settings, dependencies);
    const verifier = new TokenVerifier(
      { ...recipients(settings), clockSkewSeconds: settings.JWT_CLOCK_SKEW_SECONDS },
      { secret: () => secret?.key ?? null, jwks: this.jwks },
    );
    const tenantExists = (tenant: string) => tenant === DEFAULT_TENANT || dependencies.tenantExists(tenant);
    const sessionCookie = () => `vedette_session_${port()}`;
    const adminToken = openSecretFile(settings.DATA_DIR, ADMIN_TOKEN_FILE, () => randomHex(OWN_SECRET_BYTES)).text;
    this.chartKey = chartKey(adminToken);
    this.authenticator = new Authenticator(
      {
        claims: { tenant: settings.JWT_CLAIM_TENANT, role: settings.JWT_CLAIM_ROLE },
        clockSkewSeconds: settings.JWT_CLOCK_SKEW_SECONDS,
        adminToken,
        sessionCookie,
      },
      {
        clock,
        directory,
        isLoaded: () => directory.isLoaded,
        tenantExists,
        verify: (token, nowMs) => verifier.verify(token, nowMs),
      },
    );
    const policy = policyOf(settings, port);
    const needsClientCertificate = settings.TLS_CLIENT_CA_FILE !== "";
    const warning = openIngestionWarning({ ingestAuth: settings.INGEST_AUTH, boundHost: settings.HOST });
    if (warning !== null && !needsClientCertificate) dependencies.log("warn", warning);
    const onLostTrust = (reason: string) => dependencies.log("warn", `${LOST_TRUST}: ${reason}. ${PROXY_ADVICE}`);
    this.authorizer = new Authorizer({
      policy,
      authenticator: this.authenticator,
      tenantExists,
      sessionCookie,
      onLostTrust,
      needsClientCertificate,
    });
    this.sessionHeaders = (credential, lifetimeMs) => sessionHeaders(sessionCookie(), credential, isReachedByHttps(settings), lifetimeMs);
    this.jwks?.start();
    const isOwn = settings.JWT_SECRET === undefined && secret !== null;
    const token = isOwn ? randomHex(OWN_SECRET_BYTES) : null;
    this.signInTarget = token === null ? null : `/sign-in?token=${token}`;
    this.signIn = token === null || secret === null ? null : makeSignIn(token, secret, settings, clock.wallMs(), sessionCookie);
  }

  /** Members that the front uses of it. */
  get ofFront() {
    const { authorizer, signIn, sessionHeaders } = this;
    return { authorizer, signIn, sessionHeaders };
  }

  /** Takes over what files of secrets hold by now, and the identity provider's keys; what cannot be used changes nothing, and is told. */
  reload(readSettings: () => Settings): void {
    const { log, onTokenKeys } = this.#dependencies;
    try {
      const { JWT_SECRET } = readSettings();
      if (JWT_SECRET !== undefined && this.#secret?.replace(checkedSecret(JWT_SECRET)) === true) this.#tokenKeysChanged(onTokenKeys);
      if (this.jwks !== null) background(KEYS, this.jwks.load());
      log("info", "SIGHUP: files of secrets and the identity provider's keys are read again; other settings need a restart");
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      log("warn", `SIGHUP: nothing has changed: ${error.message}`);
    }
  }

  #tokenKeysChanged(notify: () => void): void {
    this.authenticator.tokenKeysChanged();
    notify();
  }

  /** The secret of HS256: the operator's; without any key source of the operator's, our own; else none. */
  #openSecret(
    { JWT_SECRET, JWKS_URL, JWKS_FILE, DATA_DIR }: Settings,
    { randomHex, log, onTokenKeys }: AccessControlDependencies,
  ): SecretSource | null {
    if (JWT_SECRET !== undefined) {
      return new SecretSource(checkedSecret(JWT_SECRET));
    }
    if (JWKS_URL !== "" || JWKS_FILE !== "") return null;
    const own = openSecretFile(DATA_DIR, JWT_SECRET_FILE, () => randomHex(OWN_SECRET_BYTES));
    const source = new SecretSource(own.text);
    source.follow(own.path, () => this.#tokenKeysChanged(onTokenKeys), log);
    return source;
  }

  #openJwks(settings: Settings, { clock, log, onTokenKeys }: AccessControlDependencies): JwksSource | null {
    const { JWKS_URL, JWKS_FILE, JWKS_REFRESH_SECONDS } = settings;
    if (JWKS_URL === "" && JWKS_FILE === "") return null;
    if (JWKS_URL !== "" && JWKS_FILE !== "")
      throw new ConfigError("JWKS_URL and JWKS_FILE are both set; set the one that tokens are checked with");
    const url = JWKS_URL === "" ? null : parseUrl(JWKS_URL);
    if (url === null) checkFile(JWKS_FILE);
    checkRecipients(settings);
    const source = new JwksSource(
      { name: url === null ? "JWKS_FILE" : `JWKS_URL (${url.host})`, refreshMs: JWKS_REFRESH_SECONDS * 1000, cooldownMs: JWKS_COOLDOWN_MS },
      {
        read: () => (url === null ? readJwksFile(JWKS_FILE) : fetchJwks(url)),
        monotonicMs: () => clock.monotonicMs(),
        wallMs: () => clock.wallMs(),
        log,
        onChange: () => this.#tokenKeysChanged(onTokenKeys),
      },
    );
    if (url === null) followFile(JWKS_FILE, () => background(KEYS, source.load()));
    return source;
  }
}

/** The policy, made anew where the port is another: it is known once the server listens. */
function policyOf({ INGEST_AUTH, READ_AUTH, HOST, TLS_CERT_FILE }: Settings, port: () => number): () => AccessPolicyOptions {
  const fixed = { ingestAuth: INGEST_AUTH, readAuth: READ_AUTH, boundHost: HOST, isTls: TLS_CERT_FILE !== "" };
  let policy: AccessPolicyOptions = { ...fixed, boundPort: port() };
  return () => {
    if (policy.boundPort !== port()) policy = { ...fixed, boundPort: port() };
    return policy;
  };
}

const KEYS = task("the keys of the identity provider");

function checkedSecret(secret: Secret): string {
  const text = secret.reveal();
  const bytes = Buffer.byteLength(text);
  if (bytes >= JWT_SECRET_BYTES_MIN) return text;
  throw new ConfigError(`JWT_SECRET must have at least ${JWT_SECRET_BYTES_MIN} bytes, got ${bytes}; make one with: openssl rand -hex 32`);
}

/** Whom tokens are from and for. */
function recipients({ JWT_ISSUER, JWT_AUDIENCE }: Settings) {
  return { issuer: JWT_ISSUER || undefined, audience: JWT_AUDIENCE || undefined };
}

/** A provider signs tokens for many servers, and some providers for many firms: what it signed must be for this one. */
function checkRecipients({ JWKS_URL, JWT_ISSUER, JWT_AUDIENCE, JWT_UNCHECKED_CLAIMS }: Settings): void {
  const unchecked = JWT_UNCHECKED_CLAIMS.split(",");
  const lacking = (["iss", "aud"] as const).filter(
    (claim) => (claim === "iss" ? JWT_ISSUER : JWT_AUDIENCE) === "" && !unchecked.includes(claim),
  );
  if (lacking.length === 0) return;
  const source = JWKS_URL === "" ? "JWKS_FILE" : "JWKS_URL";
  const settings = lacking.map((claim) =>
    claim === "iss" ? "JWT_ISSUER (the provider's name)" : "JWT_AUDIENCE (this server's name at the provider)",
  );
  throw new ConfigError(
    `tokens of ${source} would count here whoever they were made for: set ${settings.join(" and ")}; where that is wanted, set JWT_UNCHECKED_CLAIMS=${allOf(unchecked, lacking)}`,
  );
}

/** Names of claims in the order that the setting has them in. */
function allOf(unchecked: readonly string[], lacking: readonly string[]): string {
  return ["iss", "aud"].filter((claim) => unchecked.includes(claim) || lacking.includes(claim)).join(",");
}

function makeSignIn(token: string, secret: SecretSource, settings: Settings, madeMs: number, sessionCookie: () => string): SignIn {
  const mint = async (content: { subject: string; tenant: string; role: string; issuedMs: number; lifetimeMs: number }) => {
    const { subject, tenant, role, issuedMs, lifetimeMs } = content;
    const claims = { [settings.JWT_CLAIM_TENANT]: tenant, [settings.JWT_CLAIM_ROLE]: role };
    return mintToken(await secret.key, { subject, ...recipients(settings), claims, issuedMs, lifetimeMs });
  };
  return new SignIn({ token, madeMs, sessionCookie, isSecure: isReachedByHttps(settings) }, { mint });
}

/** Whether browsers reach the server by https, so that a cookie may be kept from all else. */
function isReachedByHttps({ TLS_CERT_FILE, PUBLIC_URL }: Settings): boolean {
  return TLS_CERT_FILE !== "" || PUBLIC_URL.startsWith("https:");
}

function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) throw new ConfigError("JWKS_URL must be an http or https URL");
  if (url.username !== "" || url.password !== "") throw new ConfigError("JWKS_URL must hold no credentials: key sets are public");
  return url;
}

/** A file is there at the start or never; a provider on the network may come later. */
function checkFile(path: string): void {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new ConfigError(`JWKS_FILE cannot be read: ${messageOf(error)}`);
  }
  const read = readJwks(text);
  if (!read.ok) throw new ConfigError(`JWKS_FILE cannot be used: ${read.message}`);
}
