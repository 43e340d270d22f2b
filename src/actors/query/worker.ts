// The thread of a query worker: answers calls of PromQL's HTTP API, several at once in slices. It reads the store itself and asks the coordinator for what is in none.
// Work for rules: what takes long and is not of the coordinator's own is done here for it.

import { join } from "node:path";
import { systemClock } from "../../adapters/platform/clock.ts";
import { yieldQueries } from "../../adapters/platform/engine-priority.ts";
import { collectNow, collectWhenIdle } from "../../adapters/platform/idle-collection.ts";
import { nameSources } from "../../adapters/platform/source-positions.ts";
import { LmdbReader } from "../../adapters/storage/lmdb-reader.ts";
import { Mailbox, type MessagePort } from "../../adapters/threads/mailbox.ts";
import { Requests } from "../../adapters/threads/requests.ts";
import { threadData } from "../../adapters/threads/threads.ts";
import { FormParameters } from "../../api/prometheus/form-parameters.ts";
import { PROMQL_SLICE_MS, PROMQL_SOURCE_MS_MAX } from "../../core/config/promql-limits.ts";
import { afterTurn, answerFault, fatal, type Home, reportFaults } from "../../core/faults/guard.ts";
import type {
  MetricFacts,
  PromqlAnswer,
  PromqlCall,
  PromqlCallName,
  QueryWorkerCommand,
  QueryWorkerReport,
  SourceAnswer,
  SourceQuestion,
} from "../../core/protocol/query-worker.ts";
import type { ReadRulesResult } from "../../core/protocol/rule-work.ts";
import { faultReport } from "../../core/telemetry/fault-report.ts";
import type { QueryBudget } from "../../domain/promql/query-budget.ts";
import { QueryMemory } from "../../domain/promql/query-memory.ts";
import { documentOf } from "../../domain/rules/file/group-document.ts";
import { readRuleFile } from "../../domain/rules/file/rule-file.ts";
import { type AskSource, EngineSource } from "./engine-source.ts";
import { answerExemplars, answerLabels, answerLabelValues, answerMetadata, answerSeries } from "./list-answers.ts";
import { answerQuery, answerQueryRange } from "./query-answers.ts";
import {
  budgetOf,
  type CallAnswer,
  type CallContext,
  type CallDependencies,
  type QueryOptions,
  refusal,
  refusalOf,
  SourceUnavailableError,
} from "./query-call.ts";
import { evaluatedGroup } from "./rule-evaluation.ts";
import { triedGroup } from "./rule-trial.ts";
import { SliceScheduler } from "./slice-scheduler.ts";
import { StreamSelector } from "./stream-selector.ts";
import { TenantIndexes } from "./tenant-indexes.ts";

/** Start data of a query worker. */
export interface QueryWorkerData {
  readonly dataDir: string;
  readonly engines: number;
  readonly options: QueryOptions;
  readonly mainPort: MessagePort;
  readonly coordinatorPort: MessagePort;
}

/** Tables of the store of series that queries read. */
const TABLES = ["blocks", "block_spans", "rollups", "rollup_spans", "rollup_marks", "cold_streams", "cold_services"] as const;

const ANSWERS: Readonly<Record<PromqlCallName, (context: CallContext) => Promise<CallAnswer>>> = {
  query: answerQuery,
  query_range: answerQueryRange,
  query_exemplars: answerExemplars,
  labels: answerLabels,
  label_values: answerLabelValues,
  series: answerSeries,
  metadata: answerMetadata,
  rule_work: answerRuleWork,
};

/** A defect of an answer: whoever asked is answered 500. */
const CALL: Home = { where: "request", name: "a query of PromQL" };

