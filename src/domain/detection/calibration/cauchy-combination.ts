// One tail probability from several that may depend on each other: the Cauchy combination test (Liu & Xie 2020).

/** Below, tan((1/2 - p) pi) is 1 / (p pi) to double precision. */
const LOG_P_TINY = Math.log(1e-15);

/** A log p <= 0 and how much it counts beside the others. */
export interface Witness {
  readonly logP: number;
  readonly weight: number;
}

/** log of the combined p; 0 for none. */
export function combineLogP(witnesses: readonly Witness[]): number {
  if (witnesses.length === 0) return 0;
  let [least, total] = [0, 0];
  for (const { logP, weight } of witnesses) {
    least = Math.min(least, logP);
    total += weight;
  }
  if (least >= LOG_P_TINY) {
    let sum = 0;
    for (const { logP, weight } of witnesses) sum += weight * Math.tan((0.5 - Math.exp(logP)) * Math.PI);
    return Math.log(0.5 - Math.atan(sum / total) / Math.PI);
  }
  let parts = 0;
  for (const { logP, weight } of witnesses) parts += weight * Math.exp(least - logP);
  return Math.min(0, least - Math.log(parts / total));
}
