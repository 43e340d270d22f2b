// Work in steps, as a generator: whoever does it may let others have their turn between two of them.

/** Takes all steps at once; gives their result. */
export function finished<T>(steps: Generator<unknown, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
