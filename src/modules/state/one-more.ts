// Room for one more row of a kind that tenants configure.
import { refused } from "../../api/refusal.ts";
import type { ShareLedger } from "../../core/fairness/share-ledger.ts";

/** What a tenant has of a kind, and may have. */
export interface TenantRows {
  readonly shares: ShareLedger;
  readonly tenant: string;
  readonly mostOfTenant: number;
  /** The kind, as in "there are 3 webhooks of yours". */
  readonly what: string;
  readonly advice?: string;
}

/** Refuses one more where there is no room for it, which is counted where it is the server that has none; undefined where there is. */
export function refuseOneMore({ shares, tenant, mostOfTenant, what, advice = "delete one first" }: TenantRows) {
  const own = shares.used(tenant);
  if (shares.admits(tenant) && own < mostOfTenant) return undefined;
  const capacity = `there is room for ${mostOfTenant} and ${shares.most}`;
  return refused("unprocessable", `there are ${own} ${what} of yours and ${shares.taken} in all; ${capacity}: ${advice}`);
}
