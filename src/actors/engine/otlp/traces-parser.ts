// Drives the kernel's walk over the spans of a body in protobuf: rows go to the span intake as numbers, a resource is read once, and what the kernel finds odd is decoded and
// judged span by span as any other item (domain/otlp/protobuf-traces.ts).

import type { EngineMemory } from "../../../adapters/shared-memory/engine-memory.ts";
import { BoundedMap } from "../../../core/collections/bounded-map.ts";
import { TIMESTAMP_AGE_MS_MAX, TIMESTAMP_FUTURE_MS_MAX } from "../../../core/config/limits.ts";
import {
  SPAN_ROW_ITEM,
  SPAN_ROW_ITEM_END,
  SPAN_ROW_ODD,
  SPAN_ROW_RESOURCE,
  SPAN_ROW_RESOURCE_BYTES,
} from "../../../core/layout/span-row.ts";
import { WireReader } from "../../../domain/codec/wire-reader.ts";
import type { IngestExports } from "../../../domain/kernel/ingest-kernel.ts";
import type { OtlpSource, SpanItem } from "../../../domain/otlp/otlp-items.ts";
import { sourceOfResource } from "../../../domain/otlp/protobuf-request.ts";
import { spanItem } from "../../../domain/otlp/protobuf-traces.ts";
import { serviceSeed } from "../../../domain/placement/partition.ts";
import { NO_LOSS } from "../../../domain/series/retained-attributes.ts";
import type { EngineCounters } from "../report/engine-counters.ts";
import type { SpanIntake, SpanSource } from "../spans/span-intake.ts";
import { SpanRows } from "../spans/span-rows.ts";
import type { Body } from "../unit/body.ts";
import type { LabelIntake } from "../unit/label-intake.ts";
import type { WorkUnit } from "../unit/work-unit.ts";
import type { OtlpOutcome } from "./otlp-outcome.ts";

/** Resources that are remembered with what they say, and the longest of them: 4 MiB with their texts. */
const RESOURCES_RETAINED_MAX = 1_000;
const RESOURCE_BYTES_MAX = 2 * 1024;

/** A row takes as long as such a part of another item: 2 us, 10 where its name is new. */
const ROW_ITEMS = 0.375;

/** A resource of one tenant. */
interface KnownResource {
  /** Undefined where it cannot be read. */
  readonly source: OtlpSource | undefined;
  /** Undefined where its spans are to be judged one by one. */
  readonly spans: SpanSource | undefined;
}

export interface TracesParserDependencies {
  readonly memory: EngineMemory;
  readonly kernel: IngestExports;
  readonly spans: SpanIntake;
  readonly counters: Pick<EngineCounters, "lost">;
  readonly labels: LabelIntake;
  readonly tenantName: (index: number) => string;
}

/** One engine's, over one body at a time. */
export class TracesParser {
  readonly #dependencies: TracesParserDependencies;
  readonly #rows: SpanRows;
  readonly #prefixes: boolean;
  /** By tenant and bytes; forgotten all together when they are too many. */
  readonly #resources = new BoundedMap<string, KnownResource>(RESOURCES_RETAINED_MAX);
  #tenant = "";
  #resourceAt = -1;
  #resource: KnownResource = { source: undefined, spans: undefined };
  /** Whether labels of the resource at hand are still to be told. */
  #isUnreported = true;
  /** Whether the row at hand was read and has not been taken: its unit was full. */
  #waits = false;
  #forgotten = 0;

  /** `prefixes` as sourceOf() has it. */
  constructor(dependencies: TracesParserDependencies, prefixes: boolean) {
    this.#prefixes = prefixes;
    this.#dependencies = dependencies;
    this.#rows = new SpanRows(dependencies.memory, dependencies.kernel);
  }

