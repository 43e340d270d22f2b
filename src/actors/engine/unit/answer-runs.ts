// Answers on their way to the front: equal ones that follow each other are reported as one with their number.
import type { EngineAnswerContent, WrittenCounts } from "../../../core/protocol/engine-control.ts";
import type { BodyAnswer } from "./work-unit.ts";

/** Runs of equal answers, in their order: how many, and what each of them is. */
export interface AnswerRuns {
  readonly counts: number[];
  readonly statuses: number[];
  readonly bodies: Array<string | null>;
  readonly written: Array<WrittenCounts | null>;
  /** Answer to the body in the place for large ones. */
  large: EngineAnswerContent | null;
  /** Answers to bodies that others have overtaken. */
  readonly overtaken: Array<EngineAnswerContent & { readonly admission: number }>;
}

/** Joins answers that are equal to the one before. */
export function runsOfAnswers(answers: readonly BodyAnswer[]): AnswerRuns {
  const counts: number[] = [];
  const statuses: number[] = [];
  const bodies: Array<string | null> = [];
  const written: Array<WrittenCounts | null> = [];
  const overtaken: AnswerRuns["overtaken"] = [];
  let large: AnswerRuns["large"] = null;
  for (const { status, body, written: stored = null, isLarge = false, admission } of answers) {
    if (admission !== undefined) {
      overtaken.push({ admission, status, body, written: stored });
      continue;
    }
    if (isLarge) {
      if (large !== null) throw new Error("two large bodies are answered at once");
      large = { status, body, written: stored };
      continue;
    }
    const last = counts.length - 1;
    if (last >= 0 && statuses[last] === status && bodies[last] === body && written[last] === stored)
      counts[last] = (counts[last] as number) + 1;
    else {
      counts.push(1);
      statuses.push(status);
      bodies.push(body);
      written.push(stored);
    }
  }
  return { counts, statuses, bodies, written, large, overtaken };
}
