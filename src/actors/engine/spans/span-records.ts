// Gathers the spans of a unit into blocks of records, one for each service and second in which they ended.
import { BASE_LEAD_MS, SECTION_SPAN_BLOCK } from "../../../core/layout/row-frame.ts";
import { SPAN_ROW_KIND_SHIFT } from "../../../core/layout/span-row.ts";
import { type Attributes, FRAME_SPAN_BLOCK } from "../../../core/protocol/coordinator-frame.ts";
import type { OtlpSpan } from "../../../domain/otlp/otlp-items.ts";
import type { FieldExclusions } from "../../../domain/series/field-exclusions.ts";
import { MICROSECONDS } from "../../../domain/trace/span-block.ts";
import { SpanBlockWriter } from "../../../domain/trace/span-block-writer.ts";
import type { ServiceName } from "../../../domain/window/window-message.ts";
import type { WorkUnit } from "../unit/work-unit.ts";
import type { SpanRows } from "./span-rows.ts";

/** A block leaves at this size: LMDB is cheap with values of some pages, and a query reads whole blocks. */
const BLOCK_BYTES_FULL = 32 * 1024;
const NO_ATTRIBUTES = "{}";
/** Writers that are kept for the next blocks, and the largest of them: 16 MiB in all. */
const WRITERS_RETAINED_MAX = 256;
const WRITER_BYTES_MAX = 64 * 1024;

interface OpenBlock {
  /** JSON. */
  readonly resource: string;
  readonly writer: SpanBlockWriter;
}

/** State that the blocks of one engine share. */
export class SpanBlockWriters {
  readonly #spare: SpanBlockWriter[] = [];
  /** Serial number of the next block. */
  #serial = 0;

  open(service: ServiceName, second: number, receivedMs: number, salt: number, resource: string): SpanBlockWriter {
    const options = { second, receivedMs, serial: this.#serial++ % 2 ** 32, salt, resource };
    const writer = this.#spare.pop();
    if (writer === undefined) return new SpanBlockWriter(service, options);
    writer.begin(service, options);
    return writer;
  }

  /** The block goes into the unit. */
  finish(writer: SpanBlockWriter, unit: WorkUnit): void {
    unit.addOpaque(SECTION_SPAN_BLOCK, FRAME_SPAN_BLOCK, writer.finish());
    if (this.#spare.length < WRITERS_RETAINED_MAX && writer.capacity <= WRITER_BYTES_MAX) this.#spare.push(writer);
  }
}

/** Blocks of one service in the unit at hand. */
export class SpanRecords {
  readonly #service: ServiceName;
  readonly #exclusions: FieldExclusions;
  readonly #writers: SpanBlockWriters;
  readonly #open = new Map<number, OpenBlock>();
  /** The resource that was written last: a decoder gives the same object for all spans of one resource. */
  #resource: Attributes | undefined;
  #resourceText = NO_ATTRIBUTES;
  /** The block that was written last. */
  #last: OpenBlock | undefined;
  #lastSecond = -1;

  constructor(service: ServiceName, exclusions: FieldExclusions, writers: SpanBlockWriters) {
    this.#service = service;
    this.#exclusions = exclusions;
    this.#writers = writers;
  }

  /** Adds a span; times in whole microseconds, `salt` any number that goes with it. */
  add(span: OtlpSpan, parentSpanId: string, endMicroseconds: number, microseconds: number, salt: number, unit: WorkUnit): void {
    const writer = this.#writer(endMicroseconds, span.resourceAttributes, salt, unit);
    const { traceId, spanId, name, kind, statusCode } = span;
    const attributes = this.#attributesText(span.attributes);
    writer.add({ traceId, spanId, parentSpanId, name, kind, statusCode, endMicroseconds, microseconds, attributes });
  }

  /** Adds the span at hand of the rows; only where nothing is excluded. */
  addRow(rows: SpanRows, name: string | Uint8Array, resource: Attributes, unit: WorkUnit): void {
    const { endMicroseconds } = rows;
    const writer = this.#writer(endMicroseconds, resource, rows.low, unit);
    const kindAndStatus = rows.flags >>> SPAN_ROW_KIND_SHIFT;
    writer.addNumbers(rows.rowUint32s, rows.idsAt, kindAndStatus, name, rows.nameText, endMicroseconds, rows.microseconds);
    writer.addAttributes(rows, rows.attributesFrom, rows.attributeCount);
  }

  /** The writer of the block that takes a span. */
  #writer(endMicroseconds: number, attributes: Attributes, salt: number, unit: WorkUnit): SpanBlockWriter {
    const second = Math.floor(endMicroseconds / MICROSECONDS);
    const resource = this.#textOf(attributes);
    let open = second === this.#lastSecond ? this.#last : this.#open.get(second);
    if (open !== undefined && (open.resource !== resource || open.writer.bytes > BLOCK_BYTES_FULL)) {
      this.#writers.finish(open.writer, unit);
      open = undefined;
    }
    if (open === undefined) {
      open = { resource, writer: this.#writers.open(this.#service, second, unit.baseMs + BASE_LEAD_MS, salt, resource) };
      this.#open.set(second, open);
    }
    this.#last = open;
    this.#lastSecond = second;
    return open.writer;
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
    const retained = this.#exclusions.isEmpty ? attributes : this.#exclusions.strip({ attributes }).attributes;
    for (const _ in retained) return JSON.stringify(retained);
    return NO_ATTRIBUTES;
  }

  /** Adds what has been gathered to the unit. */
  flush(unit: WorkUnit): void {
    for (const { writer } of this.#open.values()) this.#writers.finish(writer, unit);
    this.#open.clear();
    this.#last = undefined;
    this.#lastSecond = -1;
  }
}
