// Evaluation in slices: whatever may take long says between two series, or between steps of a long one, that others may go on. Who drives it decides whether they do.

/** Items that come one by one; undefined stands where others may go on before the next. */
export type Sliced<Item> = Iterable<Item | undefined>;

/** A result that is being made; others may go on at each of its steps. */
export type Evaluating<Result> = Generator<undefined, Result>;

/** All items of a stream. */
export function* collect<Item>(items: Sliced<Item>): Evaluating<Item[]> {
  const all: Item[] = [];
  for (const item of items) {
    if (item === undefined) yield;
    else all.push(item);
  }
  return all;
}

/** The result, without letting others go on. */
export function finish<Result>(evaluating: Evaluating<Result>): Result {
  for (;;) {
    const { done, value } = evaluating.next();
    if (done === true) return value as Result;
  }
}
