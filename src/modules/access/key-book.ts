// API keys: what each opens, and SHA-256 of its text. The text itself is in the answer that made it, and nowhere else.
import type { KeyValueStore, StoreOperation } from "../../adapters/storage/key-value-store.ts";
import { type AccessChange, KEY_SCOPES, type KeyScope } from "../../core/protocol/access.ts";
import { KeyBuilder } from "../../domain/codec/key.ts";
import { scan } from "../state/scan.ts";
import { nullable, number, oneOf, StoredForm, text } from "../state/stored-json.ts";

/** Subject of a key: this and its id. */
const KEY_SUBJECT = "key:";
/** Keys that keys made one after another, of a store in which the person behind them is not written down. */
const OWNERS_MAX = 16;

/** A stored key. */
export interface ApiKey {
  readonly keyId: string;
  readonly tenant: string;
  readonly name: string;
  readonly scope: KeyScope;
  /** SHA-256 of the whole key, base64url. */
  readonly digest: string;
  readonly rateLimitRps: number | null;
  readonly expiresMs: number | null;
  readonly createdMs: number;
  /** Subject of the person who made it; of a key that a key made the person behind that. */
  readonly createdBy: string;
  /** Id of the key that it stands for since a rotation. */
  readonly replacedKeyId: string | null;
}

const API_KEY = new StoredForm<ApiKey>("api_keys", {
  keyId: text,
  tenant: text,
  name: text,
  scope: oneOf(KEY_SCOPES),
  digest: text,
  rateLimitRps: nullable(number),
  expiresMs: nullable(number),
  createdMs: number,
  createdBy: text,
  replacedKeyId: nullable(text),
});

/** Stores a key. */
export function putKey(key: ApiKey): StoreOperation {
  return { table: "api_keys", key: storeKey(key.keyId), value: API_KEY.encode(key) };
}

/** Deletes a key. */
export function removeKey(keyId: string): StoreOperation {
  return { table: "api_keys", key: storeKey(keyId), value: undefined };
}

function storeKey(keyId: string): Uint8Array {
  return new KeyBuilder().text(keyId).finish();
}

/** The keys of all tenants: at most KEYS_PER_TENANT_MAX each. */
export class KeyBook {
  readonly #keys = new Map<string, ApiKey>();
  readonly #counts = new Map<string, number>();

  load(store: KeyValueStore): void {
    for (const { value } of scan(store, "api_keys")) this.put(API_KEY.decode(value));
  }

  /** Takes a key over; gives what the front has to know. */
  put(key: ApiKey): AccessChange {
    if (!this.#keys.has(key.keyId)) this.#counts.set(key.tenant, this.count(key.tenant) + 1);
    this.#keys.set(key.keyId, key);
    return accessChange(key);
  }

  remove({ keyId, tenant }: ApiKey): AccessChange {
    if (this.#keys.delete(keyId)) this.#counts.set(tenant, this.count(tenant) - 1);
    return { type: "key-gone", keyId };
  }

  has(keyId: string): boolean {
    return this.#keys.has(keyId);
  }

  /** A key of a tenant; those of others are not there. */
  find(tenant: string, keyId: string): ApiKey | undefined {
    const key = this.#keys.get(keyId);
    return key?.tenant === tenant ? key : undefined;
  }

  /** Person behind a subject: of a key whoever made it, as a key acts as its owner. */
  personOf(tenant: string, subject: string): string {
    let person = subject;
    for (let steps = 0; steps < OWNERS_MAX && person.startsWith(KEY_SUBJECT); steps++) {
      const maker = this.find(tenant, person.slice(KEY_SUBJECT.length))?.createdBy;
      if (maker === undefined) break;
      person = maker;
    }
    return person;
  }

  count(tenant: string): number {
    return this.#counts.get(tenant) ?? 0;
  }

  /** Keys of a tenant, newest first. */
  of(tenant: string): ApiKey[] {
    return [...this.#keys.values()].filter((key) => key.tenant === tenant).sort(newestFirst);
  }

  accessChanges(): AccessChange[] {
    return [...this.#keys.values()].map(accessChange);
  }
}

function newestFirst(a: ApiKey, b: ApiKey): number {
  return b.createdMs - a.createdMs || (a.keyId < b.keyId ? -1 : 1);
}

function accessChange({ keyId, tenant, scope, digest, rateLimitRps, expiresMs }: ApiKey): AccessChange {
  const bytes = new Uint8Array(Buffer.from(digest, "base64url"));
  return { type: "key", key: { keyId, tenant, scope, digest: bytes, rateLimitRps, expiresMs } };
}
