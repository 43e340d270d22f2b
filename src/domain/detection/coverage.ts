// How a layer of detection treats a stream or a service: evaluated, learning, or the reason why it is skipped.
import { ownMember, setMember } from "../../core/collections/own-member.ts";
import type { LayerCounts } from "../../core/protocol/coverage.ts";

export const EVALUATED = "evaluated";
export const LEARNING = "learning";
/** The next cycle will look at it. */
export const NOT_VISITED = "not_visited_yet";

/** Counts states of one layer. */
export class CoverageTally implements LayerCounts {
  evaluated = 0;
  learning = 0;
  readonly skipped: Record<string, number> = {};

  /** EVALUATED, LEARNING or a reason. */
  count(state: string): void {
    if (state === EVALUATED) this.evaluated++;
    else if (state === LEARNING) this.learning++;
    else setMember(this.skipped, state, (ownMember(this.skipped, state) ?? 0) + 1);
  }

  add({ evaluated, learning, skipped }: LayerCounts): void {
    this.evaluated += evaluated;
    this.learning += learning;
    for (const [reason, count] of Object.entries(skipped)) setMember(this.skipped, reason, (ownMember(this.skipped, reason) ?? 0) + count);
  }

  /** As plain values, to be sent. */
  counts(): LayerCounts {
    return { evaluated: this.evaluated, learning: this.learning, skipped: this.skipped };
  }
}
