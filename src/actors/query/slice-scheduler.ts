/**
 * Queries that one worker evaluates at once, slice by slice: the tenant that has had least time goes on, and of its queries the one that has had least, so that a long query
 * delays a short one by slices. Where memory is scarce only the query that has most of it goes on, and those that have little, so that it ends and frees what it has.
 */
import { HadTime } from "../../core/fairness/had-time.ts";
import { afterTurn, fatal } from "../../core/faults/guard.ts";
import type { Evaluating } from "../../domain/promql/evaluation/sliced-evaluation.ts";
import type { QueryBudget } from "../../domain/promql/query-budget.ts";
import type { QueryMemory } from "../../domain/promql/query-memory.ts";

/** A query that is being evaluated. */
interface Running {
  readonly tenant: string;
  readonly budget: QueryBudget;
  readonly evaluating: Evaluating<unknown>;
  readonly sinceMs: number;
  usedMs: number;
  /** Called once, with what it has come to or has thrown. */
  readonly end: (outcome: { readonly value: unknown } | { readonly error: unknown }) => void;
}

export interface SliceSchedulerOptions {
  readonly sliceMs: number;
}

export interface SliceSchedulerDependencies {
  readonly memory: QueryMemory;
  monotonicMs(): number;
}

const SLICES = fatal("slices of queries");

/** The queries of one worker. */
export class SliceScheduler {
  readonly #options: SliceSchedulerOptions;
  readonly #dependencies: SliceSchedulerDependencies;
  readonly #running = new Set<Running>();
  readonly #had = new HadTime();
  #isScheduled = false;

  constructor(options: SliceSchedulerOptions, dependencies: SliceSchedulerDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  /** Evaluates a query beside others; rejects with what it throws. Messages of the thread are taken between two slices. */
  run<Result>({ tenant }: { readonly tenant: string }, budget: QueryBudget, evaluating: Evaluating<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      const end: Running["end"] = (outcome) => ("error" in outcome ? reject(outcome.error) : resolve(outcome.value as Result));
      const sinceMs = this.#dependencies.monotonicMs();
      this.#had.begin(tenant);
      this.#running.add({ tenant, budget, evaluating, sinceMs, usedMs: 0, end });
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#isScheduled || this.#running.size === 0) return;
    this.#isScheduled = true;
    afterTurn(SLICES, () => {
      this.#isScheduled = false;
      this.#slice(this.#next());
      this.#schedule();
    });
  }

  /** The query that goes on: of those that may, of the tenant with the least time, with the least of its own. */
  #next(): Running {
    const tenantMs = ({ tenant }: Running) => this.#had.of(tenant);
    return this.#ready().reduce((least, one) => ((tenantMs(one) - tenantMs(least) || one.usedMs - least.usedMs) < 0 ? one : least));
  }

  #ready(): Running[] {
    const { memory } = this.#dependencies;
    const all = [...this.#running];
    if (!memory.isScarce) return all;
    const largest = all.reduce((most, one) => (one.budget.bytes > most.budget.bytes ? one : most));
    return all.filter((one) => one === largest || memory.isShare(one.budget.bytes));
  }

  #slice(running: Running): void {
    const { budget, evaluating, tenant } = running;
    const startMs = this.#dependencies.monotonicMs();
    budget.beginSlice(this.#options.sliceMs);
    const outcome = stepsOf(evaluating, budget);
    const tookMs = this.#dependencies.monotonicMs() - startMs;
    running.usedMs += tookMs;
    this.#had.add(tenant, tookMs);
    if (outcome === undefined) return;
    this.#running.delete(running);
    if (![...this.#running].some((one) => one.tenant === tenant)) this.#had.end(tenant);
    budget.countIdle(this.#dependencies.monotonicMs() - running.sinceMs - running.usedMs);
    running.end(outcome);
  }
}

/** Steps until the slice is over: undefined, or the evaluation is. */
function stepsOf(evaluating: Evaluating<unknown>, budget: QueryBudget): Parameters<Running["end"]>[0] | undefined {
  try {
    budget.check();
    do {
      const { done, value } = evaluating.next();
      if (done === true) return { value };
    } while (!budget.isSliceOver);
    return undefined;
  } catch (error) {
    return { error };
  }
}
