// Why something was found, as frames and rows have it: facts, of which the sentence is made when somebody asks (domain/anomaly/sentence.ts).

/** What the sentence about a long baseline takes besides the verdict. */
export interface PairFacts {
  /** Side of what was expected; the verdict's z may be of the other. */
  readonly isBelow: boolean;
  /** What it was held against: the usual values of now, of this hour on such a day, of this hour, or what one value strays by. */
  readonly against: "values" | "day" | "hour" | "chance";
  /** Newest values whose mean was judged. */
  readonly values: number;
  /** Streams that were taken together; absent of one alone. */
  readonly streams?: number;
}

/** Words that were chosen for it, or what they are made of: null is the verdict alone. */
export type Explanation = string | PairFacts | null;
