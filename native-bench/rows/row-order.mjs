// The rows: those of the table of goals in its order, with that on overload; then the others.
import { adapters } from "./adapters.mjs";
import { anomalyCost } from "./anomaly-cost.mjs";
import { answerLatency } from "./answer-latency.mjs";
import { authCost } from "./auth-cost.mjs";
import { backup } from "./backup.mjs";
import { bystanders } from "./bystanders.mjs";
import { coldStreams } from "./cold-streams.mjs";
import { deadLetters } from "./dead-letters.mjs";
import { detectionLatency } from "./detection-latency.mjs";
import { disk } from "./disk.mjs";
import { engines } from "./engines.mjs";
import { fairness } from "./fairness.mjs";
import { firstRequests } from "./first-requests.mjs";
import { heap } from "./heap.mjs";
import { jsonBatches } from "./json-batches.mjs";
import { kernels } from "./kernels.mjs";
import { millionStreams } from "./million-streams.mjs";
import { predictions, shadowModels } from "./models.mjs";
import { neighbours } from "./neighbours.mjs";
import { newStreams } from "./new-streams.mjs";
import { notifyFlood, notifyLatency } from "./notify.mjs";
import { oddBodies } from "./odd-bodies.mjs";
import { otlpGrpc } from "./otlp-grpc.mjs";
import { otlpMetrics, otlpMetricsJson } from "./otlp-metrics.mjs";
import { otlpTraces } from "./otlp-traces.mjs";
import { overload } from "./overload.mjs";
import { patterns } from "./patterns.mjs";
import { pillars } from "./pillars.mjs";
import { hundredThousandSeries, tenSamplesASeries, tenThousandSeries } from "./remote-write-throughput.mjs";
import { rootCauses } from "./root-causes.mjs";
import { rootCausesBeside } from "./root-causes-beside.mjs";
import { singleRecords } from "./single-records.mjs";
import { watchdog } from "./watchdog.mjs";
import { watchdogServices } from "./watchdog-services.mjs";
import { hostileTransforms, idle, webhookLatency } from "./webhook-latency.mjs";

/** @type {import("../turns.mjs").Row[]} */
const GOAL_ROWS = [
  tenThousandSeries,
  hundredThousandSeries,
  tenSamplesASeries,
  firstRequests,
  newStreams,
  jsonBatches,
  singleRecords,
  detectionLatency,
  millionStreams,
  disk,
  heap,
  overload,
];

/**
 * Run once where those above took long (bench.mjs).
 * @type {import("../turns.mjs").Row[]}
 */
export const OTHER_ROWS = [
  engines,
  answerLatency,
  anomalyCost,
  bystanders,
  coldStreams,
  otlpMetrics,
  otlpMetricsJson,
  otlpGrpc,
  adapters,
  otlpTraces,
  authCost,
  fairness,
  watchdogServices,
  shadowModels,
  predictions,
  watchdog,
  pillars,
  patterns,
  rootCauses,
  rootCausesBeside,
  notifyLatency,
  notifyFlood,
  webhookLatency,
  hostileTransforms,
  idle,
  oddBodies,
  neighbours,
  deadLetters,
  backup,
  kernels,
];

export const ROWS = [...GOAL_ROWS, ...OTHER_ROWS];
