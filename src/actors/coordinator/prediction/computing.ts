// Computations of queries, in the thread that is there for them.
import { done, type Outcome, refused } from "../../../api/refusal.ts";
import { type Computation, computed, type ResultOf } from "../../../domain/prediction/computation.ts";
import type { PredictionContext } from "./prediction-context.ts";

/** A place of the tenant's among those that wait. Refused with 503 where too many wait, or where it takes too long. */
export async function computeFor<K extends Computation["kind"]>(
  { state, compute = async (one) => computed(one) }: PredictionContext,
  tenant: string,
  computation: Extract<Computation, { kind: K }>,
): Promise<Outcome<ResultOf<K>>> {
  const places = state.shares.ledger("computations_waiting");
  if (!places.take(tenant)) {
    return refused(
      "overloaded",
      `${places.held(tenant)} computations of this tenant wait or run, of ${places.taken} in all; ask again shortly`,
    );
  }
  try {
    return done((await compute(computation)) as ResultOf<K>);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return refused("overloaded", `the thread for forecasts and causes did not take or finish this (${why}); ask again shortly`);
  } finally {
    places.give(tenant);
  }
}
