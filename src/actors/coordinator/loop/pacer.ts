// When the coordinator steps: at once for a command and for the first frame after a pause, else with what comes within some milliseconds. A commit
// costs about the same for one frame as for ten, and what engines, front and commits need of the processor they take from each other.
import { COMMIT_GATHER_MS_MAX, COMMIT_GATHER_MS_MIN } from "../../../core/config/limits.ts";
import { after, background, fatal } from "../../../core/faults/guard.ts";
import type { AwaitedFrames } from "../../../core/protocol/coordinator-frame.ts";
import type { StepReport } from "./loop.ts";

/** Dependencies of the pacer: what is paced, and its clock. */
export interface PacerDependencies {
  step(): Promise<StepReport>;
  /** Has the engines send word of the next of such frames; true when there is one already. */
  awaitFrames(awaited: AwaitedFrames): boolean;
  monotonicMs(): number;
}

const SLEEP_MS_MAX = 60_000;
const STEP = fatal("a step of the coordinator");

/** Ten times what the commit took, within bounds: on one core it takes from what it stores, and engine, front and the system's writers wake for each. */
function gatherMs(commitMs: number): number {
  return Math.min(COMMIT_GATHER_MS_MAX, Math.max(COMMIT_GATHER_MS_MIN, 10 * commitMs));
}

/** Steps the coordinator while there is work, then waits for a command, for frames or for its due time. */
export class Pacer {
  readonly #dependencies: PacerDependencies;
  #timer: NodeJS.Timeout | undefined;
  #running = false;
  #again = false;
  #stopped = false;
  /** Whether the timer ends a pause in which frames gather. */
  #gathers = false;
  #isNudged = false;

  constructor(dependencies: PacerDependencies) {
    this.#dependencies = dependencies;
  }

  /** There may be work now. */
  wake(): void {
    if (this.#running || this.#stopped) {
      this.#again = true;
      return;
    }
    this.#running = true;
    background(STEP, this.#run());
  }

  /** The same, but frames may go on gathering: there will be a step when they have. */
  nudge(): void {
    if (this.#running || this.#gathers) this.#isNudged = true;
    else this.wake();
  }

  async #run(): Promise<void> {
    const { step, awaitFrames, monotonicMs } = this.#dependencies;
    clearTimeout(this.#timer);
    let report: StepReport;
    let tookMs = 0;
    let framesWait = false;
    let mayRepeat = true;
    do {
      this.#again = false;
      this.#isNudged = false;
      const startMs = monotonicMs();
      report = await step();
      tookMs = monotonicMs() - startMs;
      if (report.more) this.#again ||= !report.mayGather;
      this.#again ||= this.#isNudged && !report.mayGather;
      // Whoever is about to sleep asks for word, each time: the one that was asked for may have come and gone while a step ran.
      framesWait = !report.more && !report.isPaused && awaitFrames(report.awaits);
      // No word comes of frames that are there already: a step more at once, and if they are not taken even then, after a short sleep.
      this.#again ||= framesWait && mayRepeat;
      mayRepeat &&= !framesWait;
    } while (this.#again && !this.#stopped);
    this.#running = false;
    if (this.#stopped) return;
    this.#gathers = report.mayGather || framesWait;
    const sleepMs = this.#gathers ? gatherMs(tookMs) : report.dueMs - monotonicMs();
    this.#sleep(sleepMs, () => (report.mayGather ? this.#endGathering(report) : this.wake()));
  }

  /** Steps where something has gathered. Where nothing has a step would find nothing: word comes of the next frame, and nothing is due before it was. */
  #endGathering({ awaits, dueMs }: StepReport): void {
    const { awaitFrames, monotonicMs } = this.#dependencies;
    this.#gathers = false;
    if (this.#isNudged || awaitFrames(awaits)) this.wake();
    else this.#sleep(dueMs - monotonicMs(), () => this.wake());
  }

  #sleep(ms: number, then: () => void): void {
    this.#timer = after(Math.min(SLEEP_MS_MAX, Math.max(1, ms)), STEP, then);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#stopped = true;
  }
}
