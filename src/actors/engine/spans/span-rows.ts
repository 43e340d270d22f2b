// The rows that the ingest kernel's walk fills with spans (core/layout/span-row.ts), as TypeScript reads them: numbers in place, a string only where a name is new.
import type { EngineMemory } from "../../../adapters/shared-memory/engine-memory.ts";
import { SPAN_ATTRIBUTES, SPAN_ATTRIBUTES_BYTES, SPAN_ROWS, SPAN_ROWS_MAX } from "../../../core/layout/memory-map.ts";
import {
  NO_SPAN_TEXT,
  SPAN_ROW_ATTRIBUTES,
  SPAN_ROW_ATTRIBUTES_FROM,
  SPAN_ROW_BYTES,
  SPAN_ROW_END_MICROSECONDS,
  SPAN_ROW_END_MS,
  SPAN_ROW_FLAGS,
  SPAN_ROW_HIGH,
  SPAN_ROW_IDS,
  SPAN_ROW_LOW,
  SPAN_ROW_MICROSECONDS,
  SPAN_ROW_NAME,
  SPAN_ROW_NAME_AT,
  SPAN_ROW_NAME_BYTES,
  SPAN_ROW_PARENT_HIGH,
  SPAN_ROW_PARENT_LOW,
  SPAN_ROW_TRACE_HASH,
} from "../../../core/layout/span-row.ts";
import { encodeText } from "../../../domain/codec/byte-writer.ts";
import type { IngestExports } from "../../../domain/kernel/ingest-kernel.ts";
import { operationHash } from "../../../domain/trace/operation-hash.ts";
import type { AttributeSlots } from "../../../domain/trace/span-block-writer.ts";
import { type PeerPart, peerOfParts, peerPartOf } from "../../../domain/trace/span-peer.ts";

const ROW_LENGTH = SPAN_ROW_BYTES / 4;
const ROW_DOUBLES = SPAN_ROW_BYTES / 8;

/** A cursor over the rows of one step. */
export class SpanRows implements AttributeSlots {
  readonly #engineMemory: EngineMemory;
  readonly #kernel: IngestExports;
  readonly #doubles: Float64Array;
  /** The rows as words, and where the row at hand begins in them. */
  readonly rowUint32s: Uint32Array;
  /** The same, signed: a number that fits a small integer needs no object. */
  readonly #signed: Int32Array;
  readonly uint32s: Uint32Array;
  readonly none = NO_SPAN_TEXT;
  readonly memory: Uint8Array;
  at = 0;
  #doubleAt = 0;
  #count = 0;
  #next = 0;
  /** Names by number as encodeText() gives them, from `#first` on. */
  #first = 0;
  #names: Array<Uint8Array | undefined> = [];
  /** operationHash() of them. */
  #hashes: number[] = [];
  /** What attributes by number say of whom a span calls, null where nothing. */
  #peerParts: Array<PeerPart | null | undefined> = [];

  constructor(memory: EngineMemory, kernel: IngestExports) {
    this.#engineMemory = memory;
    this.#kernel = kernel;
    this.memory = memory.bytes;
    this.rowUint32s = memory.uint32s.subarray(SPAN_ROWS / 4, SPAN_ROWS / 4 + SPAN_ROWS_MAX * ROW_LENGTH);
    this.#signed = new Int32Array(this.rowUint32s.buffer, this.rowUint32s.byteOffset, this.rowUint32s.length);
    this.#doubles = memory.doubles.subarray(SPAN_ROWS / 8, SPAN_ROWS / 8 + SPAN_ROWS_MAX * ROW_DOUBLES);
    this.uint32s = memory.uint32s.subarray(SPAN_ATTRIBUTES / 4, (SPAN_ATTRIBUTES + SPAN_ATTRIBUTES_BYTES) / 4);
  }

  /** A body was begun: no row is at hand. */
  reset(): void {
    this.#count = 0;
    this.#next = 0;
  }

