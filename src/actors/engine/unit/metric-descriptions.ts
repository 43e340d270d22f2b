// What senders say of metrics: type, unit and help, of OTLP and of remote-write's metadata. What is new is stored with the unit of work at hand; a metric that says
// nothing new costs one look-up.
import { METADATA_HELP_CHARACTERS_MAX, METADATA_UNIT_CHARACTERS_MAX } from "../../../core/config/metric-limits.ts";
import type { MetadataMessage } from "../../../domain/remote-write/metadata-messages.ts";
import type { MetadataBook } from "../../../domain/series/metadata-book.ts";
import { isName } from "../../../domain/series/name-rule.ts";
import type { EngineCounters } from "../report/engine-counters.ts";
import type { WorkUnit } from "./work-unit.ts";

/** Description of one metric; without a help the one that is known stays. */
export type MetricDescription = Omit<MetadataMessage, "help"> & Partial<Pick<MetadataMessage, "help">> & { readonly sender?: number };

/** Takes descriptions for one engine. */
export class MetricDescriptions {
  readonly #metadata: MetadataBook;
  readonly #counters: EngineCounters;

  constructor(metadata: MetadataBook, counters: EngineCounters) {
    this.#metadata = metadata;
    this.#counters = counters;
  }

  /** Takes what was said at a wall clock time. */
  take(tenant: string, { metricName, type, unit: reported, help: input, sender }: MetricDescription, nowMs: number, unit: WorkUnit): void {
    if (!isName(metricName)) return;
    const help = input?.slice(0, METADATA_HELP_CHARACTERS_MAX) ?? this.#metadata.find(tenant, metricName)?.help ?? "";
    const description = { tenant, metricName, type, unit: reported.slice(0, METADATA_UNIT_CHARACTERS_MAX), help };
    const outcome = this.#metadata.learn(sender === undefined ? description : { ...description, sender }, nowMs);
    if (outcome === "no-room") this.#counters.add("metadataDropped", 1);
    if (outcome !== "new") return;
    this.#counters.add("metadataLearned", 1);
    unit.addMetadata(this.#metadata.find(tenant, metricName, sender) ?? description);
  }
}
