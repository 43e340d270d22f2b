// What an engine is working at, so that a throw can say it and the next start leave it out: the block of the log, the section of it, the row or message. Some words are written for each
// block, section and event of the kernel, none for a sample.

import type { LogPosition } from "../../../core/protocol/coordinator-frame.ts";
import type { CrashPosition } from "../../../core/protocol/crash-note.ts";

/** Its texts are made of what is in memory when they are asked for. */
export interface TracedItems {
  /** Content of a row at an address; null where its stream is not in memory. */
  row(pointer: number): string | null;
  message(partition: number, payload: Uint8Array): string;
}

const NO_PARTITION = -1;

/** Trace of one engine. */
export class WorkTrace {
  #epoch = 0;
  #writer = 0;
  #segment = 0;
  #offset = 0;
  #isInBlock = false;
  #section: number | null = null;
  #row = 0;
  #message: { readonly partition: number; readonly payload: Uint8Array } | undefined;
  #restoring = NO_PARTITION;

  beginBlock(epoch: number, writer: number, { segment, offset }: LogPosition): void {
    this.#epoch = epoch;
    this.#writer = writer;
    this.#segment = segment;
    this.#offset = offset;
    this.#isInBlock = true;
    this.#section = null;
  }

  endBlock(): void {
    this.#isInBlock = false;
    this.#section = null;
  }

  /** null: none. */
  set section(kind: number | null) {
    this.#section = kind;
  }

  /** Address of the row whose event is handled; 0: none. */
  get row(): number {
    return this.#row;
  }

  set row(pointer: number) {
    this.#row = pointer;
  }

  beginMessage(partition: number, payload: Uint8Array): void {
    this.#message = { partition, payload };
  }

  endMessage(): void {
    this.#message = undefined;
  }

  beginState(partition: number): void {
    this.#restoring = partition;
  }

  endState(): void {
    this.#restoring = NO_PARTITION;
  }

  /** Place of what is at hand; null where that is nothing that could be left out. */
  positionOf(items: TracedItems): CrashPosition | null {
    if (this.#restoring !== NO_PARTITION) return { type: "checkpoint", partition: this.#restoring };
    if (!this.#isInBlock) return null;
    const position = { epoch: this.#epoch, lane: this.#writer, segment: this.#segment, offset: this.#offset };
    return { type: "block", ...position, section: this.#section, item: this.#section === null ? null : this.#item(items) };
  }

  #item(items: TracedItems): string | null {
    if (this.#message !== undefined) return items.message(this.#message.partition, this.#message.payload);
    return this.#row === 0 ? null : items.row(this.#row);
  }
}
