// API keys: what each opens, and SHA-256 of its text. The text itself is in the answer that made it, and nowhere else.
import { type AccessChange, KEY_SCOPES, type KeyScope } from "../../core/protocol/access.ts";
import { KeyBuilder } from "../../domain/codec/key.ts";
import { nullable, number, oneOf, StoredForm, text } from "../state/stored-json.ts";
import { type StoredKind, StoredTable } from "../state/stored-table.ts";

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

const API_KEYS: StoredKind<ApiKey> = {
  table: "api_keys",
  form: new StoredForm<ApiKey>("api_keys", {
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
  }),
  key: ({ keyId }) => new KeyBuilder().text(keyId).finish(),
  idOf: ({ keyId }) => keyId,
};

/** The keys of all tenants: at most KEYS_PER_TENANT_MAX each. */
export class KeyBook extends StoredTable<ApiKey> {
  constructor() {
    super(API_KEYS);
  }

  /** Returns whether any tenant has a key of this id. */
  isTaken(keyId: string): boolean {
    return [...this.tenants].some((tenant) => this.find(tenant, keyId) !== undefined);
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

  /** Keys of a tenant, newest first. */
  override of(tenant: string): ApiKey[] {
    return super.of(tenant).sort((a, b) => b.createdMs - a.createdMs);
  }

  accessChanges(): AccessChange[] {
    return [...this.all()].map(keyChange);
  }
}

/** Key as the front has to know it. */
export function keyChange({ keyId, tenant, scope, digest, rateLimitRps, expiresMs }: ApiKey): AccessChange {
  const bytes = new Uint8Array(Buffer.from(digest, "base64url"));
  return { type: "key", key: { keyId, tenant, scope, digest: bytes, rateLimitRps, expiresMs } };
}
