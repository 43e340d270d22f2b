/**
 * Signatures of Standard Webhooks 1.0.0: `v1` is HMAC-SHA256 by the webhook's secret, `v1a` Ed25519 by the server's key. Signed is `id.timestamp.body`.
 * A secret that begins with whsec_ is base64 of its bytes; any other is its own text.
 */
import { createHmac, createPrivateKey, createPublicKey, type KeyObject, sign } from "node:crypto";

const SECRET_PREFIX = "whsec_";
const PUBLIC_PREFIX = "whpk_";
const RAW_KEY_BYTES = 32;

export interface SignedMessage {
  readonly id: string;
  readonly timestampSeconds: number;
  readonly body: string;
}

/** The bytes of a secret; null where it says that it is base64 and is none. */
export function secretBytes(secret: string): Uint8Array | null {
  if (!secret.startsWith(SECRET_PREFIX)) return Buffer.from(secret, "utf8");
  const text = secret.slice(SECRET_PREFIX.length);
  const bytes = Buffer.from(text, "base64");
  const isBase64 = /^[A-Za-z0-9+/]+={0,2}$/.test(text) && bytes.length > 0;
  return isBase64 ? bytes : null;
}

/** The header webhook-signature. */
export function signatures(message: SignedMessage, secrets: readonly string[], key: KeyObject | undefined): string {
  const content = `${message.id}.${message.timestampSeconds}.${message.body}`;
  const symmetric = secrets.map((secret) => {
    const bytes = secretBytes(secret) ?? Buffer.alloc(0);
    return `v1,${createHmac("sha256", bytes).update(content).digest("base64")}`;
  });
  const asymmetric = key === undefined ? [] : [`v1a,${sign(null, Buffer.from(content), key).toString("base64")}`];
  return [...symmetric, ...asymmetric].join(" ");
}

/** PKCS #8 of an Ed25519 key, up to its 32 bytes (RFC 8410). */
const PKCS8_HEAD = Buffer.from("302e020100300506032b657004220420", "hex");

/** The server's private key, which follows from its own secret: PKCS #8, DER, base64. */
export function signingKeyOf(serverSecret: Uint8Array): string {
  const seed = createHmac("sha256", serverSecret).update("webhook signatures v1a").digest();
  return Buffer.concat([PKCS8_HEAD, seed]).toString("base64");
}

export function signingKey(base64: string): KeyObject {
  return createPrivateKey({ key: Buffer.from(base64, "base64"), format: "der", type: "pkcs8" });
}

/** The public key as receivers take it: whpk_ and base64 of its 32 bytes, and as PEM. */
export function publicKeyOf(base64: string): { readonly standard: string; readonly pem: string } {
  const key = createPublicKey(signingKey(base64));
  const der = key.export({ format: "der", type: "spki" });
  const standard = `${PUBLIC_PREFIX}${der.subarray(der.length - RAW_KEY_BYTES).toString("base64")}`;
  return { standard, pem: key.export({ format: "pem", type: "spki" }).toString() };
}
