// Tenants and credentials as the front holds them: it decides on every request without asking anybody. Nothing here can be used to sign in.

/** Roles, the least first. */
export const ROLES = ["viewer", "operator", "admin", "super_admin", "system"] as const;
export type Role = (typeof ROLES)[number];

/** The remote address of a Unix socket's peers: they have none, and no address looks like this. */
export const UNIX_PEER = "unix";

/** Scopes of API keys, the least first. */
export const KEY_SCOPES = ["ingestion", "readonly", "readwrite", "admin"] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];

/** A tenant: what the front limits its requests by. */
export interface TenantRecord {
  readonly tenant: string;
  readonly plan: string;
}

/** An API key: SHA-256 of its text, and what it opens. */
export interface KeyRecord {
  readonly keyId: string;
  readonly tenant: string;
  readonly scope: KeyScope;
  readonly digest: Uint8Array;
  /** Requests a second; null = what the tenant's plan allows. */
  readonly rateLimitRps: number | null;
  /** Wall time from which on it opens nothing; null = never. */
  readonly expiresMs: number | null;
}

/** A user: what the tokens of a subject may do at most. */
export interface UserRecord {
  readonly tenant: string;
  readonly subject: string;
  readonly role: Role;
  readonly disabled: boolean;
}

/** Changes of the coordinator, each the whole of a thing as it is now, or that it is gone. */
export type AccessChange =
  | { readonly type: "tenant"; readonly tenant: TenantRecord }
  | { readonly type: "tenant-gone"; readonly tenant: string }
  | { readonly type: "key"; readonly key: KeyRecord }
  | { readonly type: "key-gone"; readonly keyId: string }
  | { readonly type: "user"; readonly user: UserRecord }
  | { readonly type: "user-gone"; readonly tenant: string; readonly subject: string };
