// Carries batches of a replay, and what the server sends itself, from the coordinator to an engine, and the answers back. Live telemetry goes first: while many
// bodies wait, a batch is refused at once and comes again later.
import type { Clock } from "../../adapters/platform/clock.ts";
import { REPLAY_BODIES_WAITING_MAX } from "../../core/config/limits.ts";
import {
  BODY_ACCEPTED_LEVELS,
  BODY_JSON_OWN,
  BODY_REMOTE_WRITE_1,
  BODY_REPLAY,
  BODY_REPLAY_HISTORY,
} from "../../core/protocol/body-kind.ts";
import type { OwnTelemetry, OwnTelemetryAnswer } from "../../core/protocol/own-telemetry.ts";
import type { ReplayAnswer, ReplayBatch } from "../../core/protocol/query.ts";
import type { RuleSamples, RuleSamplesTaken } from "../../core/protocol/rule-work.ts";
import type { BodyPort } from "./body-port.ts";

export interface ReplayForwarderDependencies {
  readonly clock: Clock;
  readonly ports: readonly BodyPort[];
  readonly schedulePublish: () => void;
  readonly tenantIndex: (name: string) => number;
  readonly answer: (answer: ReplayAnswer | OwnTelemetryAnswer | RuleSamplesTaken) => void;
}

const BUSY = 503;

/** The way of batches. */
export class ReplayForwarder {
  readonly #dependencies: ReplayForwarderDependencies;

  constructor(dependencies: ReplayForwarderDependencies) {
    this.#dependencies = dependencies;
  }

  /** Hands a batch to the engine with the fewest bodies waiting. */
  take({ batch, tenant, isHistory, body }: ReplayBatch): void {
    const { answer } = this.#dependencies;
    const kind = isHistory ? BODY_REPLAY_HISTORY : BODY_REPLAY;
    this.#submit(kind, tenant, body, (status, text) => answer({ type: "replay-answer", batch, status, body: text }));
  }

  /** The same for what the server sends itself. */
  takeOwn({ id, tenant, holds, body }: OwnTelemetry): void {
    const { answer } = this.#dependencies;
    const kind = holds === "records" ? BODY_JSON_OWN : BODY_ACCEPTED_LEVELS;
    this.#submit(kind, tenant, body, (status, text) => answer({ type: "own-telemetry-answer", id, status, body: text }));
  }

  /** The same for samples of rules. */
  takeSamples({ id, tenant, body }: RuleSamples): void {
    this.#submit(BODY_REMOTE_WRITE_1, tenant, body, (status) => this.#dependencies.answer({ type: "rule-samples-taken", id, status }));
  }

  #submit(kind: number, tenant: string, bytes: Uint8Array, answer: (status: number, text: string | null) => void): void {
    const { clock, ports, schedulePublish, tenantIndex } = this.#dependencies;
    const port = ports.reduce((best, one) => (one.waiting < best.waiting ? one : best));
    const times = { arrivalMs: clock.monotonicMs(), wallMs: clock.wallMs() };
    const outgoing = { bytes, kind, tenant: tenantIndex(tenant), idempotencyKey: "", ...times, isAnonymous: false, sender: 0 };
    if (port.waiting < REPLAY_BODIES_WAITING_MAX && port.submit(outgoing, { answer })) schedulePublish();
    else answer(BUSY, null);
  }
}
