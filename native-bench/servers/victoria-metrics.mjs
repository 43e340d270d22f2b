// VictoriaMetrics, single node.
import { firstLine } from "../measure.mjs";
import { REMOTE_WRITE_HEADERS, startProcess } from "./server-process.mjs";

/** Version line, undefined where it is not installed. Debian's build prints no version of its own. */
export const victoriaMetricsVersion = installedVersion();

function installedVersion() {
  const own = firstLine("victoria-metrics", ["-version"]);
  if (own !== "") return own;
  return firstLine("dpkg-query", ["-W", "victoria-metrics"])?.replace("\t", " ") ?? "victoria-metrics of unknown version";
}

export function startVictoriaMetrics(options) {
  const plan = (port, dataDir) => ({
    command: "victoria-metrics",
    args: [`-storageDataPath=${dataDir}`, `-httpListenAddr=127.0.0.1:${port}`, "-retentionPeriod=1", "-loggerLevel=WARN"],
  });
  const countAccepted = (metrics) => metrics.sum("vm_rows_inserted_total");
  const server = { kind: "victoria-metrics", plan, ready: "/health", path: "/api/v1/write", headers: REMOTE_WRITE_HEADERS, countAccepted };
  return startProcess(server, options);
}
