// Bodies that the server sends its engines itself, by the way of the front, and their answers.
import { Requests } from "../../adapters/threads/requests.ts";
import { OWN_BODY_ANSWER_MS_MAX } from "../../core/config/limits.ts";
import type { OwnTelemetry, OwnTelemetryAnswer } from "../../core/protocol/own-telemetry.ts";

export class OwnBodies {
  readonly #emit: (message: OwnTelemetry) => void;
  readonly #waiting = new Requests<OwnTelemetryAnswer>();

  constructor({ emit }: { readonly emit: (message: OwnTelemetry) => void }) {
    this.#emit = emit;
  }

  /** Sends one; undefined where no answer came in time. */
  send({ tenant, holds, body }: Pick<OwnTelemetry, "tenant" | "holds" | "body">): Promise<OwnTelemetryAnswer | undefined> {
    return this.#waiting.ask(OWN_BODY_ANSWER_MS_MAX, (id) => this.#emit({ type: "own-telemetry", id, tenant, holds, body }));
  }

  /** Takes an engine's answer. */
  take(answer: OwnTelemetryAnswer): void {
    this.#waiting.settle(answer);
  }
}
