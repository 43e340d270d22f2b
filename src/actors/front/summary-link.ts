// Words summaries for the coordinator by a language model that the operator has named; what goes wrong is logged once a minute, and costs the words alone.
import type { SummaryModel, SummaryModelOptions } from "../../adapters/http-client/summary-model.ts";
import type { Clock } from "../../adapters/platform/clock.ts";
import { ConfigError } from "../../core/config/config-error.ts";
import type { Config } from "../../core/config/load-config.ts";
import type { SummaryWanted, SummaryWorded } from "../../core/protocol/summary-wording.ts";
import type { Log } from "../../core/telemetry/log-event.ts";
import { messageOf } from "../../core/text/error-text.ts";

export interface SummaryLinkDependencies {
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly log: Log;
  answer(worded: SummaryWorded): void;
}

const LOGGED_MS = 60_000;

/** The link by the settings; throws ConfigError where LLM_BASE_URL is no URL. */
export function summaryLink(
  { LLM_BASE_URL: baseUrl, LLM_MODEL: model, LLM_API_KEY: key }: Pick<Config, "LLM_BASE_URL" | "LLM_MODEL" | "LLM_API_KEY">,
  dependencies: SummaryLinkDependencies,
): SummaryLink {
  if (baseUrl !== "" && !/^https?:\/\/./.test(baseUrl))
    throw new ConfigError("LLM_BASE_URL must be a URL that begins with http:// or https://");
  return new SummaryLink({ baseUrl, model, key: key?.reveal() }, dependencies);
}

export class SummaryLink {
  readonly #dependencies: SummaryLinkDependencies;
  readonly #options: SummaryModelOptions;
  #model: Promise<SummaryModel> | undefined;
  #loggedMs = Number.NEGATIVE_INFINITY;

  /** Without a `baseUrl` nothing is ever asked. */
  constructor(options: SummaryModelOptions, dependencies: SummaryLinkDependencies) {
    this.#dependencies = dependencies;
    this.#options = options;
  }

  async word({ id, facts }: SummaryWanted): Promise<void> {
    const text = this.#options.baseUrl === "" ? null : await this.#askModel(facts).catch((error: unknown) => this.#failed(error));
    this.#dependencies.answer({ type: "summary-worded", id, text });
  }

  async close(): Promise<void> {
    await (await this.#model)?.close();
  }

  /** The model is loaded for the first: most servers have none. */
  async #askModel(facts: string): Promise<string> {
    this.#model ??= import("../../adapters/http-client/summary-model.ts").then(({ SummaryModel }) => new SummaryModel(this.#options));
    return (await this.#model).word(facts);
  }

  #failed(error: unknown): null {
    const { clock, log } = this.#dependencies;
    const nowMs = clock.monotonicMs();
    if (nowMs - this.#loggedMs >= LOGGED_MS) {
      this.#loggedMs = nowMs;
      log("warn", `LLM_BASE_URL words no summary: ${messageOf(error)}; summaries are by rule`);
    }
    return null;
  }
}
