// Answers of a lane as they are told to the front: most are equal to the one before, and those are one entry with their count.
import type { EngineReport, WrittenCounts } from "../../core/protocol/engine-control.ts";
import type { BodyAnswer } from "./work-unit.ts";

/** The report of answers, in their order. */
export function answersReport(answers: readonly BodyAnswer[]): EngineReport {
  const counts: number[] = [];
  const statuses: number[] = [];
  const bodies: Array<string | null> = [];
  const written: Array<WrittenCounts | null> = [];
  for (const { status, body, written: stored = null } of answers) {
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
  return { type: "answers", counts, statuses, bodies, written };
}
