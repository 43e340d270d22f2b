// The coordinator's end of one engine: its ring of frames, and its mailbox for questions.
import { CoordinatorRingReader } from "../../adapters/shared-memory/coordinator-ring.ts";
import type { EngineMemory } from "../../adapters/shared-memory/engine-memory.ts";
import type { Mailbox } from "../../adapters/threads/mailbox.ts";
import { Requests } from "../../adapters/threads/requests.ts";
import type { AwaitedFrames } from "../../core/protocol/coordinator-frame.ts";
import type {
  DetectorStates,
  EngineAnswer,
  EngineNotice,
  EngineQuery,
  EngineReply,
  EngineRequest,
  FramesPlaced,
  ReturnedStreams,
  StatePart,
} from "../../core/protocol/engine-control.ts";
import type { EngineLink } from "./engine-link.ts";

/** An engine that takes longer to answer is reported as not answering; its longest unit of work takes some 50 ms. */
const ENGINE_ANSWER_MS_MAX = 5_000;

/** Link to an engine in another thread: whatever is sent rings the thread's bell. */
export class EngineThreadLink implements EngineLink {
  readonly #memory: EngineMemory;
  readonly #ring: CoordinatorRingReader;
  readonly #mailbox: Mailbox<EngineReply | FramesPlaced, EngineRequest>;
  readonly #requests = new Requests<EngineAnswer>();

  constructor(memory: EngineMemory, mailbox: Mailbox<EngineReply | FramesPlaced, EngineRequest>) {
    this.#memory = memory;
    this.#ring = new CoordinatorRingReader(memory);
    this.#mailbox = mailbox;
  }

  /** Bytes that are a view of others are copied once, then moved. */
  sendState(part: StatePart): void {
    const bytes = Uint8Array.from(part.bytes);
    this.#send({ ...part, bytes }, [bytes.buffer]);
  }

  deliver(streams: ReturnedStreams | DetectorStates): void {
    this.#send(streams);
  }

  notify(message: EngineNotice): void {
    this.#send(message);
  }

  takeFrames(most: number) {
    const before = this.#ring.position;
    const frames = this.#ring.take(most);
    // Also for a part of a frame: the rest waits for this room.
    if (this.#ring.position !== before && this.#ring.isSpaceAwaited()) this.#memory.ringBell();
    return frames;
  }

  reuse(payload: Uint8Array): void {
    this.#ring.reuse(payload);
  }

  /** From now on the engine sends word of the next of such frames; true when one is there already. */
  awaitFrames(awaited: AwaitedFrames): boolean {
    return this.#ring.awaitFrames(awaited);
  }

  ask(query: EngineQuery): Promise<EngineAnswer> {
    return new Promise((resolve, reject) => {
      const late = (ms: number) => reject(new Error(`no answer within ${ms} ms`));
      this.#requests.add(query.id, ENGINE_ANSWER_MS_MAX, { answered: resolve, late });
      this.#send(query);
    });
  }

  settle(answer: EngineAnswer): void {
    this.#requests.settle(answer);
  }

  /** Engines have stopped: what they were asked last is never answered, and nobody waits for it. */
  close(): void {
    this.#requests.drop();
    this.#mailbox.close();
  }

  #send(message: EngineRequest, transfer: readonly ArrayBuffer[] = []): void {
    this.#mailbox.send(message, transfer);
    this.#memory.ringBell();
  }
}
