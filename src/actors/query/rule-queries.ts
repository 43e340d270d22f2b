/**
 * Queries of a group's rules over what is stored and what the rules before have recorded. They run in slices beside the queries of others, and share their memory.
 *
 * A rule is evaluated by a function that asks for values at once, as templates do: what it asks for and nobody has asked before is evaluated then, and the function is
 * called again. Each text is parsed once, however often it is asked.
 */

import { BoundedMap } from "../../core/collections/bounded-map.ts";
import { getOrMake } from "../../core/collections/get-or-make.ts";
import { groupBy } from "../../core/collections/grouping.ts";
import { RULE_QUERIES_PARSED_MAX, RULE_QUERY_MS_MAX, RULE_TEMPLATE_READS_MAX } from "../../core/config/rule-limits.ts";
import type { Evaluating } from "../../domain/promql/evaluation/sliced-evaluation.ts";
import type { Steps } from "../../domain/promql/evaluation/steps.ts";
import type { LabelMatcher } from "../../domain/promql/labels/label-matcher.ts";
import { MemoryStorage, OverlaidStorage } from "../../domain/promql/memory-storage.ts";
import { QueryBudget } from "../../domain/promql/query-budget.ts";
import {
  evaluateInstant,
  evaluateRange,
  type ParsedQuery,
  parseQuery,
  type QueryOptions,
  type QueryResult,
  type QueryValue,
} from "../../domain/promql/query-engine.ts";
import { QueryError } from "../../domain/promql/query-error.ts";
import { isStale, markStale } from "../../domain/promql/stale-marker.ts";
import type { RuleSample } from "../../domain/rules/evaluation/alerting-evaluation.ts";
import type { CallContext } from "./query-call.ts";
import { type Matchers, matchersOf, selectStreams } from "./selected-streams.ts";
import { StoredSeriesStorage, selectorKey } from "./stored-series.ts";
import type { SelectedStream } from "./stream-selector.ts";

/** Of the memory of queries, what streams may take that are selected for all rules of a group at once: the rest is for their values. */
const SHARED_STREAMS_SHARE = 0.25;
/** Nobody reads what a rule's query could be told besides its value. */
const UNTOLD = { summed: () => undefined, averaged: () => undefined };
const parsedQueries = new BoundedMap<string, ParsedQuery>(RULE_QUERIES_PARSED_MAX);

/** Asks for the value of a query at once. Throws QueryError and ParseError. */
export type ValueQuery = (text: string, timeMs: number) => QueryValue;

/** The query of a text. Throws ParseError. */
export function queryOf(text: string): ParsedQuery {
  return getOrMake(parsedQueries, text, () => parseQuery(text));
}

/** Values by moment and text, and what queries have failed with. */
export class KnownValues {
  readonly #outcomes = new Map<string, QueryValue | QueryError>();

  set(text: string, timeMs: number, outcome: QueryValue | QueryError): void {
    this.#outcomes.set(`${timeMs} ${text}`, outcome);
  }

  get(text: string, timeMs: number): QueryValue | QueryError | undefined {
    return this.#outcomes.get(`${timeMs} ${text}`);
  }
}

/** The queries of one evaluation of a group. */
export class RuleQueries {
  readonly #context: CallContext;
  /** Streams of many queries, selected at once; their memory is counted apart. */
  #shared: ReadonlyMap<string, readonly SelectedStream[]> = new Map();
  readonly #sharedBudget: QueryBudget;
  /** Streams that the rule at hand has selected besides, with their memory in its own budget: what one rule takes is free for the next. */
  readonly #own = new Map<string, readonly SelectedStream[]>();
  #ownBytes = 0;
  readonly #recorded = new MemoryStorage();

  private constructor(context: CallContext) {
    this.#context = context;
    this.#sharedBudget = this.#budget(Number.POSITIVE_INFINITY);
  }

  /** Does the work of an evaluation; what its queries hold is free behind it. */
  static async with<Result>(context: CallContext, work: (queries: RuleQueries) => Promise<Result>): Promise<Result> {
    const queries = new RuleQueries(context);
    try {
      return await work(queries);
    } finally {
      queries.#sharedBudget.settle(0);
    }
  }

  /** The longest that a rule may take: no longer than any query. */
  get ruleMsMax(): number {
    return Math.min(RULE_QUERY_MS_MAX, this.#context.options.timeoutMs);
  }

  /** Does work with a budget of its own, whose memory is free again behind it. */
  async withBudget<Result>(durationMsMax: number, work: (budget: QueryBudget) => Promise<Result>): Promise<Result> {
    const budget = this.#budget(durationMsMax);
    try {
      return await work(budget);
    } finally {
      this.#own.clear();
      this.#ownBytes = 0;
      budget.settle(0);
      this.#context.budget.countIdle(budget.idleMs);
    }
  }

  #budget(durationMsMax: number, memoryShare = 1): QueryBudget {
    const { options, monotonicMs, memory, budget: whole } = this.#context;
    const bounds = { samplesMax: options.samplesMax, bytesMax: options.memoryBytesMax * memoryShare, durationMsMax };
    return new QueryBudget(monotonicMs, bounds, () => whole.reasonToEnd !== undefined, memory);
  }

