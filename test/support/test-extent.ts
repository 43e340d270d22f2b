// How much of what simulates, damages and kills a run does: TEST_EXTENT=whole, as in `make sim`, `make crash`, `make fault` and `make attack`, does all of it;
// `make test` does a few of each kind, so that it ends within minutes on two slow cores.

const IS_WHOLE = process.env.TEST_EXTENT === "whole";

/** The number for a whole run, or the one of `make test`. */
export function extent(whole: number, few: number): number {
  return IS_WHOLE ? whole : few;
}

/** All of them in a whole run, else the first few. */
export function firstOf<T>(all: readonly T[], few: number): readonly T[] {
  return IS_WHOLE ? all : all.slice(0, few);
}
