// Which frames of a transaction cannot be stored. A transaction is made of drafts over the committed state and may be thrown away, so where making it throws it is made again of
// fewer frames, and what makes it throw is found. Nothing of that ends the coordinator: it is the frame's fault, and the next start would meet the same frame in the log.
import { StoreError } from "../../../adapters/storage/key-value-store.ts";
import { DamagedValueError } from "../../../adapters/storage/value-seal.ts";
import {
  type EngineFrame,
  FRAME_BLOCK,
  FRAME_CALLS,
  FRAME_CLOSING,
  FRAME_DEAD_LETTER,
  FRAME_DETECTOR_STATES,
  FRAME_METADATA,
  FRAME_METRIC_SCOPE,
  FRAME_RECORD,
  FRAME_SERVICE_LABELS,
  FRAME_SPAN_BLOCK,
  FRAME_VERDICT,
} from "../../../core/protocol/coordinator-frame.ts";

/** Kinds without which everything else goes on, in the operator's words. A checkpoint or a mark says what is stored: without it the engines and the stores would not agree. */
export const SPARED_KINDS: ReadonlyMap<number, string> = new Map([
  [FRAME_VERDICT, "verdict"],
  [FRAME_CLOSING, "verdict"],
  [FRAME_RECORD, "record"],
  [FRAME_DEAD_LETTER, "dead letter"],
  [FRAME_METADATA, "metric metadata"],
  [FRAME_METRIC_SCOPE, "first scope of a metric"],
  [FRAME_SERVICE_LABELS, "service labels"],
  [FRAME_BLOCK, "block of samples"],
  [FRAME_SPAN_BLOCK, "block of spans"],
  [FRAME_CALLS, "sums of calls"],
  [FRAME_DETECTOR_STATES, "states of a detector"],
]);

/** A frame, and why it cannot be stored. */
export interface UnstorableFrame {
  readonly frame: EngineFrame;
  readonly error: Error;
}

/** Nothing was committed; the same frames without these may be. */
export class UnstorableFramesError extends Error {
  readonly unstorable: readonly UnstorableFrame[];

  constructor(unstorable: readonly UnstorableFrame[]) {
    super(`${unstorable.length} frames cannot be stored: ${unstorable[0]?.error.message}`);
    this.name = "UnstorableFramesError";
    this.unstorable = unstorable;
  }
}

/** Makes a transaction of frames. Throws UnstorableFramesError where some of them stand in the way, and what `make` throws where that is no frame's fault. */
export function makeOfFrames<T>(frames: readonly EngineFrame[], make: (frames: readonly EngineFrame[]) => T): T {
  const failure = failureOf(frames, make);
  if ("made" in failure) return failure.made;
  const alone = frames.flatMap((frame) => unstorable(frame, [frame], make));
  const found = alone.length > 0 ? alone : firstInTheWay(frames, make);
  const needed = found.find(({ frame }) => !SPARED_KINDS.has(frame.kind));
  if (needed !== undefined || found.length === 0) throw needed?.error ?? failure.error;
  throw new UnstorableFramesError(found);
}

/** The last frame of the shortest beginning that cannot be made, by halves. */
function firstInTheWay<T>(frames: readonly EngineFrame[], make: (frames: readonly EngineFrame[]) => T): UnstorableFrame[] {
  let good = 0;
  for (let bad = frames.length; bad - good > 1; ) {
    const half = (good + bad) >> 1;
    if ("made" in failureOf(frames.slice(0, half), make)) good = half;
    else bad = half;
  }
  const frame = frames[good];
  return frame === undefined ? [] : unstorable(frame, frames.slice(0, good + 1), make);
}

function unstorable<T>(frame: EngineFrame, of: readonly EngineFrame[], make: (frames: readonly EngineFrame[]) => T): UnstorableFrame[] {
  const failure = failureOf(of, make);
  return "made" in failure ? [] : [{ frame, error: failure.error }];
}

/** Throws what the store itself says: that is no frame's fault. */
function failureOf<T>(
  frames: readonly EngineFrame[],
  make: (frames: readonly EngineFrame[]) => T,
): { readonly made: T } | { readonly error: Error } {
  try {
    return { made: make(frames) };
  } catch (error) {
    if (error instanceof StoreError || error instanceof DamagedValueError || !(error instanceof Error)) throw error;
    return { error };
  }
}
