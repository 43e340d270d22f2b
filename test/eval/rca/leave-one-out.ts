// Each case against all others: whether the most similar one has the same type of fault.

import type { IncidentSignature } from "../../../src/domain/rca/signature.ts";
import { SimilarIncidents } from "../../../src/domain/rca/similar.ts";

export interface SignedCase {
  readonly faultType: string;
  readonly truth: string;
  readonly signature: IncidentSignature;
}

/** Share of the cases whose nearest, of those that `isAnswer` takes, has their type of fault. */
export function leaveOneOut(cases: readonly SignedCase[], isAnswer: (of: SignedCase, other: SignedCase) => boolean): number {
  const index = new SimilarIncidents();
  for (const { signature } of cases) index.add(signature);
  const right = cases.filter((of, own) => {
    const [nearest] = index.nearest(of.signature, 1, (place) => place === own || !isAnswer(of, cases[place]!));
    return nearest !== undefined && cases[nearest.index]!.faultType === of.faultType;
  });
  return right.length / cases.length;
}