  /** Goes to the next span of the body; false at its end. */
  next(): boolean {
    if (this.#next === this.#count && !this.#step()) return false;
    this.at = this.#next * ROW_LENGTH;
    this.#doubleAt = this.#next * ROW_DOUBLES;
    this.#next++;
    return true;
  }

  /** Does the last step once more, up to the row at hand: texts may have other numbers, and rows may come in shorter steps. */
  stepAgain(): void {
    let consumed = this.#next;
    if (consumed === 0) return;
    while (this.#step() && consumed > this.#count) consumed -= this.#count;
    this.#next = consumed;
    this.at = (consumed - 1) * ROW_LENGTH;
    this.#doubleAt = (consumed - 1) * ROW_DOUBLES;
  }

  #step(): boolean {
    this.#count = this.#kernel.otlpTracesStep();
    this.#next = 0;
    const first = this.#kernel.spanTextsFirst();
    if (first !== this.#first) {
      this.#first = first;
      this.#names = [];
      this.#hashes = [];
      this.#peerParts = [];
    }
    return this.#count > 0;
  }

  /** A word of the row at hand, SPAN_ROW_*. */
  word(offset: number): number {
    return this.rowUint32s[this.at + (offset >> 2)]!;
  }

  get flags(): number {
    return this.word(SPAN_ROW_FLAGS);
  }

  /** Halves of keys are signed. */
  get high(): number {
    return this.#signed[this.at + (SPAN_ROW_HIGH >> 2)]!;
  }

  get low(): number {
    return this.#signed[this.at + (SPAN_ROW_LOW >> 2)]!;
  }

  get parentHigh(): number {
    return this.#signed[this.at + (SPAN_ROW_PARENT_HIGH >> 2)]!;
  }

  get parentLow(): number {
    return this.#signed[this.at + (SPAN_ROW_PARENT_LOW >> 2)]!;
  }

  get traceHash(): number {
    return this.word(SPAN_ROW_TRACE_HASH);
  }

  get attributeCount(): number {
    return this.word(SPAN_ROW_ATTRIBUTES);
  }

  get attributesFrom(): number {
    return this.word(SPAN_ROW_ATTRIBUTES_FROM);
  }

  /** Place of the first of the eight words of its ids in `rowWords`. */
  get idsAt(): number {
    return this.at + (SPAN_ROW_IDS >> 2);
  }

  get endMs(): number {
    return this.#doubles[this.#doubleAt + (SPAN_ROW_END_MS >> 3)]!;
  }

  get endMicroseconds(): number {
    return this.#doubles[this.#doubleAt + (SPAN_ROW_END_MICROSECONDS >> 3)]!;
  }

  get microseconds(): number {
    return this.#doubles[this.#doubleAt + (SPAN_ROW_MICROSECONDS >> 3)]!;
  }

  /** Name of the span, as encodeText() gives it where it has a number. */
  get name(): string | Uint8Array {
    const number = this.word(SPAN_ROW_NAME);
    if (number === NO_SPAN_TEXT) return this.#engineMemory.slice(this.word(SPAN_ROW_NAME_AT), this.word(SPAN_ROW_NAME_BYTES)).toString();
    const index = number - this.#first;
    const known = this.#names[index];
    if (known !== undefined) return known;
    const text = this.#engineMemory.slice(this.textAddress(number), this.textBytes(number)).toString();
    const name = encodeText(text);
    this.#names[index] = name;
    this.#hashes[index] = operationHash(text);
    return name;
  }

  /** Name of whom the span at hand calls by its attributes; "" where they name nobody. */
  get peer(): string {
    const parts: PeerPart[] = [];
    let at = this.attributesFrom;
    for (let i = 0; i < this.attributeCount; i++) {
      const number = this.uint32s[at++]!;
      const part = number === NO_SPAN_TEXT ? this.#partAt(this.uint32s[at]!, this.uint32s[at + 1]!) : this.#partOf(number);
      if (number === NO_SPAN_TEXT) at += 2;
      if (part !== null) parts.push(part);
    }
    return parts.length === 0 ? "" : peerOfParts(parts);
  }

  #partOf(number: number): PeerPart | null {
    const index = number - this.#first;
    let part = this.#peerParts[index];
    if (part === undefined) {
      part = this.#partAt(this.textAddress(number), this.textBytes(number));
      this.#peerParts[index] = part;
    }
    return part;
  }

  #partAt(address: number, bytes: number): PeerPart | null {
    return peerPartOf(this.#engineMemory.slice(address, bytes)) ?? null;
  }

  /** operationHash() of a name with a number, which must have been read. */
  get nameHash(): number {
    return this.#hashes[this.word(SPAN_ROW_NAME) - this.#first]!;
  }

  get nameText(): number {
    return this.word(SPAN_ROW_NAME);
  }

  textAddress(number: number): number {
    return this.#kernel.spanTextPointer(number);
  }

  textBytes(number: number): number {
    return this.#kernel.spanTextBytes(number);
  }
}
