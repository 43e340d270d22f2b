// The server of this repository, started as `make run` does, with its default settings but one engine and quiet logs.
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { REMOTE_WRITE_HEADERS, startProcess } from "./server-process.mjs";

const ownMainFile = join(fileURLToPath(new URL("../..", import.meta.url)), "dist", "main.js");

export const REMOTE_WRITE_PATH = "/api/v1/rwmetrics/write";
export const SINGLE_PATH = "/api/v1/telemetry";
export const BATCH_PATH = "/api/v1/telemetry/batch";
export const OTLP_METRICS_PATH = "/v1/metrics";
export const OTLP_TRACES_PATH = "/v1/traces";
export const OTLP_LOGS_PATH = "/v1/logs";
export const OTLP_HEADERS = ["Content-Type: application/x-protobuf"];
export const JSON_HEADERS = ["Content-Type: application/json"];

/** Samples stored that were neither repeated nor late: those are not scored, so a bench that sends them measures something else. */
function countAccepted(metrics) {
  const unscored = metrics.sum("vedette_samples_duplicate_total") + metrics.sum("vedette_samples_late_total");
  return metrics.sum("svc_ingestion_events_total", 'status="accepted"') - unscored;
}

/** `mainFile`: of another checkout, which before-after.mjs compares. */
export function startVedette({ mainFile = ownMainFile, ...options }) {
  const plan = (port, dataDir) => ({
    command: process.execPath,
    args: ["--no-memory-reducer", mainFile],
    env: { PORT: String(port), OTLP_PORT: "0", OTLP_GRPC_PORT: "0", ALERTS_PORT: "0", DATA_DIR: dataDir, ENGINES: "1", LOG_LEVEL: "warn" },
  });
  const server = { kind: "vedette", plan, ready: "/readyz", path: REMOTE_WRITE_PATH, headers: REMOTE_WRITE_HEADERS, countAccepted };
  return startProcess(server, options);
}
