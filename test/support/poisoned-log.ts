// Blocks of a log as earlier versions wrote them: with what this version takes no more at any door, and meets in folders that they have left.
import { appendFileSync } from "node:fs";
import { BLOCK_HEADER_BYTES, blockPadding, writeBlockHeader } from "../../src/adapters/log/block-format.ts";
import { type LogSegment, listSegments, segmentPath } from "../../src/adapters/log/log-segment.ts";
import { logDirectory } from "../../src/adapters/log/meta-file.ts";
import { SECTION_HEADER_BYTES } from "../../src/core/layout/row-frame.ts";

/** A section of a block. */
export interface PoisonedSection {
  readonly kind: number;
  /** JSON where it is an object. */
  readonly payload: object | Uint8Array;
}

/** Adds a block to the log of engine 0 of the last start, in a segment behind all others. The server must not run. */
export function appendBlock(dataDir: string, sections: readonly PoisonedSection[]): void {
  const directory = logDirectory(dataDir);
  const own = listSegments(directory).filter(({ writer }) => writer === 0);
  const { epoch, segment } = own.reduce((last, each) => (isBehind(each, last) ? each : last));
  const parts = sections.map(encodeSection);
  const payload = Buffer.concat(parts);
  const header = new Uint8Array(BLOCK_HEADER_BYTES);
  const numbers = { number: 0, rowsBefore: 0, rows: sections.length, kinds: 0, admission: 1e9, baseMs: Date.now() };
  writeBlockHeader(header, numbers, [payload]);
  appendFileSync(segmentPath(directory, epoch, 0, segment + 1), Buffer.concat([header, payload, blockPadding(payload.length)]));
}

function isBehind(one: LogSegment, other: LogSegment): boolean {
  return one.epoch > other.epoch || (one.epoch === other.epoch && one.segment > other.segment);
}

function encodeSection({ kind, payload }: PoisonedSection): Uint8Array {
  const bytes = payload instanceof Uint8Array ? payload : Buffer.from(JSON.stringify(payload));
  const section = new Uint8Array(SECTION_HEADER_BYTES + ((bytes.length + 7) & ~7));
  const view = new DataView(section.buffer);
  view.setUint32(0, kind, true);
  view.setUint32(4, bytes.length, true);
  section.set(bytes, SECTION_HEADER_BYTES);
  return section;
}
