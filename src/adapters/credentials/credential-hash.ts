// SHA-256 of credentials: what is stored and looked up instead of them.
import { createHash, hash, timingSafeEqual } from "node:crypto";

/** The name of a credential in maps: how long a look-up takes then says nothing of the credential. About 1 us for a token of 300 characters. */
export function credentialName(credential: string): string {
  return hash("sha256", credential, "base64url");
}

/** SHA-256 of a credential as raw bytes. */
export function credentialDigest(credential: string): Uint8Array {
  return new Uint8Array(createHash("sha256").update(credential).digest());
}

/** Whether a name is that of a stored digest; how long it takes says nothing of where they differ. */
export function isNameOf(name: string, digest: Uint8Array): boolean {
  const input = Buffer.from(name, "base64url");
  return input.length === digest.length && timingSafeEqual(input, digest);
}
