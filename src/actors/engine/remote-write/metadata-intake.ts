// Metadata of an ingest's remote-write bodies: messages of 1.0, and what series of 2.0 report themselves. New ones are stored with the unit at hand.
import type { EngineMemory } from "../../../adapters/shared-memory/engine-memory.ts";
import { NAME_BYTES_MAX } from "../../../core/config/limits.ts";
import { METADATA_HELP_CHARACTERS_MAX, METADATA_PER_BODY_MAX } from "../../../core/config/metric-limits.ts";
import { BODY_PADDING_BYTES, SCRATCH } from "../../../core/layout/memory-map.ts";
import { type IngestExports, parseLabelSpan } from "../../../domain/kernel/ingest-kernel.ts";
import { type MetadataMessage, metadataMessages, metricTypeOf } from "../../../domain/remote-write/metadata-messages.ts";
import type { MetadataBook } from "../../../domain/series/metadata-book.ts";
import { saysOtherwise } from "../../../domain/series/metric-metadata.ts";
import { isName } from "../../../domain/series/name-rule.ts";
import type { Body } from "../unit/body.ts";
import type { MetricDescriptions } from "../unit/metric-descriptions.ts";
import type { WorkUnit } from "../unit/work-unit.ts";

export interface MetadataIntakeDependencies {
  readonly memory: EngineMemory;
  readonly kernel: IngestExports;
  readonly metadata: MetadataBook;
  readonly descriptions: MetricDescriptions;
  readonly tenantName: (index: number) => string;
  readonly tenantIndex: (name: string) => number;
}

/** What the metadata messages of a body came to. */
export interface TakenMessages {
  /** Those whose metric has a name that is none. */
  readonly refused: readonly MetadataMessage[];
  /** By the names of metrics, but for those of which the body says two types. */
  readonly byName: ReadonlyMap<string, MetadataMessage>;
}

const text = new TextDecoder("utf-8");

/** Takes metadata for one engine. */
export class MetadataIntake {
  readonly #dependencies: MetadataIntakeDependencies;
  /** Version of the corrected kinds that the kernel has. */
  #version = 0;
  #needsClear = false;

  constructor(dependencies: MetadataIntakeDependencies) {
    this.#dependencies = dependencies;
  }

  /** Takes the messages of a 1.0 body, as far as METADATA_PER_BODY_MAX goes. */
  takeMessages(content: Uint8Array, body: Body, unit: WorkUnit): TakenMessages {
    const refused: MetadataMessage[] = [];
    const byName = new Map<string, MetadataMessage>();
    const contested = new Set<string>();
    let seen = 0;
    for (const message of metadataMessages(content)) {
      if (++seen > METADATA_PER_BODY_MAX) break;
      const { metricName, type } = message;
      if (!isName(metricName)) {
        refused.push(message);
        continue;
      }
      this.#takeMessage(message, body, unit);
      const before = byName.get(metricName);
      if (before === undefined || before.type === "unknown") byName.set(metricName, message);
      else if (saysOtherwise(metricName, before.type, type)) {
        contested.add(metricName);
        // Said again behind the other type, it is the word of a sender that contradicts itself, whatever was known before.
        this.#takeMessage(before, body, unit);
      }
    }
    for (const metricName of contested) byName.delete(metricName);
    this.settle();
    return { refused, byName };
  }

  #takeMessage(message: MetadataMessage, { tenant, wallMs, sender }: Body, unit: WorkUnit): void {
    const { descriptions, tenantName } = this.#dependencies;
    descriptions.take(tenantName(tenant), sender === 0 ? message : { ...message, sender }, wallMs, unit);
  }

  /** After STATUS_METADATA: those of the series that the walk stands at. */
  takeSeries(body: Body, unit: WorkUnit): void {
    const { kernel, memory, descriptions, tenantName } = this.#dependencies;
    const at = kernel.unknownPointer();
    const labels = parseLabelSpan(memory.bytes.slice(at, at + kernel.unknownBytes()));
    const metricName = labels?.find(([name]) => name === "__name__")?.[1] ?? "";
    const type = metricTypeOf(kernel.metadataType());
    const help = this.#symbol(kernel.metadataHelp());
    const reported = this.#symbol(kernel.metadataUnit());
    // A series that tells nothing is not worth a row; one that told something before takes nothing back.
    if (metricName !== "" && (type !== "unknown" || help !== "" || reported !== ""))
      descriptions.take(tenantName(body.tenant), { metricName, type, help, unit: reported }, body.wallMs, unit);
    this.#correctKinds();
    kernel.remoteWriteNoted();
  }

  /** To be called between bodies. Series in the ingest table were defined with the kinds before: they are defined anew when they come again. */
  settle(): void {
    this.#correctKinds();
    if (this.#needsClear) this.#dependencies.kernel.keyTableClear();
    this.#needsClear = false;
  }

  #symbol(number: number): string {
    const { kernel, memory } = this.#dependencies;
    if (number >= kernel.symbolCount()) return "";
    const at = kernel.symbolPointer(number);
    return text.decode(memory.bytes.slice(at, at + Math.min(kernel.symbolBytes(number), 4 * METADATA_HELP_CHARACTERS_MAX)));
  }

  /** Gives the kernel the kinds that metadata correct, where they have changed. */
  #correctKinds(): void {
    const { metadata, kernel, memory, tenantIndex } = this.#dependencies;
    if (metadata.version === this.#version) return;
    this.#version = metadata.version;
    this.#needsClear = true;
    kernel.seriesKindsClear();
    for (const { tenant, seriesName, counts, isContested } of metadata.correctedKinds) {
      const bytes = memory.slice(SCRATCH, 4 * NAME_BYTES_MAX + BODY_PADDING_BYTES).write(seriesName);
      const isFull = kernel.seriesKindsAdd(SCRATCH, bytes, tenantIndex(tenant), counts ? 1 : 0, isContested ? 1 : 0) === 0;
      if (isFull) break;
    }
  }
}
