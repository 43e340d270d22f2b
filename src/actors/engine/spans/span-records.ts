// Gathers the spans of a unit into blocks of records, one for each service and second in which they ended.
import { SECTION_SPAN_BLOCK } from "../../../core/layout/row-frame.ts";
import { type Attributes, FRAME_SPAN_BLOCK } from "../../../core/protocol/coordinator-frame.ts";
import type { OtlpSpan } from "../../../domain/otlp/otlp-items.ts";
import type { FieldExclusions } from "../../../domain/series/field-exclusions.ts";
import { SpanBlockWriter } from "../../../domain/trace/span-block.ts";
import type { ServiceName } from "../../../domain/window/window-message.ts";
import { BASE_LEAD_MS, type WorkUnit } from "../work-unit.ts";

/** A block leaves at this size: LMDB is cheap with values of some pages, and a query reads whole blocks. */
const BLOCK_BYTES_FULL = 32 * 1024;
const NO_ATTRIBUTES = "{}";

interface OpenBlock {
  /** JSON. */
  readonly resource: string;
  readonly writer: SpanBlockWriter;
}

/** Blocks of one service in the unit at hand. */
export class SpanRecords {
  readonly #service: ServiceName;
  readonly #open = new Map<number, OpenBlock>();
  /** The resource that was written last: a decoder gives the same object for all spans of one resource. */
  #resource: Attributes | undefined;
  #resourceText = NO_ATTRIBUTES;

  readonly #exclusions: FieldExclusions;
  readonly #nextSerial: () => number;

  /** `nextSerial` counts the blocks of the lane. */
  constructor(service: ServiceName, exclusions: FieldExclusions, nextSerial: () => number) {
    this.#service = service;
    this.#exclusions = exclusions;
    this.#nextSerial = nextSerial;
  }

  /** Adds a span; times in whole microseconds, `salt` any number that goes with it. */
  add(span: OtlpSpan, parentSpanId: string, endMicroseconds: number, microseconds: number, salt: number, unit: WorkUnit): void {
    const second = Math.floor(endMicroseconds / 1_000_000);
    const resource = this.#textOf(span.resourceAttributes);
    let open = this.#open.get(second);
    if (open !== undefined && (open.resource !== resource || open.writer.bytes > BLOCK_BYTES_FULL)) {
      unit.addOpaque(SECTION_SPAN_BLOCK, FRAME_SPAN_BLOCK, open.writer.finish());
      open = undefined;
    }
    if (open === undefined) {
      const receivedMs = unit.baseMs + BASE_LEAD_MS;
      const writer = new SpanBlockWriter(this.#service, { second, receivedMs, serial: this.#nextSerial(), salt, resource });
      open = { resource, writer };
      this.#open.set(second, open);
    }
    const { traceId, spanId, name, kind, statusCode } = span;
    const attributes = this.#attributesText(span.attributes);
    open.writer.add({ traceId, spanId, parentSpanId, name, kind, statusCode, endMicroseconds, microseconds, attributes });
  }

  #textOf(resource: Attributes): string {
    if (resource !== this.#resource) {
      this.#resource = resource;
      this.#resourceText = this.#attributesText(resource);
    }
    return this.#resourceText;
  }

  /** The attributes that may be stored, as JSON. */
  #attributesText(attributes: Attributes): string {
    const kept = this.#exclusions.isEmpty ? attributes : this.#exclusions.strip({ attributes }).attributes;
    for (const _ in kept) return JSON.stringify(kept);
    return NO_ATTRIBUTES;
  }

  /** Adds what has been gathered to the unit. */
  flush(unit: WorkUnit): void {
    for (const { writer } of this.#open.values()) unit.addOpaque(SECTION_SPAN_BLOCK, FRAME_SPAN_BLOCK, writer.finish());
    this.#open.clear();
  }
}
