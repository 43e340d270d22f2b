// Work of the coordinator that nobody waits for: done in small pieces, with pauses between, so that all of it takes a share of the thread's time.

/** The pause after so much work, so that it takes that share of the time; ms. */
export function pauseMsAfter(workMs: number, share: number): number {
  return workMs * (1 / share - 1);
}

export interface PacedWorkOptions {
  /** Share of the thread's time, 0..1. */
  readonly share: number;
  /** Work in ms before a pause. */
  readonly pieceMs: number;
}

export interface PacedWorkDependencies {
  monotonicMs(): number;
  sleep(ms: number): Promise<void>;
  /** Called behind each piece with its time. */
  worked?(ms: number): void;
}

export class PacedWork {
  readonly #options: PacedWorkOptions;
  readonly #dependencies: PacedWorkDependencies;
  /** Since the last pause. */
  #workedMs = 0;

  constructor(options: PacedWorkOptions, dependencies: PacedWorkDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  do<T>(piece: () => T): T {
    const { monotonicMs, worked } = this.#dependencies;
    const startMs = monotonicMs();
    const result = piece();
    const tookMs = monotonicMs() - startMs;
    this.#workedMs += tookMs;
    worked?.(tookMs);
    return result;
  }

  /** Between pieces: pauses once enough was worked. */
  async pause(): Promise<void> {
    const { share, pieceMs } = this.#options;
    if (this.#workedMs < pieceMs) return;
    const pauseMs = pauseMsAfter(this.#workedMs, share);
    this.#workedMs = 0;
    await this.#dependencies.sleep(pauseMs);
  }
}
