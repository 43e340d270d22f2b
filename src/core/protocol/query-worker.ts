// Messages of query workers: calls of PromQL's HTTP API from main, and what they ask the coordinator for.
import type { FaultReport } from "../telemetry/fault-report.ts";
import type {
  StreamChangesAnswer,
  StreamChangesQuery,
  StreamPageAnswer,
  StreamPageQuery,
  StreamValuesAnswer,
  StreamValuesQuery,
} from "./paged-streams.ts";
import type { RuleWork } from "./rule-work.ts";

/** Calls that a query worker answers. */
export type PromqlCallName = "query" | "query_range" | "labels" | "label_values" | "series" | "metadata" | "query_exemplars" | "rule_work";

/** A call of PromQL's HTTP API on its way to a worker. */
export interface PromqlCall {
  readonly type: "call";
  readonly id: number;
  readonly name: PromqlCallName;
  readonly tenant: string;
  /** Parameters of query and form as they were sent, URL-encoded. */
  readonly parameters: string;
  /** The label of label_values, as it stands in the path. */
  readonly label: string | null;
  /** What rule_work is to do. */
  readonly work?: RuleWork;
  /** For how long it has waited. */
  readonly waitedMs: number;
  /** Its first number becomes 1 when nobody waits for the answer any more. */
  readonly cancel: Int32Array<SharedArrayBuffer>;
}

/** The answer to a call, complete. */
export interface PromqlAnswer {
  readonly type: "answer";
  readonly id: number;
  readonly status: number;
  readonly body: Uint8Array<ArrayBuffer>;
  /** Time that the call has had of its worker, and samples that it has read. */
  readonly usedMs: number;
  readonly samples: number;
}

/** Main to a query worker. */
export type QueryWorkerCommand = PromqlCall | { readonly type: "stop" };

/** A query worker to main. */
export type QueryWorkerReport = PromqlAnswer | FaultReport;

interface EngineQuestion<Query extends { readonly type: string }> {
  readonly type: Query["type"];
  readonly id: number;
  readonly engine: number;
  readonly query: Omit<Query, "type" | "id">;
}

/** A query worker asks the coordinator: for what an engine knows of streams, or that what engines have sent is committed. */
export type SourceQuestion =
  | EngineQuestion<StreamPageQuery>
  | EngineQuestion<StreamChangesQuery>
  | EngineQuestion<StreamValuesQuery>
  | { readonly type: "settle"; readonly id: number }
  | { readonly type: "metadata"; readonly id: number; readonly tenant: string };

/** What is known of a metric. */
export interface MetricFacts {
  readonly name: string;
  readonly type: string;
  readonly unit: string;
  readonly help: string;
}

/** The coordinator's answer; one that failed says why. */
export interface SourceAnswer {
  readonly type: "source-answer";
  readonly id: number;
  readonly value: SourceValue | null;
  readonly error: string | null;
}

export type SourceValue = StreamPageAnswer | StreamChangesAnswer | StreamValuesAnswer | readonly MetricFacts[] | null;
