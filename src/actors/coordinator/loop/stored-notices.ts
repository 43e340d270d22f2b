// What engines are sent once it is stored: types of metrics, and deployments.
import type { MetricMetadataEnvelope } from "../../../core/protocol/coordinator-frame.ts";
import type { Deployment } from "../../../core/protocol/engine-control.ts";
import type { Log } from "../../../core/telemetry/log-event.ts";
import type { EngineLink } from "../engines/engine-link.ts";
import type { CommittedState } from "../nouns/committed-state.ts";

/** Senders of both. */
export function storedNotices(engines: readonly EngineLink[], { analyses }: CommittedState, log: Log) {
  return {
    metadataStored: (metadata: readonly MetricMetadataEnvelope[]) => {
      for (const engine of engines) engine.tell({ type: "metric-metadata", metadata });
      for (const { metricName, type } of metadata) log("debug", `${metricName} is of type ${type}`);
    },
    deploymentsStored: (deployments: readonly Deployment[]) => {
      analyses.changes.take(deployments);
      for (const engine of engines) engine.tell({ type: "deployments", deployments });
    },
  };
}
