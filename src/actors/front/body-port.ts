// The front's end of one engine: puts bodies into the engine's memory, publishes their descriptors, and matches answers with requests.
// Small bodies go into a 2 MiB ring that stays hot in cache; a large one goes into one place of its own. What finds no room waits here, within bounds.
import { BodyPool } from "../../adapters/http/body-pool.ts";
import type { EngineMemory } from "../../adapters/shared-memory/engine-memory.ts";
import {
  COPIED_BYTES_PER_SLICE,
  LARGE_BODIES_BYTES_PER_TENANT_MAX,
  LARGE_BODIES_PER_TENANT_MAX,
  LARGE_BODIES_WAITING_BYTES_MAX,
} from "../../core/config/body-limits.ts";
import { BODIES_WAITING_BYTES_MAX, BODIES_WAITING_MAX, SMALL_BODY_BYTES_MAX } from "../../core/config/limits.ts";
import { FairQueue } from "../../core/fairness/fair-queue.ts";
import { afterTurn, fatal } from "../../core/faults/guard.ts";
import { writeDescriptor } from "../../core/layout/body-descriptor.ts";
import { BODY_PADDING_BYTES, BODY_RING, BODY_RING_BYTES, DESCRIPTOR_COUNT, LARGE_BODY } from "../../core/layout/memory-map.ts";
import { type EngineAnswerContent, type EngineReport, STATUS_SET_ASIDE, type WrittenCounts } from "../../core/protocol/engine-control.ts";

/** Half of a body in the memory of an engine: nobody could say what is there. */
const COPY = fatal("the copy of a body into an engine");
/** From this size on a small body waits in a buffer that is used again: four of 512 KiB fill the ring, so with more senders than that most have to wait. */
const POOLED_BYTES_MIN = 64 * 1024;
const POOLED_BYTES_RETAINED_MAX = 2 * 1024 * 1024;

/** A body to hand over. `bytes` may be a pooled buffer where nothing follows it: it is copied before `submit` returns. */
export interface OutgoingBody {
  readonly bytes: Uint8Array;
  /** Further pieces, of a body that was inflated: they are its own, and copied over several turns. */
  readonly rest?: readonly Uint8Array[];
  readonly kind: number;
  readonly tenant: number;
  readonly idempotencyKey: string;
  readonly arrivalMs: number;
  readonly wallMs: number;
  /** The request had no credential. */
  readonly isAnonymous: boolean;
  /** Number of who sent it (ingestion.ts); 0 where nobody asks. */
  readonly sender: number;
}

/** Who waits for the engine's answer to a body. */
export interface AnswerReceiver {
  /** Called once; `body` null means none; `written` is of remote-write 2.0. */
  answer(status: number, body: string | null, written: WrittenCounts | null): void;
}

/** A body, copied, until there is room. */
interface WaitingBody {
  readonly body: OutgoingBody;
  readonly receiver: AnswerReceiver;
  /** The buffer that it lies in, to be given back. */
  readonly lent: Buffer | undefined;
}

/** Answers as an engine reports them. */
export type EngineAnswers = Omit<Extract<EngineReport, { type: "answers" }>, "type">;

function bytesOf({ bytes, rest }: OutgoingBody): number {
  return rest === undefined ? bytes.byteLength : rest.reduce((sum, { byteLength }) => sum + byteLength, bytes.byteLength);
}

const align64 = (bytes: number) => (bytes + 63) & ~63;
const encoder = new TextEncoder();
/** Stands among those that wait in their order for the one that does not. */
const LARGE_RECEIVER: AnswerReceiver = { answer: () => undefined };
const NO_KEY = new Uint8Array(0);

/** Idempotency keys are rare: the usual body makes nothing for one. */
function encodeKey(key: string): Uint8Array {
  return key === "" ? NO_KEY : encoder.encode(key);
}