  /** Has the kernel check a body and begins the walk: STATUS_OK, or why there is none. */
  begin(body: Body): number {
    const { kernel, tenantName } = this.#dependencies;
    this.#tenant = tenantName(body.tenant);
    this.#resourceAt = -1;
    this.#waits = false;
    this.#rows.reset();
    const least = body.wallMs - TIMESTAMP_AGE_MS_MAX;
    const most = body.wallMs + TIMESTAMP_FUTURE_MS_MAX;
    return kernel.otlpTracesBegin(body.pointer, body.bytes, serviceSeed(this.#tenant), least, most);
  }

  /** Walks on, and gives `odd` what is to be decoded here; false when the unit must be committed first. */
  step(body: Body, unit: WorkUnit, outcome: OtlpOutcome, odd: (item: SpanItem) => void): boolean {
    const rows = this.#rows;
    const { spans, counters } = this.#dependencies;
    this.#follow(spans.forgotten);
    let accepted = 0;
    while (this.#waits || rows.next()) {
      this.#waits = !unit.mayWork;
      if (this.#waits) break;
      if (rows.word(SPAN_ROW_RESOURCE) !== this.#resourceAt) this.#enter(unit);
      const { source, spans: service } = this.#resource;
      if (service === undefined || source === undefined || (rows.flags & SPAN_ROW_ODD) !== 0) {
        unit.worked(rows.word(SPAN_ROW_ITEM_END) - rows.word(SPAN_ROW_ITEM));
        odd(this.#item(body));
        continue;
      }
      unit.worked(0, ROW_ITEMS);
      spans.takeRow(service, rows, source.resourceAttributes, unit);
      accepted++;
      if (source.loss !== NO_LOSS) counters.lost(source.loss);
      if (this.#isUnreported) this.#report(service, source, unit);
    }
    outcome.accept(accepted);
    return !this.#waits;
  }

  /** The walk has been taken up where the step of the row at hand began, perhaps of a body that lies elsewhere now. */
  goOn(): void {
    this.#resourceAt = -1;
    this.#rows.stepAgain();
  }

  /** Services that were forgotten are not kept here: spans of one service stay in their order, whoever reads them. */
  #follow(forgotten: number): void {
    if (forgotten === this.#forgotten) return;
    this.#forgotten = forgotten;
    this.#resources.clear();
    this.#resourceAt = -1;
  }

  #report({ serviceId }: SpanSource, { resourceAttributes }: OtlpSource, unit: WorkUnit): void {
    this.#isUnreported = false;
    this.#dependencies.labels.takeAttributes(this.#tenant, serviceId, resourceAttributes, unit);
  }

  /** The resource of the row at hand. */
  #enter(unit: WorkUnit): void {
    const rows = this.#rows;
    this.#resourceAt = rows.word(SPAN_ROW_RESOURCE);
    this.#isUnreported = true;
    const bytes = this.#dependencies.memory.slice(this.#resourceAt, rows.word(SPAN_ROW_RESOURCE_BYTES));
    if (bytes.length > RESOURCE_BYTES_MAX) {
      this.#resource = this.#read(bytes, unit);
      return;
    }
    const key = `${this.#tenant}\0${bytes.toString("latin1")}`;
    this.#resource = this.#resources.obtain(key, () => this.#read(bytes, unit));
  }

  #read(bytes: Buffer, unit: WorkUnit): KnownResource {
    const source = sourceOfResource(bytes, this.#prefixes);
    if (source === undefined || source.resourceRefusal !== undefined) return { source, spans: undefined };
    return { source, spans: this.#dependencies.spans.source(this.#tenant, source.environment, source.serviceId, unit) };
  }

  /** The span at hand as the decoder in TypeScript reads it. */
  #item(body: Body): SpanItem {
    const rows = this.#rows;
    const reader = new WireReader(this.#dependencies.memory.slice(body.pointer, body.bytes));
    const from = rows.word(SPAN_ROW_ITEM) - body.pointer;
    return spanItem(reader, from, rows.word(SPAN_ROW_ITEM_END) - body.pointer, this.#resource.source);
  }
}
