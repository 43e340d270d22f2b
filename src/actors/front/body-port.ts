// The front's end of one engine: puts bodies into the engine's memory, publishes their descriptors, and matches answers with requests.
// Small bodies go into a 2 MiB ring that stays hot in cache; a large one goes into one place of its own, the next large ones wait here.
import type { EngineMemory } from "../../adapters/runtime/engine-memory.ts";
import { BODIES_WAITING_MAX, SMALL_BODY_BYTES_MAX } from "../../core/config/limits.ts";
import {
  BODY_PADDING_BYTES,
  BODY_RING,
  BODY_RING_BYTES,
  DESCRIPTOR_ADMISSION,
  DESCRIPTOR_ARRIVAL,
  DESCRIPTOR_BODY_BYTES,
  DESCRIPTOR_BYTES,
  DESCRIPTOR_COUNT,
  DESCRIPTOR_KEY_BYTES,
  DESCRIPTOR_KIND,
  DESCRIPTOR_POINTER,
  DESCRIPTOR_TENANT,
  DESCRIPTOR_WALL,
  DESCRIPTORS,
  LARGE_BODY,
} from "../../core/layout/memory-map.ts";

/** Large bodies that may wait for the engine's one large place; each is held whole, so 4 x 64 MiB at most. */
const LARGE_WAITING_MAX = 4;

/** A body to hand over. `bytes` may be a pooled buffer: it is copied before `submit` returns. */
export interface OutgoingBody {
  readonly bytes: Uint8Array;
  readonly kind: number;
  readonly tenant: number;
  readonly idempotencyKey: string;
  readonly arrivalMs: number;
  readonly wallMs: number;
}

/** Called with the engine's answer; `body` null means none. */
export type OnAnswer = (status: number, body: string | null) => void;

interface Sent {
  readonly onAnswer: OnAnswer;
  /** Ring bytes to free; 0 for a large body. */
  readonly ringBytes: number;
}

const align64 = (bytes: number) => (bytes + 63) & ~63;
const encoder = new TextEncoder();

/** Single producer of bodies for one engine. */
export class BodyPort {
  readonly #memory: EngineMemory;
  readonly #nextAdmission: () => number;
  readonly #sent = new Map<number, Sent>();
  #head = 0;
  #answered = 0;
  #published = 0;
  #ringAt = 0;
  #ringUsed = 0;
  #largeBusy = false;
  #largeWaiting: Array<{ body: OutgoingBody; onAnswer: OnAnswer }> = [];

  constructor(memory: EngineMemory, nextAdmission: () => number) {
    this.#memory = memory;
    this.#nextAdmission = nextAdmission;
  }

  /** Bodies that wait for their answer. */
  get waiting(): number {
    return this.#head - this.#answered + this.#largeWaiting.length;
  }

  get ringFill(): number {
    return this.#ringUsed / BODY_RING_BYTES;
  }

  /** Takes a body; false when there is no room (the caller answers 503). */
  submit(body: OutgoingBody, onAnswer: OnAnswer): boolean {
    if (this.waiting >= BODIES_WAITING_MAX || this.#head - this.#answered >= DESCRIPTOR_COUNT) return false;
    if (body.bytes.byteLength > SMALL_BODY_BYTES_MAX) return this.#submitLarge(body, onAnswer);
    const key = encoder.encode(body.idempotencyKey);
    const needed = align64(body.bytes.byteLength + 2 * BODY_PADDING_BYTES + key.byteLength);
    const rest = BODY_RING_BYTES - this.#ringAt;
    const skipped = rest < needed ? rest : 0;
    if (this.#ringUsed + skipped + needed > BODY_RING_BYTES) return false;
    const pointer = BODY_RING + (skipped > 0 ? 0 : this.#ringAt);
    this.#ringAt = (pointer - BODY_RING + needed) % BODY_RING_BYTES;
    this.#ringUsed += skipped + needed;
    this.#place(pointer, body, key, { onAnswer, ringBytes: skipped + needed });
    return true;
  }

  #submitLarge(body: OutgoingBody, onAnswer: OnAnswer): boolean {
    if (this.#largeBusy) {
      if (this.#largeWaiting.length >= LARGE_WAITING_MAX) return false;
      this.#largeWaiting.push({ body: { ...body, bytes: body.bytes.slice() }, onAnswer });
      return true;
    }
    this.#largeBusy = true;
    this.#place(LARGE_BODY, body, encoder.encode(body.idempotencyKey), { onAnswer, ringBytes: 0 });
    return true;
  }

  #place(pointer: number, body: OutgoingBody, key: Uint8Array, sent: Sent): void {
    const { bytes, view } = this.#memory;
    const end = pointer + body.bytes.byteLength;
    bytes.set(body.bytes, pointer);
    bytes.fill(0, end, end + BODY_PADDING_BYTES);
    bytes.set(key, end + BODY_PADDING_BYTES);
    const at = DESCRIPTORS + (this.#head % DESCRIPTOR_COUNT) * DESCRIPTOR_BYTES;
    view.setUint32(at + DESCRIPTOR_POINTER, pointer, true);
    view.setUint32(at + DESCRIPTOR_BODY_BYTES, body.bytes.byteLength, true);
    view.setUint32(at + DESCRIPTOR_KIND, body.kind, true);
    view.setUint32(at + DESCRIPTOR_TENANT, body.tenant, true);
    view.setUint32(at + DESCRIPTOR_KEY_BYTES, key.byteLength, true);
    view.setFloat64(at + DESCRIPTOR_ADMISSION, this.#nextAdmission(), true);
    view.setFloat64(at + DESCRIPTOR_ARRIVAL, body.arrivalMs, true);
    view.setFloat64(at + DESCRIPTOR_WALL, body.wallMs, true);
    this.#sent.set(this.#head, sent);
    this.#head++;
  }

  /** Makes what was submitted visible to the engine: once per turn of the event loop. */
  publish(): void {
    if (this.#published === this.#head) return;
    this.#published = this.#head;
    this.#memory.publishBodies(this.#head >>> 0);
    this.#memory.ringBell();
  }

  /** Takes the engine's answers to the bodies from number `from` on. */
  answer(statuses: readonly number[], bodies: ReadonlyArray<string | null>): void {
    for (let i = 0; i < statuses.length; i++) {
      const sent = this.#sent.get(this.#answered) as Sent;
      this.#sent.delete(this.#answered);
      this.#answered++;
      this.#ringUsed -= sent.ringBytes;
      if (sent.ringBytes === 0) this.#largeBusy = false;
      sent.onAnswer(statuses[i] as number, bodies[i] as string | null);
    }
    this.#sendWaitingLarge();
  }

  #sendWaitingLarge(): void {
    const next = this.#largeBusy ? undefined : this.#largeWaiting.shift();
    if (next === undefined) return;
    this.#submitLarge(next.body, next.onAnswer);
    this.publish();
  }
}
