// What OTLP metrics say of themselves: type and unit, kept where those of remote-write's metadata are. A metric that says nothing new costs one look-up.
import { METADATA_UNIT_CHARACTERS_MAX, NAME_BYTES_MAX } from "../../../core/config/limits.ts";
import type { MetricHead } from "../../../domain/otlp/otlp-items.ts";
import type { MetadataBook } from "../../../domain/series/metadata-book.ts";
import type { EngineCounters } from "../report/engine-counters.ts";
import type { WorkUnit } from "../unit/work-unit.ts";

/** Takes descriptions for one lane. */
export class MetricDescriptions {
  readonly #metadata: MetadataBook;
  readonly #counters: EngineCounters;

  constructor(metadata: MetadataBook, counters: EngineCounters) {
    this.#metadata = metadata;
    this.#counters = counters;
  }

  /** Takes what a metric that came at a wall clock time says; what is new is stored with the unit of work at hand. */
  take(tenant: string, { metricName, type, unit: told }: Omit<MetricHead, "source">, nowMs: number, unit: WorkUnit): void {
    if (metricName.length > NAME_BYTES_MAX) return;
    const help = this.#metadata.find(tenant, metricName)?.help ?? "";
    const description = { tenant, metricName, type, unit: told.slice(0, METADATA_UNIT_CHARACTERS_MAX), help };
    const outcome = this.#metadata.learn(description, nowMs);
    if (outcome === "no-room") this.#counters.add("metadataDropped", 1);
    if (outcome !== "new") return;
    this.#counters.add("metadataLearned", 1);
    unit.addMetadata(this.#metadata.find(tenant, metricName) ?? description);
  }
}
