// Has everything that was acknowledged counted in the store: the lanes tell what they have counted, and it is committed.
import { EngineUnavailableError } from "../engines/engine-client.ts";
import type { UsageContext } from "./usage-context.ts";

/** False when an engine did not answer, or the store takes nothing now: what is stored may then be a little behind. */
export async function takeCounts(context: UsageContext): Promise<boolean> {
  const { engines } = context;
  const marked = await Promise.allSettled(Array.from({ length: engines.count }, (_, engine) => engines.markLane(engine)));
  for (const mark of marked) {
    if (mark.status === "rejected" && !(mark.reason instanceof EngineUnavailableError)) throw mark.reason;
  }
  await context.settle();
  return marked.every(({ status }) => status === "fulfilled") && !context.isStoreFailing();
}
