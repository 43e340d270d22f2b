// What a query worker evaluates rules with: series in memory, each as a chunk that waits for its block.
import type { CallContext } from "../../src/actors/query/query-call.ts";
import { SliceScheduler } from "../../src/actors/query/slice-scheduler.ts";
import type { SelectedStream, SelectionRequest } from "../../src/actors/query/stream-selector.ts";
import { CHUNK_BYTES_MAX, encodeChunkApart } from "../../src/domain/codec/sample-chunk.ts";
import { Labels } from "../../src/domain/promql/labels/labels.ts";
import { QueryBudget } from "../../src/domain/promql/query-budget.ts";
import { QueryMemory } from "../../src/domain/promql/query-memory.ts";
import { MemoryStore } from "./memory-store.ts";

const CHUNK_SAMPLES = 120;

/** A series with a value each so many ms. */
export interface RigSeries {
  readonly labels: Readonly<Record<string, string>>;
  readonly values: readonly number[];
}

interface QueryRig {
  readonly context: CallContext;
  readonly memory: QueryMemory;
  /** Selections that were asked for. */
  readonly selections: SelectionRequest[];
}

/** A context of calls over series that begin at `startMs`; `clock` says how late it is. */
export function queryRig(series: readonly RigSeries[], startMs: number, stepMs: number, clock: () => number = () => 0): QueryRig {
  const streams = series.map(({ labels, values }, index) => streamOf(labels, chunksOf(values, startMs, stepMs), index));
  const selections: SelectionRequest[] = [];
  const memory = new QueryMemory(2 ** 28, 20);
  const selector = {
    select: async (request: SelectionRequest) => {
      selections.push(request);
      return request.selections.map((matchers) =>
        streams.filter(({ labels }) => matchers.every((matcher) => matcher.matches(labels.get(matcher.name)))),
      );
    },
  };
  const options = { samplesMax: 1e7, memoryBytesMax: 2 ** 28, timeoutMs: 120_000, runningMax: 20 };
  const call = { type: "call", id: 1, name: "rule_work", tenant: "default", parameters: "", label: null, waitedMs: 0 };
  const context = {
    ...{ options, selector, memory, call, monotonicMs: clock },
    budget: new QueryBudget(clock),
    reader: new MemoryStore({ tables: ["blocks", "block_spans", "rollups", "rollup_spans", "rollup_marks"] }),
    scheduler: new SliceScheduler({ sliceMs: 5 }, { memory, monotonicMs: clock }),
  };
  return { context: context as unknown as CallContext, memory, selections };
}

function streamOf(labels: RigSeries["labels"], waiting: readonly Uint8Array[], index: number): SelectedStream {
  const streamId = new Uint8Array(16).fill(index + 1);
  return {
    labels: Labels.of(Object.entries(labels)),
    isCounter: false,
    firstTimeMs: null,
    lastTimeMs: null,
    partition: 0,
    streamId,
    waiting,
  };
}

function chunksOf(values: readonly number[], startMs: number, stepMs: number): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  const out = new Uint8Array(CHUNK_BYTES_MAX);
  for (let from = 0; from < values.length; from += CHUNK_SAMPLES) {
    const some = Float64Array.from(values.slice(from, from + CHUNK_SAMPLES));
    const times = some.map((_, at) => startMs + (from + at) * stepMs);
    chunks.push(out.slice(0, encodeChunkApart("sent", times, some, some.length, out, 0)));
  }
  return chunks;
}
