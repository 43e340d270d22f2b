// What of the logs a start leaves out, by the notes of threads that threw over it. A note that says the same as one before has left out too little: then more is left out, item to
// section, section to block, block to all that is in it, so that each start goes further than the one before.

import type { LogPosition } from "../../../core/protocol/coordinator-frame.ts";
import type { BlockPosition, CrashNote } from "../../../core/protocol/crash-note.ts";

/** Parts of one block that are left out. */
export class BlockMarks {
  readonly #reasons: string[] = [];
  readonly #items = new Map<number, Set<string>>();
  readonly #sections = new Set<number>();
  /** 1: rows, messages and definitions; 2: records and dead letters too. */
  #whole = 0;

  get reason(): string {
    return this.#reasons.at(-1) ?? "";
  }

  /** Whether nothing of the block is used. */
  get isAll(): boolean {
    return this.#whole > 1;
  }

  add({ section, item }: BlockPosition, reason: string): void {
    this.#reasons.push(reason);
    const items = section === null ? undefined : (this.#items.get(section) ?? new Set<string>());
    if (section === null || items === undefined || this.#sections.has(section)) this.#whole++;
    else if (item === null || items.has(item)) this.#sections.add(section);
    else this.#items.set(section, items.add(item));
  }

  leavesOut(section: number): boolean {
    return this.#whole > 0 || this.#sections.has(section);
  }

  /** Rows or messages of a section that are left out; undefined where none is. */
  items(section: number): ReadonlySet<string> | undefined {
    return this.#items.get(section);
  }
}

const keyOf = (epoch: number, writer: number, { segment, offset }: LogPosition) => `${epoch}-${writer}-${segment}-${offset}`;

/** All marks of a start. */
export class LeftOut {
  readonly #blocks = new Map<string, BlockMarks>();

  constructor(notes: readonly CrashNote[]) {
    for (const { place: position, reason } of notes) {
      if (position.type !== "block") continue;
      const key = keyOf(position.epoch, position.lane, position);
      const marks = this.#blocks.get(key) ?? new BlockMarks();
      this.#blocks.set(key, marks);
      marks.add(position, reason);
    }
  }

  /** Marks of the block that ends there. */
  of(epoch: number, writer: number, end: LogPosition): BlockMarks | undefined {
    return this.#blocks.size === 0 ? undefined : this.#blocks.get(keyOf(epoch, writer, end));
  }
}
