// What the coordinator folds of status and coverage.
// GET /api/v1/data-faults and POST /api/v1/data-faults/acknowledge: what of the data folder cannot be read, and that an operator has seen it.
import { done, type Outcome, refused } from "../../api/refusal.ts";
import type { RetainedDataFault } from "../../core/protocol/data-fault.ts";
import type { Principal } from "../../core/protocol/query.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import { reaches } from "../../domain/access/roles.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import type { NounModule } from "../state/noun-module.ts";
import { coverage } from "./coverage-handler.ts";
import type { StatusContext } from "./status-context.ts";
import { status } from "./status-handler.ts";

export const STATUS = {
  handlers: {
    status,
    dataFaults: listDataFaults,
    acknowledgeDataFaults,
    coverage,
  },
} as const satisfies NounModule;

/** Every fault that is kept, the oldest first. */
function listDataFaults(context: StatusContext, { principal }: QueryRequest<"dataFaults">): Outcome<unknown> {
  return mayAct(context, principal) ? done(faultsView(context)) : ofSuperAdmins();
}

/** Acknowledges all that are open; the server is no longer degraded because of them. */
function acknowledgeDataFaults(
  context: StatusContext,
  request: QueryRequest<"acknowledgeDataFaults">,
): Outcome<unknown> | Promise<Outcome<unknown>> {
  const { dataFaults } = context;
  if (!mayAct(context, request.principal)) return ofSuperAdmins();
  return context
    .change<unknown>(request, () => {
      const open = dataFaults.faults.filter(({ acknowledged }) => acknowledged === null);
      if (open.length === 0) return { ok: "unchanged", outcome: done(faultsView(context)) };
      const after = { acknowledged: open.map(({ id }) => id) };
      return {
        ok: true,
        note: { action: "data_faults.acknowledge", object: "data folder", before: null, after },
        operations: [],
        apply: () => dataFaults.acknowledge(request.principal.subject),
        outcome: { ok: true, value: { acknowledged: open.length } },
      };
    })
    .then((outcome) => (outcome.ok ? done(faultsView(context)) : outcome));
}

/** The folder is everybody's: where there are several tenants, one's operator does not speak for the others. */
function mayAct({ state }: StatusContext, { role }: Principal): boolean {
  return reaches(role, "super_admin") || state.configured.tenants.size === 1;
}

function ofSuperAdmins() {
  return refused("forbidden", "the data folder holds the data of several tenants: this needs the role super_admin");
}

function faultsView({ dataFaults }: StatusContext) {
  return { faults: dataFaults.faults.map(faultView), open: dataFaults.open, total: dataFaults.faults.length };
}

function faultView({ id, kind, what, sinceMs, acknowledged }: RetainedDataFault) {
  return {
    id,
    kind,
    what,
    since: formatRfc3339(sinceMs),
    acknowledged_by: acknowledged?.by ?? null,
    acknowledged_at: acknowledged === null ? null : formatRfc3339(acknowledged.atMs),
  };
}
