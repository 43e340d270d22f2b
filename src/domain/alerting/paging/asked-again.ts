// Which open findings are asked about again each cycle: those whose reason to be held has ended, those whose alert ended without them, and those that have become worse. An alert that is held
// asks for all of its findings (page-pipeline.ts, decideAgain); what is here has no alert that could.
import { MINUTE_MS } from "../../../core/time/durations.ts";
import { INGESTION_SERVICE } from "../../detection/service/tenant-silence.ts";
import { isFiring } from "./alert.ts";
import type { PagingMemory } from "./paging-memory.ts";
import type { PagingSources } from "./paging-sources.ts";

/** Gates of a finding that open by themselves or by somebody's setting, while the finding stays what it is. */
export const ENDING_GATES: ReadonlySet<string> = new Set(["warmup", "minimum_traffic", "exclusion"]);

/** What the last decision on an open finding has left. */
export interface OpenFinding {
  /** The gate that held it, or its rise, before it came to an alert; null where none did. */
  readonly suppressedBy: string | null;
  /** The alert that it belongs to. */
  readonly alertId: string | null;
  /** When it becomes more severe than it was decided to be; null where it does not. */
  readonly risesAtMs: number | null;
}

/** Why an open finding is to be asked about again now: what held it may be over, its alert has left it behind, or it has lasted so long that it is worse; undefined where nothing is. */
export function askedAgain(
  { suppressedBy, alertId, risesAtMs }: OpenFinding,
  sources: PagingSources,
  memory: PagingMemory,
  nowMs: number,
): "held" | "left" | "worse" | undefined {
  const alert = alertId === null ? undefined : memory.current(alertId);
  const isFiringOwn = alert !== undefined && isFiring(alert);
  if (suppressedBy !== null && (alertId === null || isFiringOwn)) return mayOpen(suppressedBy, sources, nowMs) ? "held" : undefined;
  if (isFiringOwn) return risesAtMs !== null && nowMs >= risesAtMs ? "worse" : undefined;
  // What somebody resolved by hand is theirs: it stays quiet. So do services whose silence a tenant's silence has told.
  if (alert === undefined || alert.state.key.serviceId === INGESTION_SERVICE) return undefined;
  return alert.history.findLast(({ kind }) => kind === "resolved")?.by === null ? "left" : undefined;
}

function mayOpen(gate: string, { startedAtMs, warmUpMinutes }: PagingSources, nowMs: number): boolean {
  if (gate === "warmup") return nowMs - startedAtMs >= warmUpMinutes * MINUTE_MS;
  return ENDING_GATES.has(gate);
}
