// Drives the ingest kernel over remote-write bodies the way an engine does, and answers what it staged in terms that a test can compare.
import {
  REJECT_BYTES,
  REJECT_CODE,
  REJECT_LABELS,
  REJECT_LABELS_BYTES,
  REJECT_TIME,
  REJECT_VALUE,
} from "../../src/core/layout/kernel-event.ts";
import {
  STATUS_BAD_LABELS,
  STATUS_DONE,
  STATUS_METADATA,
  STATUS_REJECTS_FULL,
  STATUS_ROWS_FULL,
  STATUS_TABLE_FULL,
  STATUS_UNKNOWN_STREAM,
} from "../../src/core/layout/kernel-status.ts";
import { BODY_PADDING_BYTES, DECOMPRESSED, REJECTS, STAGING, STAGING_BYTES } from "../../src/core/layout/memory-map.ts";
import { ROW_BYTES, ROW_OFFSET, ROW_REF, ROW_VALUE } from "../../src/core/layout/row-frame.ts";
import { type IngestExports, parseLabelSpan } from "../../src/domain/kernel/ingest-kernel.ts";
import { resolveLabelRefs } from "../../src/domain/kernel/label-refs.ts";
import { type LoadedKernel, loadKernel } from "./kernel.ts";

/** Times from here to WINDOW_MS later are admitted. */
export const BASE_MS = 1_795_220_000_000;
export const WINDOW_MS = 2 ** 31;
export const ENGINES = 2;

export interface Staged {
  /** Labels as JSON: the stream. */
  readonly stream: string;
  readonly time: number;
  /** The value's 64 bits, so that NaNs compare. */
  readonly bits: bigint;
  /** 0 = staged, else REJECT_*. */
  readonly code: number;
}

export interface Ingested {
  /** What remoteWriteBegin() answered: the number of samples or a status. */
  readonly begun: number;
  /** Per series in the body's order, staged samples before rejected ones. */
  readonly staged: Staged[];
  /** Every status that remoteWriteStep() answered. */
  readonly statuses: number[];
  readonly skippedSamples: number;
  /** Labels, type, help and unit of each series that told its metadata. */
  readonly metadata: string[];
}

export class IngestHarness {
  readonly loaded: LoadedKernel<IngestExports> = loadKernel<IngestExports>();
  readonly kernel = this.loaded.kernel;
  readonly refs = new Map<string, number>();
  #streams: string[] = [];
  #version = 1;

  /** Puts bytes and their padding at an address. */
  place(address: number, bytes: Uint8Array): void {
    this.loaded.bytes.set(bytes, address);
    this.loaded.bytes.fill(0, address + bytes.length, address + bytes.length + BODY_PADDING_BYTES);
  }

  /** Walks a decompressed body to its end; a stream's ref is decided by its labels, its engine by its ref. */
  ingest(body: Uint8Array, { tenant = 1, maxRows = STAGING_BYTES / ROW_BYTES, version = 1 } = {}): Ingested {
    const { kernel } = this;
    this.place(DECOMPRESSED, body);
    const args = [DECOMPRESSED, body.length, tenant, BASE_MS, BASE_MS, BASE_MS + WINDOW_MS, maxRows] as const;
    this.#version = version;
    const begun = version === 1 ? kernel.remoteWriteBegin(...args) : kernel.remoteWrite2Begin(...args);
    const result: Ingested & { skippedSamples: number } = { begun, staged: [], statuses: [], skippedSamples: 0, metadata: [] };
    if (begun < 0) return result;
    for (;;) {
      const status = kernel.remoteWriteStep();
      result.statuses.push(status);
      if (status === STATUS_UNKNOWN_STREAM) result.skippedSamples += this.#resolve();
      else if (status === STATUS_METADATA) result.metadata.push(this.#takeMetadata());
      else if (status === STATUS_BAD_LABELS) result.skippedSamples += kernel.remoteWriteSkipSeries();
      else if (status === STATUS_ROWS_FULL || status === STATUS_REJECTS_FULL || status === STATUS_DONE)
        result.staged.push(...this.takeStaged());
      else throw new Error(`status ${status}`);
      if (status === STATUS_DONE) return result;
    }
  }

  /** Labels of the series at hand, or undefined. */
  unknownLabels(): Array<[string, string]> | undefined {
    const at = this.kernel.unknownPointer();
    return parseLabelSpan(this.loaded.bytes.subarray(at, at + this.kernel.unknownBytes()));
  }

  /** What the kernel tells at STATUS_METADATA, as one text. */
  #takeMetadata(): string {
    const { kernel } = this;
    const text = (number: number): string => (number < kernel.symbolCount() ? this.#symbol(number).toString() : "");
    const metadata = [this.unknownLabels(), kernel.metadataType(), text(kernel.metadataHelp()), text(kernel.metadataUnit())];
    kernel.remoteWriteNoted();
    return JSON.stringify(metadata);
  }

  #symbol(number: number): Buffer {
    const at = this.kernel.symbolPointer(number);
    return Buffer.from(this.loaded.bytes.slice(at, at + this.kernel.symbolBytes(number)));
  }

