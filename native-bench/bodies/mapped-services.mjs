// Remote-write bodies of many services with four series each, one of every family: a value a minute, enough of them for a baseline and what is recent.
import { remoteWriteBodies } from "./remote-write.mjs";

const metrics = ["request_rate", "error_rate", "latency_ms", "cpu_percent"];
const samplesPerSeries = 20;
const perRequest = 500;

/** Series of one service. */
export const seriesPerService = metrics.length;

/** Name of service `i`. */
export function serviceName(/** @type {number} */ i) {
  return `mapped-service-${String(i).padStart(6, "0")}`;
}

function labels(/** @type {number} */ series) {
  const service = serviceName(Math.floor(series / seriesPerService));
  return [
    ["__name__", metrics[series % seriesPerService]],
    ["env", "production"],
    ["service_id", service],
  ];
}

export function mappedServiceBodies(/** @type {{services: number, endMs: number}} */ { services, endMs }) {
  const series = services * seriesPerService;
  return remoteWriteBodies({ series, perRequest, samplesPerSeries, samples: series * samplesPerSeries, stepMs: 60_000, labels, endMs });
}
