// The Watchdog's stage over SLOs: how fast each burns its error budget. Of several of one service the worst is told.
import { DETECTOR_BURN, WorstBurns } from "../../../domain/detection/service/burn-finding.ts";
import { RuleEpisodes } from "../../anomalies/rule-episodes.ts";
import type { Cycle, StageOutcome, WatchdogStage } from "../../state/watchdog-stage.ts";
import type { StagesContext } from "../stages-context.ts";

/** An evaluation adds up 4,320 minutes for each pair of windows: 10 to 30 us. */
const WINDOWS_PER_SLICE = 50;
/** Cycles between two looks for rows that are past. */
const FORGET_CYCLES = 60;

export class SloStage implements WatchdogStage {
  readonly name = "slo_burn";
  readonly every = 1;
  readonly #context: StagesContext;
  readonly #episodes: RuleEpisodes;
  #isRestored = false;

  constructor(context: StagesContext) {
    this.#context = context;
    this.#episodes = new RuleEpisodes(DETECTOR_BURN, context);
  }

  async run({ number, nowMs }: Cycle): Promise<StageOutcome> {
    const { state, counters, monotonicMs, yieldToLoop, edit } = this.#context;
    const startMs = monotonicMs();
    this.#episodes.load();
    if (!this.#isRestored) {
      await state.slo.restore(state.series, nowMs, yieldToLoop);
      this.#isRestored = true;
    }
    const worst = new WorstBurns((scope) => this.#episodes.isOpen(scope));
    let evaluated = 0;
    for (const window of [...state.slo.windows]) {
      worst.add(window, nowMs);
      if (++evaluated % WINDOWS_PER_SLICE === 0) await yieldToLoop();
    }
    await this.#episodes.settle(worst.findings, nowMs, (scope) => worst.fateOf(scope));
    if (number % FORGET_CYCLES === 0) await edit(() => state.slo.forget(state.series, nowMs));
    counters.set("sloWindows", state.slo.size);
    counters.set("sloWindowsRefused", state.slo.refused);
    return { counts: { evaluated, learning: 0, skipped: {} }, workMs: monotonicMs() - startMs };
  }
}
