// Prometheus as a remote-write receiver.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { firstLine } from "../measure.mjs";
import { REMOTE_WRITE_HEADERS, startProcess } from "./server-process.mjs";

/** Version line, undefined where it is not installed. */
export const prometheusVersion = firstLine("prometheus", ["--version"])?.replace(/ \(.*/, "");

export function startPrometheus(options) {
  const plan = (port, dataDir) => {
    const config = join(options.workDir, "prometheus.yml");
    writeFileSync(config, "global: {scrape_interval: 15s}\n");
    return {
      command: "prometheus",
      args: [
        `--config.file=${config}`,
        "--web.enable-remote-write-receiver",
        `--storage.tsdb.path=${dataDir}`,
        `--web.listen-address=127.0.0.1:${port}`,
        "--log.level=warn",
      ],
    };
  };
  const countAccepted = (metrics) => metrics.sum("prometheus_tsdb_head_samples_appended_total");
  const server = { kind: "prometheus", plan, ready: "/-/ready", path: "/api/v1/write", headers: REMOTE_WRITE_HEADERS, countAccepted };
  return startProcess(server, options);
}
