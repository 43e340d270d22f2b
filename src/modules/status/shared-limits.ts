// What is said about the limits that tenants share: a tenant's own places in coverage, and in the status who was refused most.
import { SHARE_REFUSALS_REPORTED_MAX } from "../../core/config/shared-limits.ts";
import type { ShareRow } from "../../core/protocol/shares.ts";
import { EngineUnavailableError } from "../engines/engine-client.ts";
import type { StatusContext } from "./status-context.ts";

/** Each engine has all of them, as the coordinator has. */
const RETAINED_BY_EACH_ENGINE = "metric_metadata";

interface SharedLimitView {
  readonly limit: string;
  readonly held: number;
  readonly refused_total: number;
}

/** A tenant's places of every limit, by name; `front` are those that the coordinator cannot know. */
export async function ownSharedLimits(context: StatusContext, tenant: string, front: readonly ShareRow[]): Promise<SharedLimitView[]> {
  const rows = [...context.state.shares.of(tenant), ...front, ...(await ofEngines(context, tenant))];
  return added(rows).map(({ limit, used, refused }) => ({ limit, held: used, refused_total: refused }));
}

/** The tenants that were refused most, the first of all first. */
export async function refusedTenants(context: StatusContext, front: readonly ShareRow[]) {
  const rows = [...context.state.shares.refusals(SHARE_REFUSALS_REPORTED_MAX), ...front, ...(await ofEngines(context, null))];
  return added(rows)
    .sort((a, b) => b.refused - a.refused)
    .slice(0, SHARE_REFUSALS_REPORTED_MAX)
    .map(({ tenant, limit, used, refused }) => ({ tenant_id: tenant, limit, held: used, refused_total: refused }));
}

/** An engine that does not answer is left out. */
async function ofEngines({ engines }: StatusContext, tenant: string | null): Promise<ShareRow[]> {
  const asked = Array.from({ length: engines.count }, async (_, engine) => {
    try {
      return await engines.shares(engine, tenant);
    } catch (error) {
      if (!(error instanceof EngineUnavailableError)) throw error;
      return [];
    }
  });
  return (await Promise.all(asked)).flat();
}

/** One row a limit and tenant, by name. */
function added(rows: readonly ShareRow[]): ShareRow[] {
  const sums = new Map<string, ShareRow>();
  for (const row of rows) {
    const key = JSON.stringify([row.limit, row.tenant]);
    const before = sums.get(key);
    const used = before?.used ?? 0;
    const all = row.limit === RETAINED_BY_EACH_ENGINE ? Math.max(used, row.used) : used + row.used;
    sums.set(key, { ...row, used: all, refused: row.refused + (before?.refused ?? 0) });
  }
  return [...sums.values()].sort((a, b) => (a.limit < b.limit ? -1 : a.limit > b.limit ? 1 : 0));
}
