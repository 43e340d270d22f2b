// Makes JWTs with the server's own secret: `vedette token`, and the session of a sign-in link.
import { type CryptoKey, SignJWT } from "jose";

/** Claims of a token. */
export interface TokenContent {
  readonly subject: string;
  readonly issuer: string | undefined;
  readonly audience: string | undefined;
  /** Further claims by name: tenant and role. */
  readonly claims: Readonly<Record<string, string>>;
  readonly issuedMs: number;
  readonly lifetimeMs: number;
}

/** Signs a token with HS256. */
export function mintToken(key: CryptoKey, { subject, issuer, audience, claims, issuedMs, lifetimeMs }: TokenContent): Promise<string> {
  const issued = Math.floor(issuedMs / 1000);
  const token = new SignJWT({ ...claims })
    .setProtectedHeader({ alg: "HS256", typ: "JWT" })
    .setSubject(subject)
    .setIssuedAt(issued)
    .setExpirationTime(issued + Math.ceil(lifetimeMs / 1000));
  if (issuer !== undefined) token.setIssuer(issuer);
  if (audience !== undefined) token.setAudience(audience);
  return token.sign(key);
}
