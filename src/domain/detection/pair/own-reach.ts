// How far a pair's values go by chance, as its own tail has it, whatever is asked of what people are told.
import type { TailEvidence } from "../departure/own-tail.ts";
import type { PairDetector } from "./pair-detector.ts";
import { type PairSurroundings, Z_THRESHOLD_DEFAULT } from "./pair-surroundings.ts";

/** How far the value that was observed or foreseen last lies to a side, and how far such values go by chance; undefined while the series has no tail to ask. */
export function reachOf(
  { isYoung, departure }: Pick<PairDetector, "departure" | "isYoung">,
  side: 1 | -1,
  { zThreshold }: PairSurroundings,
): TailEvidence | undefined {
  if (isYoung) return undefined;
  const { expected, lower, upper } = departure.bounds;
  const bar = side < 0 ? expected - lower : upper - expected;
  return { size: side * departure.size * departure.sd, bar: (bar * Z_THRESHOLD_DEFAULT) / zThreshold };
}
