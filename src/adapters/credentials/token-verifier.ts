// Checks JWTs: the signature, and the times, issuer and audience that they claim. Each key source has its own algorithms, so that no token can choose how it is
// checked: HS256 with the secret alone, RS256 and ES256 with the provider's keys alone; `none` and everything else is refused.
import { type CryptoKey, decodeProtectedHeader, errors, type JWTVerifyGetKey, type JWTVerifyOptions, jwtVerify } from "jose";
import type { JwksSource } from "./jwks-source.ts";

/** Bytes of the secret of HS256: as many as its hash has (RFC 7518, 3.2). */
export const JWT_SECRET_BYTES_MIN = 32;

const SECRET_ALGORITHM = "HS256";
const PROVIDER_ALGORITHMS: readonly string[] = ["RS256", "ES256"];

export interface TokenVerifierOptions {
  /** Undefined: tokens of any issuer, or audience, are taken. */
  readonly issuer: string | undefined;
  readonly audience: string | undefined;
  readonly clockSkewSeconds: number;
}

export interface TokenVerifierDependencies {
  /** The secret of HS256, null where it is not used. */
  secret(): Promise<CryptoKey> | null;
  readonly jwks: JwksSource | null;
}

/** The claims of a genuine token, or why it is refused; `isTemporary` where that says nothing of the token. */
export type VerifyOutcome =
  | { readonly ok: true; readonly claims: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly isTemporary: boolean; readonly message: string };

/** Imports the secret of HS256. */
export function importSecret(secret: string): Promise<CryptoKey> {
  const bytes = new TextEncoder().encode(secret);
  return crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign", "verify"]);
}

/** Verifies tokens; knows nothing of tenants, users and roles. */
export class TokenVerifier {
  readonly #options: TokenVerifierOptions;
  readonly #dependencies: TokenVerifierDependencies;

  constructor(options: TokenVerifierOptions, dependencies: TokenVerifierDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  /** Verifies one token at a wall time; never rejects. */
  async verify(token: string, nowMs: number): Promise<VerifyOutcome> {
    const { jwks } = this.#dependencies;
    const algorithm = algorithmOf(token);
    if (algorithm === undefined) return refused("the token is not a JWT: three parts of base64url with dots between them");
    const secret = algorithm === SECRET_ALGORITHM ? this.#dependencies.secret() : null;
    if (secret !== null) return this.#check(token, await secret, algorithm, nowMs);
    if (jwks !== null && PROVIDER_ALGORITHMS.includes(algorithm)) return this.#checkWithProvider(jwks, token, algorithm, nowMs);
    return refused(`the token's algorithm is ${JSON.stringify(algorithm.slice(0, 20))}; taken here: ${this.#algorithms()}`);
  }

  async #checkWithProvider(jwks: JwksSource, token: string, algorithm: string, nowMs: number): Promise<VerifyOutcome> {
    const keys = await jwks.keys();
    if (keys === undefined) return unavailable("the keys that tokens are checked with cannot be read now; try again shortly");
    const outcome = await this.#check(token, keys, algorithm, nowMs);
    if (outcome.ok || !outcome.isUnknownKey || !(await jwks.refresh())) return outcome;
    return this.#check(token, (await jwks.keys()) ?? keys, algorithm, nowMs);
  }

  async #check(
    token: string,
    key: CryptoKey | JWTVerifyGetKey,
    algorithm: string,
    nowMs: number,
  ): Promise<VerifyOutcome & { readonly isUnknownKey?: boolean }> {
    const { issuer, audience, clockSkewSeconds } = this.#options;
    const options: JWTVerifyOptions = {
      algorithms: [algorithm],
      clockTolerance: clockSkewSeconds,
      currentDate: new Date(nowMs),
      requiredClaims: ["sub", "exp"],
      ...(issuer === undefined ? {} : { issuer }),
      ...(audience === undefined ? {} : { audience }),
    };
    try {
      const { payload } = typeof key === "function" ? await jwtVerify(token, key, options) : await jwtVerify(token, key, options);
      return { ok: true, claims: payload };
    } catch (error) {
      return { ...refused(explain(error)), isUnknownKey: error instanceof errors.JWKSNoMatchingKey };
    }
  }

  #algorithms(): string {
    const names = this.#dependencies.secret() === null ? [] : [SECRET_ALGORITHM];
    return [...names, ...(this.#dependencies.jwks === null ? [] : PROVIDER_ALGORITHMS)].join(", ");
  }
}

function algorithmOf(token: string): string | undefined {
  try {
    const { alg } = decodeProtectedHeader(token);
    return typeof alg === "string" ? alg : undefined;
  } catch {
    return undefined;
  }
}

function refused(message: string): VerifyOutcome & { readonly ok: false } {
  return { ok: false, isTemporary: false, message };
}

function unavailable(message: string): VerifyOutcome {
  return { ok: false, isTemporary: true, message };
}

/** Error in words that repeat nothing of the token. */
function explain(error: unknown): string {
  if (error instanceof errors.JWTExpired) return "the token has expired; get a new one";
  if (error instanceof errors.JWTClaimValidationFailed) return explainClaim(error);
  if (error instanceof errors.JWSSignatureVerificationFailed) return "the token's signature is not that of the key it was checked with";
  if (error instanceof errors.JWKSNoMatchingKey) return "the token was signed with a key (kid) that the identity provider does not name";
  if (error instanceof errors.JWKSMultipleMatchingKeys) return "the token names no key (kid), and more than one would fit";
  return "the token is not a well-formed JWT";
}

function explainClaim({ claim, reason }: InstanceType<typeof errors.JWTClaimValidationFailed>): string {
  if (reason === "missing") return `the token has no claim ${claim}`;
  if (claim === "nbf" && reason === "check_failed") return "the token is not valid yet (nbf)";
  return `the token's claim ${claim} is not what is wanted here`;
}
