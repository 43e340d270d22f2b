// The end of a pass: alerts of its detector that no engine has named in this cycle are closed.
import { OPEN_CLOSED_PER_CYCLE } from "../../core/config/limits.ts";
import type { EpisodeFrame } from "../../core/protocol/coordinator-frame.ts";
import type { FiringEpisodes } from "../../core/protocol/engine-control.ts";
import type { OpenEpisodes } from "../anomalies/open-episodes.ts";
import type { Cycle, WatchdogStage } from "../state/watchdog-stage.ts";

export interface OpenAlertsDependencies {
  readonly openEpisodes: Pick<OpenEpisodes, "othersOf">;
  /** Commits what the engines have sent so far. */
  settle(): Promise<void>;
  /** Rejects with StoreError. */
  declare(frames: readonly EpisodeFrame[]): Promise<void>;
}

/** Alerts of one detector. */
export class OpenAlerts {
  readonly #detector: string;
  readonly #dependencies: OpenAlertsDependencies;
  readonly #named = new Set<string>();

  constructor(detector: string, dependencies: OpenAlertsDependencies) {
    this.#detector = detector;
    this.#dependencies = dependencies;
  }

  /** Takes what an engine names. */
  take({ detector, firing }: FiringEpisodes): void {
    if (detector === this.#detector) for (const id of firing) this.#named.add(id);
  }

  /** The stage with the closing at its end. Only a pass that every engine has come to the end of says what is over. */
  after(stage: WatchdogStage): WatchdogStage {
    return {
      ...stage,
      run: async (cycle) => {
        this.#named.clear();
        const outcome = await stage.run(cycle);
        await this.#closeOthers(cycle);
        return outcome;
      },
    };
  }

  async #closeOthers({ nowMs }: Cycle): Promise<void> {
    const { openEpisodes, settle, declare } = this.#dependencies;
    const others = () => openEpisodes.othersOf(this.#detector, this.#named, OPEN_CLOSED_PER_CYCLE);
    if (others().length === 0) return;
    // What an engine says of an end, and of how, may be behind its answer on the way here.
    await settle();
    const over = others();
    // Its engine has lost it: nobody has seen it recover.
    const closing = { transition: "end", observedAtMs: nowMs, z: 0, verdict: null, explanation: "", arrivalMs: 0 } as const;
    await declare(over.map((episode) => ({ ...episode, ...closing })));
  }
}
