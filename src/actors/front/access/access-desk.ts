// Builds what decides on credentials, from the settings: where secrets and keys come from, what verifies tokens with them, the gate, and the sign-in link.
import { readFileSync } from "node:fs";
import { readJwks } from "../../../adapters/credentials/jwks-content.ts";
import { JwksSource } from "../../../adapters/credentials/jwks-source.ts";
import { fetchJwks, followFile, readJwksFile } from "../../../adapters/credentials/jwks-transport.ts";
import { ADMIN_TOKEN_FILE, JWT_SECRET_FILE, OWN_SECRET_BYTES, openSecretFile } from "../../../adapters/credentials/secret-file.ts";
import { SecretSource } from "../../../adapters/credentials/secret-source.ts";
import { mintToken } from "../../../adapters/credentials/token-mint.ts";
import { JWT_SECRET_BYTES_MIN, TokenVerifier } from "../../../adapters/credentials/token-verifier.ts";
import type { Clock } from "../../../adapters/runtime/clock.ts";
import { JWKS_COOLDOWN_MS } from "../../../core/config/limits.ts";
import { ConfigError } from "../../../core/config/load-config.ts";
import { type AccessPolicyOptions, DEFAULT_TENANT } from "../../../domain/access/access-policy.ts";
import type { ClaimNames } from "../../../domain/access/token-claims.ts";
import type { AccessDirectory } from "../access-directory.ts";
import { Authenticator } from "./authenticator.ts";
import { Gate } from "./gate.ts";
import { SignIn } from "./sign-in.ts";

/** Settings; texts that are empty are not set. */
export interface AccessDeskOptions {
  readonly dataDir: string;
  readonly policy: AccessPolicyOptions;
  readonly jwtSecret: string;
  readonly jwksUrl: string;
  readonly jwksFile: string;
  readonly issuer: string;
  readonly audience: string;
  readonly claims: ClaimNames;
  readonly clockSkewSeconds: number;
  readonly jwksRefreshSeconds: number;
}

export interface AccessDeskDependencies {
  readonly clock: Clock;
  readonly directory: AccessDirectory;
  /** Random bytes in hex. */
  readonly randomHex: (bytes: number) => string;
  readonly log: (level: "info" | "warn", line: string) => void;
  /** The port that the server listens on: cookies of one machine's servers must not be mixed up, and they know no ports. */
  readonly port: () => number;
}

/** Everything about credentials on the main thread. */
export class AccessDesk {
  readonly gate: Gate;
  readonly authenticator: Authenticator;
  readonly jwks: JwksSource | null;
  /** Null where secrets are the operator's. */
  readonly signIn: SignIn | null;
  /** Path and query of the link; null where there is none. */
  readonly signInTarget: string | null;

  /** Opens, and at the first start makes, what the data folder holds. Throws ConfigError on settings that cannot be used. */
  constructor(options: AccessDeskOptions, dependencies: AccessDeskDependencies) {
    const { clock, directory, randomHex, port } = dependencies;
    const secret = this.#openSecret(options, dependencies);
    this.jwks = this.#openJwks(options, dependencies);
    const verifier = new TokenVerifier(
      { issuer: options.issuer || undefined, audience: options.audience || undefined, clockSkewSeconds: options.clockSkewSeconds },
      { secret: () => secret?.key ?? null, jwks: this.jwks },
    );
    const tenantExists = (tenant: string) => tenant === DEFAULT_TENANT || directory.tenant(tenant) !== undefined;
    const sessionCookie = () => `vedette_session_${port()}`;
    const adminToken = openSecretFile(options.dataDir, ADMIN_TOKEN_FILE, () => randomHex(OWN_SECRET_BYTES)).text;
    this.authenticator = new Authenticator(
      { claims: options.claims, clockSkewSeconds: options.clockSkewSeconds, adminToken, sessionCookie },
      {
        clock,
        directory: directory.credentials,
        isLoaded: () => directory.isLoaded,
        tenantExists,
        verify: (token, nowMs) => verifier.verify(token, nowMs),
      },
    );
    this.gate = new Gate({ policy: options.policy, authenticator: this.authenticator, tenantExists, sessionCookie });
    this.jwks?.start();
    const isOwn = options.jwtSecret === "" && secret !== null;
    const token = isOwn ? randomHex(OWN_SECRET_BYTES) : null;
    this.signInTarget = token === null ? null : `/sign-in?token=${token}`;
    this.signIn = token === null || secret === null ? null : makeSignIn(token, secret, options, clock.wallMs(), sessionCookie);
  }

  /** The secret of HS256: the operator's; without any key source of the operator's, our own; else none. */
  #openSecret(
    { jwtSecret, jwksUrl, jwksFile, dataDir }: AccessDeskOptions,
    { randomHex, log }: AccessDeskDependencies,
  ): SecretSource | null {
    if (jwtSecret !== "") {
      const bytes = Buffer.byteLength(jwtSecret);
      if (bytes >= JWT_SECRET_BYTES_MIN) return new SecretSource(jwtSecret);
      throw new ConfigError(
        `JWT_SECRET must have at least ${JWT_SECRET_BYTES_MIN} bytes, got ${bytes}; make one with: openssl rand -hex 32`,
      );
    }
    if (jwksUrl !== "" || jwksFile !== "") return null;
    const own = openSecretFile(dataDir, JWT_SECRET_FILE, () => randomHex(OWN_SECRET_BYTES));
    const source = new SecretSource(own.text);
    source.follow(own.path, () => this.authenticator.tokenKeysChanged(), log);
    return source;
  }

  #openJwks({ jwksUrl, jwksFile, jwksRefreshSeconds }: AccessDeskOptions, { clock, log }: AccessDeskDependencies): JwksSource | null {
    if (jwksUrl === "" && jwksFile === "") return null;
    if (jwksUrl !== "" && jwksFile !== "")
      throw new ConfigError("JWKS_URL and JWKS_FILE are both set; set the one that tokens are checked with");
    const url = jwksUrl === "" ? null : parseUrl(jwksUrl);
    if (url === null) checkFile(jwksFile);
    const source = new JwksSource(
      { name: url === null ? "JWKS_FILE" : `JWKS_URL (${url.host})`, refreshMs: jwksRefreshSeconds * 1000, cooldownMs: JWKS_COOLDOWN_MS },
      {
        read: () => (url === null ? readJwksFile(jwksFile) : fetchJwks(url)),
        monotonicMs: () => clock.monotonicMs(),
        wallMs: () => clock.wallMs(),
        log,
        onChange: () => this.authenticator.tokenKeysChanged(),
      },
    );
    if (url === null) followFile(jwksFile, () => void source.load());
    return source;
  }
}

function makeSignIn(token: string, secret: SecretSource, options: AccessDeskOptions, madeMs: number, sessionCookie: () => string): SignIn {
  const { claims, issuer, audience } = options;
  const mint = async (content: { subject: string; tenant: string; role: string; issuedMs: number; lifetimeMs: number }) => {
    const { subject, tenant, role, issuedMs, lifetimeMs } = content;
    const named = { [claims.tenant]: tenant, [claims.role]: role };
    const to = { issuer: issuer || undefined, audience: audience || undefined };
    return mintToken(await secret.key, { subject, ...to, claims: named, issuedMs, lifetimeMs });
  };
  return new SignIn({ token, madeMs, sessionCookie }, { mint });
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
    throw new ConfigError(`JWKS_FILE cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
  const read = readJwks(text);
  if (!read.ok) throw new ConfigError(`JWKS_FILE cannot be used: ${read.message}`);
}
