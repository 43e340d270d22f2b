// A JSON Web Key Set (RFC 7517) as somebody else serves it: what of it is taken.
import type { JSONWebKeySet, JWK } from "jose";

/** Keys of one set; providers have two or three, and one more while they rotate. */
const JWKS_KEYS_MAX = 100;
/** Bytes of one set: 100 keys of 4096 bits with certificates. */
export const JWKS_BYTES_MAX = 512 * 1024;

/** Shorter RSA keys can be factored. */
const RSA_BITS_MIN = 2048;
/** Longer ones make each look at a forged token expensive. */
const RSA_BITS_MAX = 8192;
/** Only members of public keys pass: a set that shows private ones is not made worse here, and symmetric keys never enter. */
const PUBLIC_MEMBERS = ["kty", "kid", "use", "alg", "key_ops", "n", "e", "crv", "x", "y"] as const;

/** The usable keys, or why there are none. */
export type JwksOutcome =
  | { readonly ok: true; readonly set: JSONWebKeySet; readonly ignored: number }
  | { readonly ok: false; readonly message: string };

/** Reads a set; keys that neither RS256 nor ES256 can use are left out and counted. */
export function readJwks(text: string): JwksOutcome {
  const keys = keyList(text);
  if (keys === undefined) return { ok: false, message: "it is not a JSON object with an array `keys`" };
  if (keys.length > JWKS_KEYS_MAX) return { ok: false, message: `it has ${keys.length} keys, at most ${JWKS_KEYS_MAX} are taken` };
  const usable = keys.filter(isUsable).map(publicPart);
  if (usable.length === 0) return { ok: false, message: `none of its ${keys.length} keys can check RS256 or ES256` };
  return { ok: true, set: { keys: usable }, ignored: keys.length - usable.length };
}

function keyList(text: string): unknown[] | undefined {
  try {
    const set: unknown = JSON.parse(text);
    const keys = typeof set === "object" && set !== null ? (set as { keys?: unknown }).keys : undefined;
    return Array.isArray(keys) ? keys : undefined;
  } catch {
    return undefined;
  }
}

function isUsable(key: unknown): key is JWK {
  if (typeof key !== "object" || key === null) return false;
  const { kty, use, alg, n, e, crv, x, y, kid } = key as JWK;
  if (use !== undefined && use !== "sig") return false;
  if (kid !== undefined && typeof kid !== "string") return false;
  if (kty === "RSA") return isText(e) && (alg === undefined || alg === "RS256") && isText(n) && isStrong(n);
  return kty === "EC" && crv === "P-256" && isText(x) && isText(y) && (alg === undefined || alg === "ES256");
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function isStrong(modulus: string): boolean {
  const bits = Buffer.from(modulus, "base64url").length * 8;
  return bits >= RSA_BITS_MIN && bits <= RSA_BITS_MAX;
}

function publicPart(key: JWK): JWK {
  return Object.fromEntries(PUBLIC_MEMBERS.filter((name) => Object.hasOwn(key, name)).map((name) => [name, key[name]])) as JWK;
}
