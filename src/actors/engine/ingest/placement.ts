// Puts a committed unit's rows into the rings of the shards that own them, a little at a time when a ring is full, and releases answers
// once every ring has been read past the body's rows. It never waits: a thread that did could stop a circle of full rings for ever.
import type { EngineMemory } from "../../../adapters/shared-memory/engine-memory.ts";
import { type FrameHead, InboxWriter } from "../../../adapters/shared-memory/inbox-ring.ts";
import { STAGING, STAGING_BYTES } from "../../../core/layout/memory-map.ts";
import { FRAME_LAST, SECTION_DEFINE, SECTION_ROWS } from "../../../core/layout/row-frame.ts";
import type { LogPosition } from "../../../core/protocol/coordinator-frame.ts";
import { STATUS_SET_ASIDE } from "../../../core/protocol/engine-control.ts";
import { type Debt, UnitDebts } from "../unit/unit-debts.ts";
import type { BodyAnswer, WorkUnit } from "../unit/work-unit.ts";

interface OutgoingFrame {
  readonly destination: number;
  readonly head: FrameHead;
  readonly payload: Uint8Array;
}

/** Answers of one unit, and what each of them waits for. */
interface UnitAnswers {
  readonly answers: readonly BodyAnswer[];
  readonly debts: UnitDebts;
}

const NO_ANSWERS: UnitAnswers = { answers: [], debts: new UnitDebts(undefined) };
const SET_ASIDE: BodyAnswer = { status: STATUS_SET_ASIDE, body: null };

interface Pending extends UnitAnswers {
  /** Ring positions behind the unit's frames, by engine. */
  readonly positions: readonly number[];
}

/** Frames that shards receive, and the moment at which the senders hear of it, for one engine. */
export class Placement {
  /** The engine this ingest belongs to. */
  readonly self: number;
  readonly #memories: readonly EngineMemory[];
  readonly #writers: readonly InboxWriter[];
  #outgoing: OutgoingFrame[] = [];
  #next = 0;
  #position: LogPosition = { segment: 0, offset: 0 };
  #answers = NO_ANSWERS;
  #pending: Pending[] = [];
  /** Answers that others have overtaken, for what is owed still. */
  #owing: Array<{ readonly debt: Debt; readonly answer: BodyAnswer }> = [];

  constructor(self: number, memories: readonly EngineMemory[]) {
    this.self = self;
    this.#memories = memories;
    this.#writers = memories.map((memory) => new InboxWriter(memory, self));
  }

  /** True while rows of the last unit are in no ring yet; the staging areas must not be touched then. */
  get isBusy(): boolean {
    return this.#next < this.#outgoing.length;
  }

  get inboxFill(): number {
    return this.#writers.reduce((most, writer, j) => (j === this.self ? most : Math.max(most, writer.fill)), 0);
  }

  /** Lines up a committed unit for the other shards (this engine's own takes its rows at once). */
  begin(unit: WorkUnit, position: LogPosition, rowBytes: (destination: number) => number): void {
    this.#position = position;
    this.#answers = { answers: unit.answers, debts: unit.debts };
    this.#outgoing = [];
    this.#next = 0;
    for (let j = 0; j < this.#memories.length; j++) {
      if (j !== this.self) this.#lineUp(j, unit, position, rowBytes(j));
    }
    this.flush();
  }

  #lineUp(destination: number, unit: WorkUnit, position: LogPosition, rowBytes: number): void {
    const bytesMax = (this.#writers[destination] as InboxWriter).payloadBytesMax;
    const payloads: Array<readonly [kind: number, payload: Uint8Array]> = [];
    for (const definitions of unit.definitionFrames(destination, bytesMax)) payloads.push([SECTION_DEFINE, definitions]);
    const staged = STAGING + destination * STAGING_BYTES;
    const own = this.#memories[this.self] as EngineMemory;
    for (let at = 0; at < rowBytes; at += bytesMax) {
      const end = Math.min(rowBytes, at + bytesMax);
      payloads.push([SECTION_ROWS, own.bytes.subarray(staged + at, staged + end)]);
    }
    payloads.push(...unit.messageFrames(destination, bytesMax));
    payloads.forEach(([kind, payload], index) => {
      const last = index === payloads.length - 1 ? FRAME_LAST : 0;
      const { baseMs, arrivalMs } = unit;
      this.#outgoing.push({ destination, head: { kind: kind | last, baseMs, arrivalMs, ...position }, payload });
    });
  }

  /** Moves what fits into the rings; true when anything moved. */
  flush(): boolean {
    const rung = new Set<number>();
    let moved = 0;
    while (this.isBusy) {
      const { destination, head, payload } = this.#outgoing[this.#next] as OutgoingFrame;
      if (!(this.#writers[destination] as InboxWriter).write(head, payload)) break;
      rung.add(destination);
      this.#next++;
      moved++;
    }
    for (const destination of rung) (this.#memories[destination] as EngineMemory).ringBell();
    if (!this.isBusy) this.#finish();
    return moved > 0;
  }

  #finish(): void {
    this.#outgoing = [];
    this.#next = 0;
    (this.#memories[this.self] as EngineMemory).publishPlaced(this.#position);
    const { answers, debts } = this.#answers;
    if (answers.length > 0) this.#pending.push({ answers, debts, positions: this.#writers.map((writer) => writer.written) });
    this.#answers = NO_ANSWERS;
  }

  /** Answers whose rows every shard has taken, in the order of their bodies; one for which something is owed leaves behind that, and is overtaken. */
  takeAnswers(): BodyAnswer[] {
    const ready = this.#owing.length === 0 ? [] : this.#takePaid();
    let count = 0;
    for (const { answers, debts, positions } of this.#pending) {
      const isRead = positions.every((position, j) => j === this.self || (this.#writers[j] as InboxWriter).hasRead(position));
      if (!isRead) break;
      if (debts.isPaid) for (const answer of answers) ready.push(answer);
      else for (const [index, answer] of answers.entries()) ready.push(...this.#paidOrOwing(answer, debts, index));
      count++;
    }
    if (count > 0) this.#pending.splice(0, count);
    return ready;
  }

  #takePaid(): BodyAnswer[] {
    const paid = this.#owing.filter(({ debt }) => debt.isPaid);
    if (paid.length > 0) this.#owing = this.#owing.filter(({ debt }) => !debt.isPaid);
    return paid.map(({ answer }) => answer);
  }

  /** What is sent now: the answer, or word that it comes later where its place in the order is waited for. */
  #paidOrOwing(answer: BodyAnswer, debts: UnitDebts, index: number): BodyAnswer[] {
    const debt = debts.of(index);
    if (debt === undefined || debt.isPaid || answer.status === STATUS_SET_ASIDE) return [answer];
    const isInOrder = answer.isLarge !== true && answer.admission === undefined;
    this.#owing.push({ debt, answer: isInOrder ? { ...answer, admission: debts.admissions[index] as number } : answer });
    return isInOrder ? [SET_ASIDE] : [];
  }

  get isIdle(): boolean {
    return !this.isBusy && this.#pending.length === 0 && this.#owing.length === 0;
  }

  /** Lets answers of a unit that was refused by the log leave, behind all earlier ones. */
  refuse(answers: readonly BodyAnswer[]): void {
    this.#pending.push({ ...NO_ANSWERS, answers, positions: this.#writers.map((writer) => writer.written) });
  }
}