  #rejectedLabels(span: Uint8Array): Array<[string, string]> | undefined {
    return this.#version === 1 ? parseLabelSpan(span) : resolveLabelRefs(span, (number) => this.#symbol(number));
  }

  #resolve(): number {
    const labels = this.unknownLabels();
    if (labels === undefined) return this.kernel.remoteWriteSkipSeries();
    const stream = JSON.stringify(labels);
    const ref = this.refs.get(stream) ?? this.#streams.push(stream) - 1;
    this.refs.set(stream, ref);
    if (this.kernel.remoteWriteResolve(ref, ref % ENGINES, ref % 256, 0) === STATUS_TABLE_FULL) throw new Error("table full");
    return 0;
  }

  /** Empties staging and rejects. */
  takeStaged(): Staged[] {
    const {
      kernel,
      loaded: { view },
    } = this;
    const staged: Staged[] = [];
    for (let engine = 0; engine < ENGINES; engine++) {
      const from = STAGING + engine * STAGING_BYTES;
      for (let at = from; at < from + kernel.stagedBytes(engine); at += ROW_BYTES) {
        const ref = view.getUint32(at + ROW_REF, true);
        if (ref % ENGINES !== engine) throw new Error("row staged for another engine");
        staged.push({
          stream: this.#streams[ref] as string,
          time: BASE_MS + view.getUint32(at + ROW_OFFSET, true),
          bits: view.getBigUint64(at + ROW_VALUE, true),
          code: 0,
        });
      }
    }
    if (staged.length !== kernel.stagedRows()) throw new Error("stagedRows() is wrong");
    for (let at = REJECTS; at < REJECTS + kernel.rejectsCount() * REJECT_BYTES; at += REJECT_BYTES) {
      const labels = view.getUint32(at + REJECT_LABELS, true);
      const span = this.loaded.bytes.subarray(labels, labels + view.getUint32(at + REJECT_LABELS_BYTES, true));
      staged.push({
        stream: JSON.stringify(this.#rejectedLabels(span)),
        time: view.getFloat64(at + REJECT_TIME, true),
        bits: view.getBigUint64(at + REJECT_VALUE, true),
        code: view.getUint32(at + REJECT_CODE, true),
      });
    }
    kernel.stagingReset(ENGINES);
    kernel.rejectsReset();
    return staged;
  }
}

/** Staged samples by stream, so that results whose engines or rejects come in another order compare; the order inside a stream counts. */
export function byStream(staged: readonly Staged[]): Record<string, string[]> {
  const streams: Record<string, string[]> = {};
  for (const { stream, time, bits, code } of staged) {
    const key = `${stream} ${code === 0 ? "staged" : "rejected"}`;
    const lines = streams[key] ?? [];
    streams[key] = lines;
    lines.push(`${time} ${bits.toString(16)} ${code}`);
  }
  return streams;
}
