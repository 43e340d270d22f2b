// What query workers ask the coordinator for: streams that engines have in memory, what of them is in no stored block, and what is known of metrics. The workers
// read all else from the store themselves, so that a query costs this thread a message a page.
import type { SourceAnswer, SourceQuestion, SourceValue } from "../../core/protocol/query-worker.ts";
import { messageOf } from "../../core/text/error-text.ts";
import { EngineAsks, type EngineClient } from "../engines/engine-client.ts";
import type { MetadataTable } from "./metadata-table.ts";

export interface QuerySourceDependencies {
  readonly engines: EngineClient;
  readonly state: { readonly metadata: Pick<MetadataTable, "all"> };
  /** Commits what the engines have sent so far. */
  settle(): Promise<void>;
}

/** The coordinator as query workers see it. */
export class QuerySource {
  readonly #dependencies: QuerySourceDependencies;
  readonly #asks = new EngineAsks();

  constructor(dependencies: QuerySourceDependencies) {
    this.#dependencies = dependencies;
  }

  /** Answers a question; what fails is said, and never thrown. */
  async answer(question: SourceQuestion): Promise<SourceAnswer> {
    const { id } = question;
    try {
      return { type: "source-answer", id, value: await this.#value(question), error: null };
    } catch (error) {
      return { type: "source-answer", id, value: null, error: messageOf(error) };
    }
  }

  async #value(question: SourceQuestion): Promise<SourceValue> {
    const { engines, state, settle } = this.#dependencies;
    if (question.type === "metadata") {
      const own = state.metadata.all.filter(({ tenant }) => tenant === question.tenant);
      return own.map(({ metricName, type, unit, help }) => ({ name: metricName, type, unit, help }));
    }
    if (question.type === "settle") {
      await settle();
      return null;
    }
    const { engine, query } = question;
    return this.#asks.one(engine, query.tenant, (): Promise<SourceValue> => {
      if (question.type === "stream-page") return engines.streamPage(engine, question.query);
      if (question.type === "stream-changes") return engines.streamChanges(engine, question.query);
      return engines.streamValues(engine, question.query);
    });
  }
}
