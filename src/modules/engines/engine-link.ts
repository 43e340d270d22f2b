// The coordinator's end of one engine. What is stored is sent on to all of them.
import type { EngineFrame, MetricMetadataEnvelope } from "../../core/protocol/coordinator-frame.ts";
import type { EngineAnswer, EngineNotice, EngineQuery, ReturnedStreams } from "../../core/protocol/engine-control.ts";
import type { Log } from "../../core/telemetry/log-event.ts";
import { deploymentsAmong, type ServiceChange } from "../../domain/anomaly/change-event.ts";

/** Characters of a name in a line of the log. */
const NAME_CHARACTERS_MAX = 60;

/** Where frames come from. */
export interface FrameSource {
  /** Takes at most `most` frames, oldest first. */
  takeFrames(most: number): EngineFrame[];
  /** Takes a payload back that nothing reads any more. */
  reuse(payload: Uint8Array): void;
}

/** Where streams are delivered that an engine wants back. */
export interface ColdRecipient {
  deliver(streams: ReturnedStreams): void;
}

/** `ask` rejects when the engine does not answer in time. */
export interface EngineLink extends FrameSource, ColdRecipient {
  ask(query: EngineQuery): Promise<EngineAnswer>;
  /** Sends what is not answered. */
  notify(message: EngineNotice): void;
}

/** Where changes are kept that analyses use. */
interface ChangeBook {
  take(changes: readonly ServiceChange[]): void;
}

/** Makes the senders of them; services that cannot be listed are in the log once. */
export function storedNotices(engines: readonly EngineLink[], book: ChangeBook, log: Log) {
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
      for (const engine of engines) engine.notify({ type: "metric-metadata", metadata });
      // One line for all: each is a message to the main thread, whatever the level of the log.
      const [first] = metadata;
      if (first !== undefined)
        log("debug", `stored what is said of metrics: ${metadata.length}, ${first.metricName} of type ${first.type} first`);
    },
    changesStored: (changes: readonly ServiceChange[]) => {
      book.take(changes);
      const deployments = deploymentsAmong(changes);
      if (deployments.length > 0) for (const engine of engines) engine.notify({ type: "deployments", deployments });
    },
  };
}
