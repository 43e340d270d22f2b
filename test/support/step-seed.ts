// One seed of the simulation of requests of runbooks: what happens, and what must be so whatever was cut.
import { RUNBOOK_ATTEMPTS_MAX, RUNBOOK_REQUESTS_PER_TENANT_MAX } from "../../src/core/config/runbook-limits.ts";
import { type ShownRun, STEPS, StepWorld } from "./step-world.ts";

const ACTIONS = 60;

/** Runs a seed; throws what is wrong, in words. */
export async function runStepSeed(seed: number): Promise<Record<string, number>> {
  const world = await StepWorld.open(seed);
  for (let action = 0; action < ACTIONS; action++) await world.act();
  const runs = await world.settle();
  const found = runs.flatMap((run) => untruths(world, run));
  if (world.mostInFlight > RUNBOOK_REQUESTS_PER_TENANT_MAX) found.push(`${world.mostInFlight} requests were under way`);
  if (found.length > 0) throw new Error(found.join("; "));
  const of = (state: string) => runs.filter((run) => run.state === state).length;
  return { runs: runs.length, stepsDone: of("succeeded"), stepsInterrupted: of("interrupted"), stepKills: world.kills };
}

/** What is not true of a run that is over. */
function untruths({ heard }: StepWorld, { execution_id: id, state, steps }: ShownRun): string[] {
  const found: string[] = [];
  for (const [place, step] of steps.entries()) {
    const made = STEPS[place];
    if (made?.type !== "http") continue;
    const count = heard.get(`${id}-${place}`) ?? 0;
    const say = (what: string) => found.push(`${id}, step ${place} (${step.state}, ${count} heard): ${what}`);
    if (!made.idempotent && (count > 1 || step.attempts > 1)) say("it was done twice");
    if (count > RUNBOOK_ATTEMPTS_MAX || step.attempts > RUNBOOK_ATTEMPTS_MAX) say("it was done too often");
    if (step.state === "succeeded" && count === 0) say("it says that it is done, and is not");
    if (["waiting", "skipped"].includes(step.state) && count > 0 && !made.idempotent) say("it says that it is not done, and is");
    if (step.state === "running") say("it never ends");
  }
  const isDone = steps.every((step) => step.state === "succeeded");
  // One that was cancelled while its last request was under way is done all the same.
  if (state !== "cancelled" && (state === "succeeded") !== isDone)
    found.push(`${id} is ${state}: ${steps.map((step) => step.state).join(" ")}`);
  if (!["succeeded", "failed", "interrupted", "cancelled"].includes(state)) found.push(`${id} is ${state}`);
  return found;
}
