// Keys of deliveries: the tenant, what it is a delivery of (an alert, a webhook, a run), and what tells it from the others of that.
import { KeyReader } from "../../domain/codec/key.ts";

/** A key as text: hex. */
export function keyText(key: Uint8Array): string {
  return Buffer.from(key).toString("hex");
}

export function keyOfText(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, "hex"));
}

/** The tenant that a key begins with. */
export function tenantOfKey(text: string): string {
  return new KeyReader(keyOfText(text)).text();
}