/** Single producer of bodies for one engine. */
export class BodyPort {
  readonly #memory: EngineMemory;
  readonly #nextAdmission: () => number;
  /** Sinks of the bodies that wait, by number modulo the descriptors. */
  readonly #receivers: Array<AnswerReceiver | undefined> = Array.from({ length: DESCRIPTOR_COUNT }, () => undefined);
  /** Their admission numbers. */
  readonly #admissions = new Float64Array(DESCRIPTOR_COUNT);
  /** Those that were set aside: by admission number. */
  readonly #aside = new Map<number, AnswerReceiver>();
  /** Their bytes in the ring, to be freed; 0 for a large body. */
  readonly #ringBytes = new Uint32Array(DESCRIPTOR_COUNT);
  #head = 0;
  #answered = 0;
  /** Bodies that the engine was given and has not answered. */
  #inEngine = 0;
  #published = 0;
  #ringAt = 0;
  #ringUsed = 0;
  /** A body is copied to the place for large ones or lies there; then who waits for its answer. */
  #largeBusy = false;
  #largeReceiver: AnswerReceiver | undefined;
  /** Tenants take turns at the large place; what waits is named by its number among all that waited. */
  readonly #largeWaiting = new FairQueue<WaitingBody>();
  #largeWaited = 0;
  #largeWaitingBytes = 0;
  readonly #smallWaiting: WaitingBody[] = [];
  #smallWaitingBytes = 0;
  /** Pool of buffers whose sizes are powers of two: at most twice what may wait are lent. */
  readonly #pool = new BodyPool({ retainedBytesMax: POOLED_BYTES_RETAINED_MAX });

  constructor(memory: EngineMemory, nextAdmission: () => number) {
    this.#memory = memory;
    this.#nextAdmission = nextAdmission;
  }

  /** Bodies that wait for their answer. */
  get waiting(): number {
    const copied = this.#largeBusy && this.#largeReceiver === undefined ? 1 : 0;
    return this.#inEngine + copied + this.#largeWaiting.size + this.#smallWaiting.length;
  }

