// What others are sent once it is stored: types of metrics and deployments for engines, services that cannot be listed for the log.
import type { MetricMetadataEnvelope } from "../../../core/protocol/coordinator-frame.ts";
import type { Log } from "../../../core/telemetry/log-event.ts";
import { deploymentsAmong, type ServiceChange } from "../../../domain/anomaly/change-event.ts";
import type { EngineLink } from "../../../modules/engines/engine-link.ts";
import type { CommittedState } from "../nouns/committed-state.ts";

/** Characters of a name in a line of the log. */
const NAME_CHARACTERS_MAX = 60;

/** Senders of them. */
export function storedNotices(engines: readonly EngineLink[], { analyses }: CommittedState, log: Log) {
  let saidUnlisted = false;
  return {
    servicesUnlisted: (services: readonly string[]) => {
      const [first] = services;
      if (first === undefined || saidUnlisted) return;
      saidUnlisted = true;
      const name = first.length > NAME_CHARACTERS_MAX ? `${first.slice(0, NAME_CHARACTERS_MAX)}...` : first;
      log(
        "warn",
        `left out of the lists of series that left memory: services with names that an earlier version took and that no key can hold (first: ${name}); their samples are stored`,
      );
    },
    metadataStored: (metadata: readonly MetricMetadataEnvelope[]) => {
      for (const engine of engines) engine.tell({ type: "metric-metadata", metadata });
      for (const { metricName, type } of metadata) log("debug", `${metricName} is of type ${type}`);
    },
    changesStored: (changes: readonly ServiceChange[]) => {
      analyses.changes.take(changes);
      const deployments = deploymentsAmong(changes);
      if (deployments.length > 0) for (const engine of engines) engine.tell({ type: "deployments", deployments });
    },
  };
}