/** The coordinator's end of this worker. */
function coordinatorOf(port: MessagePort): AskSource {
  const mailbox = new Mailbox<SourceAnswer, SourceQuestion>(port);
  const requests = new Requests<SourceAnswer>();
  mailbox.serve({ "source-answer": (answer) => requests.settle(answer) }, fatal("an answer of the coordinator"));
  return async (question) => {
    const answer = await requests.ask(PROMQL_SOURCE_MS_MAX, (id) => mailbox.send({ ...question, id } as SourceQuestion));
    const why = answer === undefined ? `the coordinator did not answer within ${PROMQL_SOURCE_MS_MAX / 1_000} s` : answer.error;
    if (answer === undefined || why !== null) throw new SourceUnavailableError(`${why}; try again shortly`);
    return answer.value;
  };
}

/** Answers a call; never rejects. */
async function answered(call: PromqlCall, dependencies: CallDependencies): Promise<Omit<PromqlAnswer, "type" | "id">> {
  const startMs = dependencies.monotonicMs();
  let parameters: FormParameters | undefined;
  let budget: QueryBudget | undefined;
  let answer: CallAnswer;
  try {
    parameters = new FormParameters(call.parameters);
    budget = budgetOf(call, parameters, dependencies);
    answer = await ANSWERS[call.name]({ ...dependencies, call, parameters, budget });
  } catch (error) {
    answer = refusalOf(error, parameters, dependencies.options) ?? defectAnswer(error);
  }
  budget?.settle(0);
  const usedMs = dependencies.monotonicMs() - startMs - (budget?.idleMs ?? 0);
  return { ...answer, usedMs, samples: budget?.samples ?? 0 };
}

function defectAnswer(error: unknown): CallAnswer {
  answerFault(CALL, error);
  return refusal("internal", "the server failed on this query; its log has the reason");
}

function run({ dataDir, engines, options, mainPort, coordinatorPort }: QueryWorkerData): void {
  yieldQueries();
  const main = new Mailbox<QueryWorkerCommand, QueryWorkerReport>(mainPort);
  reportFaults((fault) => main.send(faultReport(fault)));
  const { wallMs, monotonicMs } = systemClock;
  const reader = new LmdbReader({ path: join(dataDir, "series"), tables: TABLES, monotonicMs });
  const ask = coordinatorOf(coordinatorPort);
  const metadata = async (tenant: string) => ((await ask({ type: "metadata", tenant })) ?? []) as readonly MetricFacts[];
  const source = new EngineSource(engines, ask);
  const memory = new QueryMemory(options.memoryBytesMax, options.runningMax);
  const scheduler = new SliceScheduler({ sliceMs: PROMQL_SLICE_MS }, { memory, monotonicMs });
  const indexes = new TenantIndexes({ source, reader, collect: collectNow });
  const selector = new StreamSelector({ indexes, source, reader, run: (...work) => scheduler.run(...work) });
  const dependencies: CallDependencies = { options, selector, reader, memory, scheduler, metadata, wallMs, monotonicMs };
  const take = async (call: PromqlCall) => {
    const answer = await answered(call, dependencies);
    main.send({ type: "answer", id: call.id, ...answer }, [answer.body.buffer]);
  };
  const stop = async () => {
    await reader.close();
    afterTurn(fatal("the end of a query worker"), () => process.exit(0));
  };
  main.serve({ call: take, stop }, fatal("a message of the main thread"));
  collectWhenIdle();
}

nameSources();
run(threadData<QueryWorkerData>());

/** Does the work of a call. */
async function answerRuleWork(context: CallContext): Promise<CallAnswer> {
  const { work } = context.call;
  if (work === undefined) throw new Error("a call for rules says what is to be done");
  if (work.kind === "evaluate") return { status: 200, body: await evaluatedGroup(context, work) };
  return jsonAnswer(work.kind === "try" ? await triedGroup(context, work) : readResult(work.text));
}

function jsonAnswer(value: unknown): CallAnswer {
  return { status: 200, body: new Uint8Array(Buffer.from(JSON.stringify(value))) };
}

function readResult(text: string): ReadRulesResult {
  const { groups, problems } = readRuleFile(text);
  return { documents: groups.map((group) => JSON.stringify(documentOf(group))), problems };
}
