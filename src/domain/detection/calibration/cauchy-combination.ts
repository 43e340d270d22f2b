// One tail probability from several that may depend on each other: the Cauchy combination test (Liu & Xie 2020).

/** Below, tan((1/2 - p) pi) is 1 / (p pi) to double precision. */
const LOG_P_TINY = Math.log(1e-15);

/** log of the combined p of some log p <= 0, all with equal weight; 0 for none. */
export function combineLogP(logPs: readonly number[]): number {
  if (logPs.length === 0) return 0;
  const least = Math.min(...logPs);
  if (least >= LOG_P_TINY) {
    let sum = 0;
    for (const logP of logPs) sum += Math.tan((0.5 - Math.exp(logP)) * Math.PI);
    return Math.log(0.5 - Math.atan(sum / logPs.length) / Math.PI);
  }
  let parts = 0;
  for (const logP of logPs) parts += Math.exp(least - logP);
  return Math.min(0, least - Math.log(parts / logPs.length));
}
