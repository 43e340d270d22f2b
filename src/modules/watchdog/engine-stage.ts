// A stage that scans over all engines' services at once, one question an engine at a time.
import { ownMember, setMember } from "../../core/collections/own-member.ts";
import type { DetectorName, WatchdogCounts } from "../../core/protocol/engine-control.ts";
import type { EngineClient } from "../engines/engine-client.ts";
import type { Cycle, WatchdogStage } from "../state/watchdog-stage.ts";
import type { CyclePace } from "./cycle-pace.ts";

export interface EngineStageDependencies {
  readonly engines: EngineClient;
  readonly pace: CyclePace;
  monotonicMs(): number;
  sleep(ms: number): Promise<void>;
  /** Takes what an engine tells besides its frames. */
  take?(engine: number, found: unknown, cycle: Cycle): void;
}

/** The stage of a pass that is made every so many cycles. Passes are made known to the pace in the order in which their stages are made. */
export function engineStage(detector: DetectorName, every: number, dependencies: EngineStageDependencies): WatchdogStage {
  const { engines, pace, monotonicMs, sleep, take } = dependencies;
  pace.add(detector, every);
  const scan = async (engine: number, cycle: Cycle, total: StageTotal): Promise<void> => {
    const enginePace = pace.paceOf(detector, engine);
    for (let step = enginePace.first(monotonicMs()); ; ) {
      const { workMs, sliceMs, yields } = step;
      const askedMs = monotonicMs();
      const answer = await engines.watchdog(engine, { cycle: cycle.number, detector, nowMs: cycle.nowMs, workMs, sliceMs, yields });
      const startMs = monotonicMs();
      if (answer.found !== undefined) take?.(engine, answer.found, cycle);
      total.add(answer.counts);
      const nowMs = monotonicMs();
      const tookMs = answer.tookMs + nowMs - startMs;
      if (answer.done) {
        enginePace.end(tookMs);
        total.workMs += enginePace.workMs;
        return;
      }
      const { share, wasBusy, waits } = answer;
      step = enginePace.next({ tookMs, elapsedMs: nowMs - askedMs, share, wasBusy, waits }, nowMs);
      if (step.restMs > 0) await sleep(step.restMs);
    }
  };
  return {
    name: detector,
    every,
    run: async (cycle) => {
      const total = new StageTotal();
      await engines.withEach((engine) => scan(engine, cycle, total));
      return { counts: total.counts(), workMs: total.workMs };
    },
  };
}

/** Sums of a pass's answers. */
class StageTotal {
  workMs = 0;
  #evaluated = 0;
  #learning = 0;
  readonly #skipped: Record<string, number> = {};

  add({ evaluated, learning, skipped }: WatchdogCounts): void {
    this.#evaluated += evaluated;
    this.#learning += learning;
    for (const [reason, count] of Object.entries(skipped))
      setMember(this.#skipped, reason, (ownMember(this.#skipped, reason) ?? 0) + count);
  }

  counts(): WatchdogCounts {
    return { evaluated: this.#evaluated, learning: this.#learning, skipped: this.#skipped };
  }
}
