// Sends the requests of an import one after another. It pauses as long as the server took, so that it never has more than half of an engine, and comes
// back later when the server says that it is busy, or cannot be reached for a while.
import { serverFetch } from "../../adapters/http/server-fetch.ts";
import type { Clock } from "../../adapters/platform/clock.ts";
import { causeMessageOf } from "../../core/text/error-text.ts";
import { UnreachableError } from "../../server/exit-code.ts";
import { askingHeaders } from "../client/asked-server.ts";
import { ImportError } from "./import-options.ts";
import type { ImportRequest } from "./import-requests.ts";

export interface ImportSenderOptions {
  readonly url: string;
  readonly token: string;
  readonly tenant?: string | undefined;
}

/** Answer of the server to one request. */
export interface ImportAnswer {
  readonly imported: number;
  readonly failed: number;
  readonly failures: ReadonlyArray<{ readonly at: string; readonly error: string; readonly message: string }>;
}

const RETRY_MS_FIRST = 200;
const RETRY_MS_MAX = 10_000;
/** Attempts of one request: about three minutes. */
const ATTEMPTS_MAX = 24;
/** Attempts to reach a server that has not answered yet, 1.4 s: a wrong port is said at once, a server that restarts meanwhile is waited for. */
const FIRST_ATTEMPTS_MAX = 4;
const REQUEST_MS_MAX = 60_000;

export interface ImportSenderDependencies {
  readonly clock: Clock;
  /** Is told once a request why it has to wait. */
  reportWaiting(reason: string): void;
  sleep(ms: number): Promise<void>;
}

/** One connection to one server. */
export class ImportSender {
  readonly #options: ImportSenderOptions;
  readonly #dependencies: ImportSenderDependencies;
  #wasReached = false;

  constructor(options: ImportSenderOptions, dependencies: ImportSenderDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  /** Sends until the server has it. Throws ImportError when it refuses or stays away, UnreachableError when it never answered. */
  async send(request: ImportRequest): Promise<ImportAnswer> {
    const { clock, reportWaiting, sleep } = this.#dependencies;
    let reason = "";
    for (let attempt = 0, retryMs = RETRY_MS_FIRST; attempt < ATTEMPTS_MAX; attempt++, retryMs = Math.min(RETRY_MS_MAX, 2 * retryMs)) {
      const startMs = clock.monotonicMs();
      const outcome = await this.#attempt(request);
      if (!this.#wasReached && attempt + 1 === FIRST_ATTEMPTS_MAX) {
        const advice = "is it running there, and is the port right? Nothing was sent";
        throw new UnreachableError(`no server answers at ${this.#options.url} (${String(outcome)}); ${advice}`);
      }
      if (typeof outcome !== "string") {
        await sleep(clock.monotonicMs() - startMs);
        return outcome;
      }
      if (reason === "") reportWaiting(outcome);
      reason = outcome;
      await sleep(retryMs);
    }
    throw new ImportError(
      `the server did not take the samples for some minutes (${reason}); run the same command again to go on from there`,
    );
  }

  /** The answer, or why to try again. */
  async #attempt({ body }: ImportRequest): Promise<ImportAnswer | string> {
    const headers = { "Content-Type": "application/json", ...askingHeaders({ tenant: undefined, ...this.#options }) };
    const signal = AbortSignal.timeout(REQUEST_MS_MAX);
    const asked = { method: "POST", headers, body, signal };
    const response = await serverFetch(this.#options.url, "/api/v1/import", asked).catch((error: unknown) => error);
    if (!(response instanceof Response)) return causeMessageOf(response);
    this.#wasReached = true;
    const text = await response.text().catch(() => undefined);
    if (text === undefined) return "the answer was cut off";
    if (response.status === 200) return JSON.parse(text) as ImportAnswer;
    if (response.status === 503 || response.status === 429) return `it answered ${response.status}`;
    throw new ImportError(`the server answered ${response.status}: ${text.slice(0, 500)}`);
  }
}
