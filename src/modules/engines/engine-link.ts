// The coordinator's end of one engine.
import type { EngineFrame } from "../../core/protocol/coordinator-frame.ts";
import type { EngineAnswer, EngineNotice, EngineQuery, ReturnedStreams } from "../../core/protocol/engine-control.ts";

/** Where frames come from. */
export interface FrameSource {
  /** Takes at most `most` frames, oldest first. */
  takeFrames(most: number): EngineFrame[];
  /** Takes a payload back that nothing reads any more. */
  reuse(payload: Uint8Array): void;
}

/** Where streams are delivered that an engine wants back. */
export interface ColdRecipient {
  deliver(streams: ReturnedStreams): void;
}

/** `ask` rejects when the engine does not answer in time. */
export interface EngineLink extends FrameSource, ColdRecipient {
  ask(query: EngineQuery): Promise<EngineAnswer>;
  /** Sends what is not answered. */
  tell(message: EngineNotice): void;
}