  /** Selects the streams of some queries at once; where that is too much, each query selects its own. */
  async selectAll(texts: readonly string[]): Promise<void> {
    const budget = this.#budget(this.ruleMsMax, SHARED_STREAMS_SHARE);
    try {
      this.#shared = await selectStreams(this.#context, this.#unknown(texts), budget);
      this.#sharedBudget.settle(budget.bytes);
    } catch (error) {
      if (!(error instanceof QueryError)) throw error;
    } finally {
      budget.settle(0);
      this.#context.budget.countIdle(budget.idleMs);
    }
  }

  /** What a query comes to at a moment. */
  async outcome(text: string, timeMs: number, budget: QueryBudget): Promise<QueryValue | QueryError> {
    try {
      const { value } = await this.#evaluate(text, budget, (query, options) => evaluateInstant(query, timeMs, options));
      return value;
    } catch (error) {
      if (error instanceof QueryError) return error;
      throw error;
    }
  }

  /** The values of a query over a range. Rejects with QueryError. */
  async range(text: string, steps: Steps, budget: QueryBudget): Promise<QueryValue> {
    return (await this.#evaluate(text, budget, (query, options) => evaluateRange(query, steps, options))).value;
  }

  /** What `attempt` gives back once all that it asks for is known. Rejects with QueryError where what it asks for follows from each other too often. */
  async answered<Result>(known: KnownValues, budget: QueryBudget, attempt: (query: ValueQuery) => Result): Promise<Result> {
    for (let reads = 0; ; reads++) {
      const missing = new Map<string, readonly [text: string, timeMs: number]>();
      const result = attempt((text, timeMs) => {
        queryOf(text);
        const outcome = known.get(text, timeMs);
        if (outcome instanceof QueryError) throw outcome;
        if (outcome === undefined) missing.set(`${timeMs} ${text}`, [text, timeMs]);
        return outcome ?? { type: "vector", samples: [] };
      });
      if (missing.size === 0) return result;
      if (reads === RULE_TEMPLATE_READS_MAX) throw new QueryError("queries of its templates follow from each other too often");
      for (const [text, timeMs] of missing.values()) known.set(text, timeMs, await this.outcome(text, timeMs, budget));
    }
  }

  /** Lets other queries go on where the slice at hand is over. */
  async pause(budget: QueryBudget): Promise<void> {
    if (budget.isSliceOver) await this.#context.scheduler.run(this.#context.call, budget, nothing());
  }

  /** Adds what a rule has made: rules behind it see it. Samples of a series are ascending. */
  record(samples: readonly RuleSample[]): void {
    for (const own of groupBy(samples, ({ labels }) => labels.key).values()) {
      const values = Float64Array.from(own, ({ value }) => value);
      for (const [index, { isStale: isMarker }] of own.entries()) if (isMarker) markStale(values, index);
      const times = Float64Array.from(own, ({ timeMs }) => timeMs);
      this.#recorded.add((own[0] as RuleSample).labels, times, values);
    }
  }

  /** The last samples of stored series, by their labels without the name. */
  async lastSamples(matchers: readonly LabelMatcher[], fromMs: number, toMs: number, budget: QueryBudget) {
    const storage = this.#stored(await selectStreams(this.#context, [matchers], budget), budget);
    const found = [...storage.select(matchers, fromMs, toMs)].filter((series) => series !== undefined);
    return new Map(
      found.map(({ labels, timesMs, values }) => {
        const last = timesMs.length - 1;
        const sample = { timeMs: timesMs[last] as number, value: values[last] as number, isStale: isStale(values, last) };
        return [labels.withoutMetricName().key, sample];
      }),
    );
  }

  async #evaluate(
    text: string,
    budget: QueryBudget,
    evaluate: (query: ParsedQuery, options: QueryOptions) => Evaluating<QueryResult>,
  ): Promise<QueryResult> {
    const streams = await this.#streamsOf(text, budget);
    const storage = new OverlaidStorage(this.#stored(streams, budget), this.#recorded);
    const result = await this.#context.scheduler.run(this.#context.call, budget, evaluate(queryOf(text), { storage, budget }));
    budget.settle(this.#ownBytes);
    return result;
  }

  async #streamsOf(text: string, budget: QueryBudget): Promise<ReadonlyMap<string, readonly SelectedStream[]>> {
    const wanted = this.#unknown([text]);
    if (wanted.length > 0) {
      for (const [key, streams] of await selectStreams(this.#context, wanted, budget)) this.#own.set(key, streams);
      this.#ownBytes = budget.bytes;
    }
    return this.#own.size === 0 ? this.#shared : new Map([...this.#shared, ...this.#own]);
  }

  #unknown(texts: readonly string[]): Matchers[] {
    const isUnknown = (key: string) => !this.#shared.has(key) && !this.#own.has(key);
    return texts.flatMap((text) => matchersOf(queryOf(text))).filter((matchers) => isUnknown(selectorKey(matchers)));
  }

  #stored(streams: ReadonlyMap<string, readonly SelectedStream[]>, budget: QueryBudget): StoredSeriesStorage {
    return new StoredSeriesStorage({ reader: this.#context.reader, budget, streams, ...UNTOLD });
  }
}

function* nothing(): Evaluating<void> {}
