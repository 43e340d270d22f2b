// Samples that rules made on their way into an engine, as a sender's: where engines are full they are sent again a little later, as a sender would.
import { Requests } from "../../adapters/threads/requests.ts";
import { RULE_SAMPLE_ANSWER_MS_MAX, RULE_SAMPLE_RETRY_MS, RULE_SAMPLE_TRIES_MAX } from "../../core/config/rule-limits.ts";
import type { RuleSamples, RuleSamplesTaken } from "../../core/protocol/rule-work.ts";

export interface RuleSampleSenderDependencies {
  emit(message: RuleSamples): void;
  sleep(ms: number): Promise<void>;
}

/** Status of an engine that is full. */
const FULL_STATUS = 503;

/** Sends samples and waits until they are taken. */
export class RuleSampleSender {
  readonly #dependencies: RuleSampleSenderDependencies;
  readonly #requests = new Requests<RuleSamplesTaken>();

  constructor(dependencies: RuleSampleSenderDependencies) {
    this.#dependencies = dependencies;
  }

  /** Takes an engine's answer. */
  take(taken: RuleSamplesTaken): void {
    this.#requests.settle(taken);
  }

  /** Sends a request; false where no engine takes it. */
  async send(tenant: string, body: Uint8Array): Promise<boolean> {
    if (body.length === 0) return true;
    for (let tries = 1; ; tries++) {
      const status = await this.#try(tenant, body);
      if (status !== FULL_STATUS) return status < 300;
      if (tries === RULE_SAMPLE_TRIES_MAX) return false;
      await this.#dependencies.sleep(RULE_SAMPLE_RETRY_MS * tries);
    }
  }

  async #try(tenant: string, body: Uint8Array): Promise<number> {
    const { emit } = this.#dependencies;
    const taken = await this.#requests.ask(RULE_SAMPLE_ANSWER_MS_MAX, (id) => emit({ type: "rule-samples", id, tenant, body }));
    return taken?.status ?? FULL_STATUS;
  }
}
