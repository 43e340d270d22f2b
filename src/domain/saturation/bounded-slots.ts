// Which slots hold bounded series: what a stream's name says, remembered by slot, since reading names is what a walk over a million streams spends most on.
// A slot that has another stream now is known by the first word of its identity hash.
import { FLAG_COUNTER, SR_HASH } from "../../core/layout/stream-record.ts";
import { NOT_VISITED } from "../detection/coverage.ts";
import type { ShardKernel } from "../kernel/shard-kernel.ts";

const UNKNOWN = 0;
const BOUNDED = 1;
const UNBOUNDED = 2;

/** One engine's memory of its slots: six bytes each. */
export class BoundedSlots {
  readonly #kernel: ShardKernel;
  readonly #isBounded: (slot: number) => boolean;
  #tags = new Uint32Array(1024);
  #classes = new Uint8Array(1024);
  /** Places in #words of what the last pass did with the series that the stream is of; 0 = nothing yet. */
  #states = new Uint8Array(1024);
  readonly #texts: string[] = [NOT_VISITED];

  /** `isBounded` reads the slot's name. */
  constructor(kernel: ShardKernel, isBounded: (slot: number) => boolean) {
    this.#kernel = kernel;
    this.#isBounded = isBounded;
  }

  /** Names mean something else now: limits were declared or removed. */
  forget(): void {
    this.#classes.fill(UNKNOWN);
  }

  /** Whether the slot's stream is bounded; `looked` is true where its name had to be read. A counter's rate has no end. */
  judge(slot: number): { readonly bounded: boolean; readonly inspected: boolean } {
    if (slot >= this.#tags.length) this.#grow(slot);
    const tag = this.tag(slot);
    const inspected = this.#tags[slot] !== tag || this.#classes[slot] === UNKNOWN;
    if (inspected) {
      if (this.#tags[slot] !== tag) this.#states[slot] = 0;
      this.#tags[slot] = tag;
      this.#classes[slot] = this.#isBounded(slot) ? BOUNDED : UNBOUNDED;
    }
    const counts = (this.#kernel.records.flags(slot) & FLAG_COUNTER) !== 0;
    return { bounded: this.#classes[slot] === BOUNDED && !counts, inspected };
  }

  /** Remembers what was done with the series that the slot's stream is of; there are few such words. */
  setState(slot: number, state: string): void {
    const known = this.#texts.indexOf(state);
    this.#states[slot] = known < 0 ? this.#texts.push(state) - 1 : known;
  }

  /** Outcome of the last pass: a word of domain/detection/coverage.ts. */
  state(slot: number): string {
    if (slot >= this.#tags.length || this.#tags[slot] !== this.tag(slot) || this.#classes[slot] === UNKNOWN) return NOT_VISITED;
    const { bounded } = this.judge(slot);
    return bounded ? (this.#texts[this.#states[slot] as number] as string) : "not_bounded";
  }

  /** Hash that tells a slot's stream from the next that gets the slot. */
  tag(slot: number): number {
    const { records } = this.#kernel;
    return records.view.getUint32(records.address(slot) + SR_HASH, true);
  }

  #grow(slot: number): void {
    const size = 2 ** Math.ceil(Math.log2(slot + 1));
    const [tags, classes, states] = [new Uint32Array(size), new Uint8Array(size), new Uint8Array(size)];
    tags.set(this.#tags);
    classes.set(this.#classes);
    states.set(this.#states);
    [this.#tags, this.#classes, this.#states] = [tags, classes, states];
  }
}
