// Carries batches of a replay from the coordinator to an engine, and the answers back. Live telemetry goes first: while many bodies wait, a batch is
// refused at once and comes again later.
import type { Clock } from "../../adapters/runtime/clock.ts";
import { REPLAY_BODIES_WAITING_MAX } from "../../core/config/limits.ts";
import { BODY_REPLAY, BODY_REPLAY_HISTORY } from "../../core/protocol/body-kind.ts";
import type { ReplayAnswer, ReplayBatch } from "../../core/protocol/query.ts";
import type { BodyPort } from "./body-port.ts";

export interface ReplayForwarderDependencies {
  readonly clock: Clock;
  readonly ports: readonly BodyPort[];
  readonly schedulePublish: () => void;
  readonly tenantIndex: (name: string) => number;
  readonly answer: (answer: ReplayAnswer) => void;
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
    const { clock, ports, schedulePublish, tenantIndex } = this.#dependencies;
    const answer = (status: number, text: string | null) => this.#dependencies.answer({ type: "replay-answer", batch, status, body: text });
    const port = ports.reduce((best, one) => (one.waiting < best.waiting ? one : best));
    const outgoing = {
      bytes: body,
      kind: isHistory ? BODY_REPLAY_HISTORY : BODY_REPLAY,
      tenant: tenantIndex(tenant),
      idempotencyKey: "",
      arrivalMs: clock.monotonicMs(),
      wallMs: clock.wallMs(),
      isAnonymous: false,
    };
    if (port.waiting < REPLAY_BODIES_WAITING_MAX && port.submit(outgoing, { answer })) schedulePublish();
    else answer(BUSY, null);
  }
}
