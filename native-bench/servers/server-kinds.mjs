// The kinds of server that a row may start, and what to install where one is missing.
import { startBareUws } from "./bare-uws.mjs";
import { prometheusVersion, startPrometheus } from "./prometheus.mjs";
import { startVedette } from "./vedette.mjs";
import { startVictoriaMetrics, victoriaMetricsVersion } from "./victoria-metrics.mjs";

const installed = () => undefined;

/** Per kind: `start(options)`, `missing()` with one line when it cannot be started, `version`. */
export const SERVERS = {
  vedette: { start: startVedette, missing: installed },
  "bare-uws": { start: startBareUws, missing: installed },
  prometheus: {
    start: startPrometheus,
    version: prometheusVersion,
    missing: () =>
      prometheusVersion ? undefined : "Prometheus, which is not installed; apt-get install --no-install-recommends prometheus",
  },
  "victoria-metrics": {
    start: startVictoriaMetrics,
    version: victoriaMetricsVersion,
    missing: () =>
      victoriaMetricsVersion
        ? undefined
        : "VictoriaMetrics, which is not installed; apt-get install --no-install-recommends victoria-metrics",
  },
};
