/**
 * The Watchdog: once an interval a cycle of passes in a fixed order. Most passes scan over the engines' services in slices; some look at what the coordinator
 * itself knows. A cycle never overlaps with the next: one that takes longer than its interval is followed at once by a single one, however many were missed.
 * It runs beside the steps of the coordinator, at a pace that leaves the stream its time (cycle-pace.ts).
 */
import { StoreError } from "../../adapters/storage/key-value-store.ts";
import { background, task } from "../../core/faults/guard.ts";
import type { WatchdogCounts } from "../../core/protocol/engine-control.ts";
import { EngineUnavailableError } from "../engines/engine-client.ts";
import type { CoordinatorCounters } from "../state/coordinator-counters.ts";
import type { Cycle, WatchdogStage } from "../state/watchdog-stage.ts";
import type { CyclePace } from "./cycle-pace.ts";

/** While a cycle takes longer than its interval, its end is looked for this often. */
const OVERDUE_CHECK_MS = 100;

export interface WatchdogOptions {
  /** WATCHDOG_INTERVAL_SECONDS in ms; no cycle runs where it is undefined. */
  readonly intervalMs: number | undefined;
}

export interface WatchdogDependencies {
  readonly pace: CyclePace;
  readonly counters: CoordinatorCounters;
  nowMs(): number;
  monotonicMs(): number;
  /** Told after each cycle that came to its end, and each that the disk refused: the number of the former since the start. The dead-man's switch counts; systemd, which would only start the server over the same disk again, hears of both. */
  cycleEnded(completed: number): void;
}

/** State of one pass in the status. */
export interface StageFacts {
  readonly name: string;
  readonly lastRunMs: number;
  readonly workMs: number;
  readonly counts: WatchdogCounts;
}

export interface WatchdogFacts {
  readonly state: "disabled" | "idle" | "ok" | "behind";
  readonly cycles: number;
  readonly failures: number;
  /** End of the last cycle by the wall clock; 0 before the first. */
  readonly lastRunMs: number;
  /** Duration of the last cycle, from beginning to end. */
  readonly durationMs: number;
  readonly stages: readonly StageFacts[];
}

export class Watchdog {
  readonly #options: WatchdogOptions;
  readonly #dependencies: WatchdogDependencies;
  readonly #stages: readonly WatchdogStage[];
  readonly #facts = new Map<string, StageFacts>();
  #running = false;
  #cycle = 0;
  #dueMs = Number.NEGATIVE_INFINITY;
  #completed = 0;
  #failures = 0;
  #lastRunMs = 0;
  #durationMs = 0;
  #freshUntilMs = Number.POSITIVE_INFINITY;

  constructor(options: WatchdogOptions, stages: readonly WatchdogStage[], dependencies: WatchdogDependencies) {
    this.#options = options;
    this.#stages = stages;
    this.#dependencies = dependencies;
  }

  /** Begins a cycle when it is time, and returns the monotonic time at which to call again. */
  step(): number {
    const { intervalMs } = this.#options;
    if (intervalMs === undefined) return Number.POSITIVE_INFINITY;
    const nowMs = this.#dependencies.monotonicMs();
    if (this.#freshUntilMs === Number.POSITIVE_INFINITY) this.#freshUntilMs = nowMs + 2 * intervalMs;
    if (this.#running) return Math.max(this.#dueMs, nowMs + OVERDUE_CHECK_MS);
    if (nowMs < this.#dueMs) return this.#dueMs;
    this.#dueMs = this.#dueMs + intervalMs > nowMs ? this.#dueMs + intervalMs : nowMs + intervalMs;
    background(task("a cycle of the Watchdog"), this.#run(nowMs));
    return this.#dueMs;
  }

  facts(): WatchdogFacts {
    const { monotonicMs } = this.#dependencies;
    const state = this.#options.intervalMs === undefined ? "disabled" : this.#state(monotonicMs());
    const stages = this.#stages.flatMap(({ name }) => this.#facts.get(name) ?? []);
    return { state, cycles: this.#completed, failures: this.#failures, lastRunMs: this.#lastRunMs, durationMs: this.#durationMs, stages };
  }

  #state(nowMs: number): "idle" | "ok" | "behind" {
    if (nowMs > this.#freshUntilMs) return "behind";
    return this.#completed === 0 ? "idle" : "ok";
  }

  /** An engine or a store that does not answer ends the cycle, and the next begins anew; a defect is counted as a fault besides, and a row that cannot be read ends the thread. */
  async #run(startMs: number): Promise<void> {
    const { counters, pace, nowMs, monotonicMs, cycleEnded } = this.#dependencies;
    const intervalMs = this.#options.intervalMs as number;
    this.#running = true;
    try {
      const cycle: Cycle = { number: ++this.#cycle, nowMs: nowMs() };
      pace.begin(cycle.number, startMs);
      for (const stage of this.#stages) {
        if ((cycle.number - 1) % stage.every !== 0) continue;
        const { counts, workMs } = await stage.run(cycle);
        this.#facts.set(stage.name, { name: stage.name, lastRunMs: nowMs(), workMs, counts });
        counters.add("watchdogSeconds", workMs / 1000);
      }
      this.#completed++;
      this.#lastRunMs = nowMs();
      this.#durationMs = monotonicMs() - startMs;
      this.#freshUntilMs = monotonicMs() + 2 * intervalMs;
      counters.add("watchdogCycles", 1);
      counters.set("watchdogCycleSeconds", this.#durationMs / 1000);
      cycleEnded(this.#completed);
    } catch (error) {
      if (!(error instanceof EngineUnavailableError || error instanceof StoreError)) throw error;
      this.#failures++;
      counters.add("watchdogFailures", 1);
      if (error instanceof StoreError) cycleEnded(this.#completed);
    } finally {
      this.#running = false;
    }
  }
}
