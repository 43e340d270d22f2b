// Tenants and credentials as the front holds them: it decides on every request without asking anybody. Nothing here can be used to sign in.

/** A tenant: what the front limits its requests by. */
export interface TenantRecord {
  readonly tenant: string;
  readonly plan: string;
}

/** What the coordinator has changed, each the whole of a thing as it is now, or that it is gone. */
export type AccessChange =
  | { readonly type: "tenant"; readonly tenant: TenantRecord }
  | { readonly type: "tenant-gone"; readonly tenant: string };
