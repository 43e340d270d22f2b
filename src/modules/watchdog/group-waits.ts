// The clock of waits for a group: when that of an alert is over, it is asked, with what turns out to be one with it. Where services of an environment wait that may be a
// cascade, or a part of one that people know of, it is looked first whether calls make them one.
import { StoreError } from "../../adapters/storage/key-value-store.ts";
import { background, task } from "../../core/faults/guard.ts";
import { CASCADE_SERVICES_MIN } from "../../domain/alerting/cascade.ts";
import type { Alert } from "../../domain/alerting/paging/alert.ts";
import { GROUP_LATELY_MS } from "../../domain/alerting/paging/group-wait.ts";
import type { PagingMemory } from "../../domain/alerting/paging/paging-memory.ts";
import { scopeText } from "../../domain/alerting/paging/service-scope.ts";
import { EngineUnavailableError } from "../engines/engine-client.ts";
import type { WatchdogStage } from "../state/watchdog-stage.ts";
import type { StagesContext } from "./stages-context.ts";
import { askInSteps } from "./suppressed-findings.ts";

/** After a store that took nothing. */
const RETRY_MS = 1_000;

export class GroupWaits {
  readonly #context: StagesContext;
  readonly #cascade: Pick<WatchdogStage, "run">;
  #running = false;
  #notBeforeMs = 0;

  /** `cascade` looks for services that fail together. */
  constructor(context: StagesContext, cascade: Pick<WatchdogStage, "run">) {
    this.#context = context;
    this.#cascade = cascade;
  }

  /** Asks what is due; the monotonic time at which to call again. */
  step(): number {
    const { state, paging, nowMs, monotonicMs } = this.#context;
    if (this.#running) return Number.POSITIVE_INFINITY;
    const dueMs = state.alerts.memory.waiting.firstSinceMs + paging.groupWaitMs;
    const inMs = Math.max(dueMs, this.#notBeforeMs) - nowMs();
    if (inMs > 0) return monotonicMs() + inMs;
    this.#running = true;
    background(task("the waits for groups of alerts"), this.#ask());
    return Number.POSITIVE_INFINITY;
  }

  async #ask(): Promise<void> {
    const { state, paging, nowMs, wake } = this.#context;
    const { memory } = state.alerts;
    const { waiting } = memory;
    try {
      if (mayBeCascade(waiting, memory, nowMs())) await this.#cascade.run({ number: 0, nowMs: nowMs() });
      await askInSteps(this.#context, waiting.waitingBy(nowMs() - paging.groupWaitMs));
    } catch (error) {
      if (!(error instanceof EngineUnavailableError || error instanceof StoreError)) throw error;
      this.#notBeforeMs = nowMs() + RETRY_MS;
    } finally {
      this.#running = false;
      wake?.();
    }
  }
}

/** Whether so many services of one environment wait as make a cascade, of which one may have been told at once, or one where a group was told lately. */
function mayBeCascade(waiting: Iterable<Alert>, memory: Pick<PagingMemory, "isGroupKnownSince">, nowMs: number): boolean {
  const services = new Map<string, Set<string>>();
  for (const { state } of waiting) {
    const { tenant, environment, serviceId } = state.key;
    if (memory.isGroupKnownSince({ tenant, environment }, nowMs - GROUP_LATELY_MS)) return true;
    const key = scopeText({ tenant, environment, serviceId: "" });
    const found = (services.get(key) ?? new Set()).add(serviceId);
    if (found.size >= CASCADE_SERVICES_MIN - 1) return true;
    services.set(key, found);
  }
  return false;
}
