// Computations of queries, in the thread that is there for them.
import { done, type Outcome, refused } from "../../api/refusal.ts";
import { COMPUTATION_WAIT_MS_MAX, COMPUTATIONS_WAITING_MAX } from "../../core/config/prediction-limits.ts";
import { FairMutex } from "../../core/fairness/fair-mutex.ts";
import { messageOf } from "../../core/text/error-text.ts";
import { type Computation, computed, type ResultOf } from "../../domain/prediction/computation.ts";
import type { PredictionContext } from "./prediction-context.ts";

/** One computation is in the thread at a time, so that the next is that of the tenant whose turn it is. */
const mutexes = new WeakMap<object, FairMutex>();

function mutexOf({ state, nowMs }: Pick<PredictionContext, "state" | "nowMs">): FairMutex {
  const options = { perTenantMax: COMPUTATIONS_WAITING_MAX, waitMsMax: COMPUTATION_WAIT_MS_MAX };
  const mutex = mutexes.get(state) ?? new FairMutex({ ...options, shares: state.shares.ledger("computations_waiting") }, nowMs);
  mutexes.set(state, mutex);
  return mutex;
}

/** A place of the tenant's among those that wait. Refused with 503 where too many wait, or where it takes too long. */
export async function computeFor<K extends Computation["kind"]>(
  context: PredictionContext,
  tenant: string,
  computation: Extract<Computation, { kind: K }>,
): Promise<Outcome<ResultOf<K>>> {
  const { state, compute = async (one) => computed(one) } = context;
  try {
    const result = await mutexOf(context).run(tenant, () => compute(computation));
    if (result === "late") return refused("overloaded", "other computations took too long; ask again shortly");
    if (result !== "full") return done(result as ResultOf<K>);
    const places = state.shares.ledger("computations_waiting");
    const text = `${places.used(tenant)} computations of this tenant wait or run, of ${places.taken} in all; ask again shortly`;
    return refused("overloaded", text);
  } catch (error) {
    const why = messageOf(error);
    return refused("overloaded", `the thread for forecasts and causes did not take or finish this (${why}); ask again shortly`);
  }
}
