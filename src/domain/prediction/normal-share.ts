// The distribution function of the standard normal.
import { logNormalTail } from "../detection/tail-probability.ts";

/** P(Z <= z). */
export function normalShare(z: number): number {
  const tail = Math.exp(logNormalTail(z)) / 2;
  return z < 0 ? tail : 1 - tail;
}
