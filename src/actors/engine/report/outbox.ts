// What an engine has for the coordinator. Frames go into the shared ring in order; what finds no room waits here, and the ingest takes no
// new body while more than OVERFLOW_BYTES_MAX wait.
import { CoordinatorRingWriter } from "../../../adapters/shared-memory/coordinator-ring.ts";
import type { EngineMemory } from "../../../adapters/shared-memory/engine-memory.ts";
import { OVERFLOW_BYTES_MAX } from "../../../core/config/limits.ts";
import { FRAME_BLOCK, FRAME_CHECKPOINT, FRAME_LOG_MARK } from "../../../core/protocol/coordinator-frame.ts";

/** Frames with what the engine holds no longer: samples, streams, counts of accepted events. */
const CARRIERS: ReadonlySet<number> = new Set([FRAME_BLOCK, FRAME_CHECKPOINT, FRAME_LOG_MARK]);

/** Queue of frames from one engine to the coordinator. */
export class Outbox {
  readonly #ring: CoordinatorRingWriter;
  readonly #ringBell: () => void;
  readonly #encoder = new TextEncoder();
  #waiting: Array<{ kind: number; payload: Uint8Array }> = [];
  #taken = 0;
  #waitingBytes = 0;
  /** Frames ever sent, ever moved into the ring, and the number of the last of CARRIERS. */
  #sent = 0;
  #moved = 0;
  #lastCarrier = 0;
  /** False while the coordinator may sleep beside what was put into the ring since the last flush. */
  #isReported = true;

  constructor(memory: EngineMemory, ringBell: () => void) {
    this.#ring = new CoordinatorRingWriter(memory);
    this.#ringBell = ringBell;
  }

  send(kind: number, payload: Uint8Array): void {
    this.#count(kind);
    this.#wait(kind, payload);
  }

  /** The same for a payload that is valid during the call alone: it goes into the ring at once where nothing waits and there is room, else a copy waits. */
  sendView(kind: number, payload: Uint8Array): void {
    this.#count(kind);
    const before = this.#ring.position;
    if (this.#waiting.length === 0 && this.#ring.write(kind, payload)) this.#moved++;
    else this.#wait(kind, new Uint8Array(payload));
    if (this.#ring.position !== before) this.#isReported = false; // of a frame larger than the ring a part may be there
  }

  #count(kind: number): void {
    this.#sent++;
    if (CARRIERS.has(kind)) this.#lastCarrier = this.#sent;
  }

  #wait(kind: number, payload: Uint8Array): void {
    this.#waiting.push({ kind, payload });
    this.#waitingBytes += payload.byteLength;
  }

  sendJson(kind: number, message: object): void {
    this.send(kind, this.#encoder.encode(JSON.stringify(message)));
  }

  /** Moves what fits into the ring and tells the coordinator where it waits for that; of a frame larger than the ring that is a part, which must be read before the rest fits. */
  flush(): boolean {
    if (this.#waiting.length === 0 && this.#isReported) return false;
    const before = this.#ring.position;
    while (this.#taken < this.#waiting.length) {
      const { kind, payload } = this.#waiting[this.#taken] as { kind: number; payload: Uint8Array };
      if (!this.#ring.write(kind, payload) && !this.#writeOrAwaitSpace(kind, payload)) break;
      this.#waitingBytes -= payload.byteLength;
      this.#taken++;
      this.#moved++;
    }
    if (this.#taken === this.#waiting.length) {
      this.#waiting = [];
      this.#taken = 0;
    }
    const wrote = this.#ring.position !== before || !this.#isReported;
    this.#isReported = true;
    if (wrote && this.#ring.isAwaited()) this.#ringBell();
    return wrote;
  }

  #writeOrAwaitSpace(kind: number, payload: Uint8Array): boolean {
    this.#ring.awaitSpace();
    return this.#ring.write(kind, payload);
  }

  get frames(): number {
    return this.#waiting.length - this.#taken;
  }

  /** Whether something that has left the engine's memory waits here: nobody who looks finds it. */
  get isCarrying(): boolean {
    return this.#moved < this.#lastCarrier;
  }

  /** Bytes that found no room in the ring yet. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  get isOverLimit(): boolean {
    return this.#waitingBytes > OVERFLOW_BYTES_MAX;
  }

  get ringFill(): number {
    return this.#ring.fill;
  }

  /** True when the coordinator has read everything; where it has not, the engine is woken when it reads on. */
  get drained(): boolean {
    this.#ring.awaitSpace();
    return this.frames === 0 && this.#ring.drained;
  }
}
