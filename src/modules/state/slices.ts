// Long work of the coordinator's thread, cut into slices: whoever does it asks between its steps whether others are to have their turn.
import { SLICE_MS } from "../../core/config/limits.ts";

/** Gives others of the thread their turn where a slice has been worked since the last; undefined where the work may go on. */
export type Pause = () => Promise<void> | undefined;

export interface SlicesDependencies {
  monotonicMs(): number;
  /** Resolves when the work has its next turn. */
  resume(): Promise<void>;
}

/** The slices of one piece of work. */
export class Slices {
  readonly #dependencies: SlicesDependencies;
  #sinceMs: number;

  constructor(dependencies: SlicesDependencies) {
    this.#dependencies = dependencies;
    this.#sinceMs = dependencies.monotonicMs();
  }

  /** The work has waited for something else: its slice begins anew. */
  restart(): void {
    this.#sinceMs = this.#dependencies.monotonicMs();
  }

  readonly pause: Pause = () => {
    const { monotonicMs, resume } = this.#dependencies;
    return monotonicMs() - this.#sinceMs < SLICE_MS ? undefined : resume().then(() => this.restart());
  };
}

/** Takes steps to their end, in slices. */
export async function inSlices<T>(steps: Generator<void, T>, pause: Pause): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    const pausing = pause();
    if (pausing !== undefined) await pausing;
  }
}

export async function mapInSlices<V, R>(values: Iterable<V>, map: (value: V) => R, pause: Pause): Promise<R[]> {
  const mapped: R[] = [];
  for (const value of values) {
    mapped.push(map(value));
    const pausing = pause();
    if (pausing !== undefined) await pausing;
  }
  return mapped;
}
