// Evidence of a series with fields of its own, to be compared: what engines have told reads its numbers where they lie.
import type { SeriesEvidence } from "../../src/domain/rca/evidence.ts";

export function plainSeries({
  serviceId,
  metricName,
  instance,
  node,
  peer,
  departure,
  onsetMs,
  intervalMs,
}: SeriesEvidence): SeriesEvidence {
  const { mean, sd, peak, peakAt, onsetAt, novelty, shift, past } = departure;
  const plain = { mean, sd, peak, peakAt, onsetAt, novelty, shift, past };
  return { serviceId, metricName, instance, node, peer, departure: plain, onsetMs, intervalMs };
}