  /** Share in use of the ring and of what may wait for it. */
  get ringFill(): number {
    return (this.#ringUsed + this.#smallWaitingBytes) / (BODY_RING_BYTES + BODIES_WAITING_BYTES_MAX);
  }

  /** Takes a body; false when there is no room (the caller answers 503). */
  submit(body: OutgoingBody, receiver: AnswerReceiver): boolean {
    if (this.waiting >= BODIES_WAITING_MAX || this.#head - this.#answered >= DESCRIPTOR_COUNT) return false;
    if (bytesOf(body) > SMALL_BODY_BYTES_MAX) return this.#submitLarge(body, receiver);
    return (this.#smallWaiting.length === 0 && this.#enterRing(body, receiver)) || this.#keepSmall(body, receiver);
  }

  #keepSmall(body: OutgoingBody, receiver: AnswerReceiver): boolean {
    if (this.#smallWaitingBytes + body.bytes.byteLength > BODIES_WAITING_BYTES_MAX) return false;
    this.#smallWaitingBytes += body.bytes.byteLength;
    this.#smallWaiting.push(this.#waitingSmall(body, receiver));
    return true;
  }

  #waitingSmall(body: OutgoingBody, receiver: AnswerReceiver): WaitingBody {
    const { byteLength } = body.bytes;
    const lent = byteLength < POOLED_BYTES_MIN ? undefined : this.#pool.acquire(byteLength);
    if (lent === undefined) return waitingBody(body, receiver);
    lent.set(body.bytes);
    return { body: { ...body, bytes: lent.subarray(0, byteLength) }, receiver, lent };
  }

  /** Puts a body into the ring; false when it has no room. */
  #enterRing(body: OutgoingBody, receiver: AnswerReceiver): boolean {
    const key = encodeKey(body.idempotencyKey);
    const needed = align64(body.bytes.byteLength + 2 * BODY_PADDING_BYTES + key.byteLength);
    if (this.#ringUsed === 0) this.#ringAt = 0; // its first bytes are in the caches
    const rest = BODY_RING_BYTES - this.#ringAt;
    const skipped = rest < needed ? rest : 0;
    if (this.#ringUsed + skipped + needed > BODY_RING_BYTES) return false;
    const pointer = BODY_RING + (skipped > 0 ? 0 : this.#ringAt);
    this.#ringAt = (pointer - BODY_RING + needed) % BODY_RING_BYTES;
    this.#ringUsed += skipped + needed;
    this.#memory.bytes.set(body.bytes, pointer);
    this.#writeBody(pointer, body.bytes.byteLength, body, key, receiver, skipped + needed);
    return true;
  }

  #submitLarge(body: OutgoingBody, receiver: AnswerReceiver): boolean {
    if (this.#largeBusy) return this.#keepLarge(body, receiver);
    this.#largeBusy = true;
    this.#memory.bytes.set(body.bytes, LARGE_BODY);
    if (body.rest === undefined || body.rest.length === 0) this.#submitLargeBody(body, body.bytes.byteLength, receiver);
    else afterTurn(COPY, () => this.#copyRest(body, body.rest as readonly Uint8Array[], 0, body.bytes.byteLength, receiver));
    return true;
  }

  #keepLarge(body: OutgoingBody, receiver: AnswerReceiver): boolean {
    const tenant = String(body.tenant);
    const bytes = bytesOf(body);
    const own = this.#largeWaiting.itemsOf(tenant);
    const ownBytes = own.reduce((sum, waiting) => sum + bytesOf(waiting.body), bytes);
    if (own.length >= LARGE_BODIES_PER_TENANT_MAX || ownBytes > LARGE_BODIES_BYTES_PER_TENANT_MAX) return false;
    if (this.#largeWaitingBytes + bytes > LARGE_BODIES_WAITING_BYTES_MAX) return false;
    this.#largeWaitingBytes += bytes;
    this.#largeWaiting.put(tenant, String(this.#largeWaited++), waitingBody(body, receiver));
    return true;
  }

  /** Copies the pieces from `next` on, as much as one turn may, and hands the body over when it is whole. */
  #copyRest(body: OutgoingBody, rest: readonly Uint8Array[], next: number, at: number, receiver: AnswerReceiver): void {
    const until = at + COPIED_BYTES_PER_SLICE;
    for (let piece = rest[next]; piece !== undefined && at < until; piece = rest[++next]) {
      this.#memory.bytes.set(piece, LARGE_BODY + at);
      at += piece.byteLength;
    }
    if (next < rest.length) {
      afterTurn(COPY, () => this.#copyRest(body, rest, next, at, receiver));
      return;
    }
    this.#submitLargeBody(body, at, receiver);
    this.publish();
  }

  #submitLargeBody(body: OutgoingBody, bytes: number, receiver: AnswerReceiver): void {
    this.#largeReceiver = receiver;
    this.#writeBody(LARGE_BODY, bytes, body, encodeKey(body.idempotencyKey), LARGE_RECEIVER, 0);
  }

  /** Describes a body whose bytes lie at a place. */
  #writeBody(pointer: number, bodyBytes: number, body: OutgoingBody, key: Uint8Array, receiver: AnswerReceiver, ringBytes: number): void {
    const { bytes, view } = this.#memory;
    const end = pointer + bodyBytes;
    for (let i = 0; i < BODY_PADDING_BYTES; i += 8) view.setFloat64(end + i, 0); // fill() is a call out of the engine's code
    if (key.byteLength > 0) bytes.set(key, end + BODY_PADDING_BYTES);
    const index = this.#head % DESCRIPTOR_COUNT;
    const admission = this.#nextAdmission();
    this.#admissions[index] = admission;
    const { kind, tenant, isAnonymous, arrivalMs, wallMs, sender } = body;
    const keyBytes = key.byteLength;
    writeDescriptor(view, index, { pointer, bytes: bodyBytes, kind, tenant, keyBytes, isAnonymous, admission, arrivalMs, wallMs, sender });
    this.#receivers[index] = receiver;
    this.#ringBytes[index] = ringBytes;
    this.#head++;
    this.#inEngine++;
  }

  /** Makes what was submitted visible to the engine: once per turn of the event loop. */
  publish(): void {
    if (this.#published === this.#head) return;
    this.#published = this.#head;
    this.#memory.publishBodies(this.#head >>> 0);
    this.#memory.ringBell();
  }

  /** Takes the engine's answers: `counts[i]` of the oldest bodies in the ring got the i-th status, body and so on; the large body and those that were overtaken got their own. */
  answer({ counts, statuses, bodies, written, large, overtaken }: EngineAnswers): void {
    for (let i = 0; i < counts.length; i++) {
      for (let count = counts[i] as number; count > 0; count--)
        this.#answerNext(statuses[i] as number, bodies[i] as string | null, written[i] as WrittenCounts | null);
    }
    for (const answer of overtaken) this.#answerOvertaken(answer);
    if (large !== null) this.#answerLarge(large);
    if (this.#smallWaiting.length > 0) this.#sendWaitingSmall();
    this.#sendWaitingLarge();
  }

  #answerNext(status: number, body: string | null, written: WrittenCounts | null): void {
    this.#skipLarge();
    const index = this.#answered % DESCRIPTOR_COUNT;
    const receiver = this.#receivers[index] as AnswerReceiver;
    const ringBytes = this.#ringBytes[index] as number;
    this.#receivers[index] = undefined;
    this.#answered++;
    this.#ringUsed -= ringBytes;
    if (status === STATUS_SET_ASIDE) {
      this.#aside.set(this.#admissions[index] as number, receiver);
      return;
    }
    this.#inEngine--;
    receiver.answer(status, body, written);
  }

  #answerOvertaken({ admission, status, body, written }: EngineAnswers["overtaken"][number]): void {
    const receiver = this.#aside.get(admission) as AnswerReceiver;
    this.#aside.delete(admission);
    this.#inEngine--;
    receiver.answer(status, body, written);
  }

  /** Large bodies hold nothing of the ring, and are answered by themselves: bodies behind them overtake them. */
  #skipLarge(): void {
    while (this.#answered !== this.#head && this.#ringBytes[this.#answered % DESCRIPTOR_COUNT] === 0) {
      this.#receivers[this.#answered % DESCRIPTOR_COUNT] = undefined;
      this.#answered++;
    }
  }

  #answerLarge({ status, body, written }: EngineAnswerContent): void {
    const receiver = this.#largeReceiver as AnswerReceiver;
    this.#largeReceiver = undefined;
    this.#largeBusy = false;
    this.#inEngine--;
    this.#skipLarge();
    receiver.answer(status, body, written);
  }

  /** In the order in which they came. */
  #sendWaitingSmall(): void {
    let sent = 0;
    for (const { body, receiver, lent } of this.#smallWaiting) {
      if (this.#head - this.#answered >= DESCRIPTOR_COUNT || !this.#enterRing(body, receiver)) break;
      if (lent !== undefined) this.#pool.release(lent);
      this.#smallWaitingBytes -= body.bytes.byteLength;
      sent++;
    }
    this.#smallWaiting.splice(0, sent);
    this.publish();
  }

  #sendWaitingLarge(): void {
    const next = this.#largeBusy ? undefined : this.#largeWaiting.take();
    if (next === undefined) return;
    this.#largeWaitingBytes -= bytesOf(next.item.body);
    this.#submitLarge(next.item.body, next.item.receiver);
    this.publish();
  }
}

function waitingBody(body: OutgoingBody, receiver: AnswerReceiver): WaitingBody {
  const isOwn = body.rest !== undefined && body.rest.length > 0;
  return { body: isOwn ? body : { ...body, bytes: new Uint8Array(body.bytes) }, receiver, lent: undefined };
}
