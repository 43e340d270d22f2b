// How long one turn of the coordinator's thread takes at a time, whatever worked in it: nobody else is served meanwhile.
import { background, task } from "../../core/faults/guard.ts";

export interface TurnClockDependencies {
  readonly counters: { turn(seconds: number): void };
  monotonicMs(): number;
  /** Resolves after a turn of the event loop. */
  yieldTurn(): Promise<void>;
}

/** Measures the turns in which queries and changes work. */
export class TurnClock {
  readonly #dependencies: TurnClockDependencies;
  #isRunning = false;

  constructor(dependencies: TurnClockDependencies) {
    this.#dependencies = dependencies;
  }

  /** Work begins or goes on in this turn; all of it is one measurement. */
  begin(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    const { counters, monotonicMs, yieldTurn } = this.#dependencies;
    const startMs = monotonicMs();
    const ended = yieldTurn().then(() => {
      this.#isRunning = false;
      counters.turn((monotonicMs() - startMs) / 1_000);
    });
    background(task("the measure of turns"), ended);
  }
}
