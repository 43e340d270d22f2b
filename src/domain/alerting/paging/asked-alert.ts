// What becomes of a firing alert each time it is asked: its page that something holds, its group, its repeat.
import { isFiring } from "./alert.ts";
import { GROUP_GATE, waitIsOver } from "./group-wait.ts";
import { decideGroup } from "./jump-group.ts";
import type { PageDecision } from "./page-decision.ts";
import { decideAgain } from "./page-pipeline.ts";
import { decideRepeat } from "./page-repeat.ts";
import type { PagingMemory } from "./paging-memory.ts";
import type { PagingSources } from "./paging-sources.ts";

/** Asks an alert, as the memory has it by now; the decisions that follow, on others too that close into it. */
export function askAlert(id: string, sources: PagingSources, memory: PagingMemory, nowMs: number): PageDecision[] {
  const alert = memory.alert(id);
  // Another that was asked before it may have taken it in.
  if (alert === undefined || !isFiring(alert)) return [];
  if (alert.snooze !== null) return [decideAgain(alert, sources, memory, nowMs) ?? []].flat();
  if (alert.heldBy === null) return [decideRepeat(alert, sources, memory, nowMs) ?? []].flat();
  if (alert.heldBy !== GROUP_GATE) return [decideAgain(alert, sources, memory, nowMs) ?? []].flat();
  return waitIsOver(memory.waitsSinceMs(alert), nowMs, sources.groupWaitMs) ? decideGroup(alert, sources, memory, nowMs) : [];
}
