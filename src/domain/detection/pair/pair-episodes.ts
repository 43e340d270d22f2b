// From what the detector of a pair says to the frames that tell the coordinator of an alert's begin, rise and end.
import type { EpisodeFrame, StreamName } from "../../../core/protocol/coordinator-frame.ts";
import type { Explanation } from "../../../core/protocol/explanation-facts.ts";
import type { OffsetMs } from "../seasonal/time-zone-hours.ts";
import type { PairArena } from "./pair-arena.ts";
import type { PairDetector } from "./pair-detector.ts";
import type { PairVerdict } from "./pair-finding.ts";
import { DETECTOR_ADAPTIVE, mayAlert, type PairObservation, pairFacts, pairVerdict, pairZ } from "./pair-verdict.ts";

/** The stream whose values are being given to the detector. */
export interface EpisodeStream {
  readonly pair: number;
  readonly slot: number;
  readonly direction: PairObservation["direction"];
  /** Whether what begins with this value is told. */
  readonly isReported: boolean;
}

export interface PairEpisodesDependencies {
  readonly arena: PairArena;
  readonly detector: PairDetector;
  readonly offsetMs: OffsetMs;
  readonly nameOf: (slot: number) => StreamName;
  /** Streams that an aggregate's values are of. */
  readonly streamsOf?: () => number;
  readonly firstTimeMs: (slot: number) => number;
  /** 32 hex digits of a text. */
  readonly hashText: (text: string) => string;
  readonly send: (frame: EpisodeFrame) => void;
}

/** Contents of a frame besides the names. */
interface Finding {
  readonly timeMs: number;
  readonly verdict: unknown;
  readonly explanation: Explanation;
}

/** Episodes of all pairs of an engine; what is open stands in the arena. */
export class PairEpisodes {
  readonly #dependencies: PairEpisodesDependencies;
  /** A higher peak of the episode at hand, or a departure that has begun while its level was far out, told once its values are through. */
  #risen: EpisodeFrame | undefined;

  constructor(dependencies: PairEpisodesDependencies) {
    this.#dependencies = dependencies;
  }

  /** Takes what the detector said of a value. */
  take(stream: EpisodeStream, timeMs: number, verdict: PairVerdict): void {
    const { arena, send } = this.#dependencies;
    const { pair, slot, direction, isReported } = stream;
    const openedMs = arena.openedMs(pair);
    if (openedMs !== 0) this.#goOn(stream, timeMs, verdict);
    else if (verdict.opened && isReported && mayAlert(verdict.side, direction)) {
      arena.setEpisode(pair, timeMs, pairZ(verdict));
      send(this.#frame(pair, slot, "open", this.#finding(slot, timeMs, verdict)));
    }
  }

  #goOn({ pair, slot }: EpisodeStream, timeMs: number, verdict: PairVerdict): void {
    const { arena } = this.#dependencies;
    if (!verdict.isFiring) {
      this.end(pair, slot, timeMs, "close", this.#dependencies.detector.accepted);
      return;
    }
    const z = pairZ(verdict);
    const peak = arena.peak(pair);
    const isHigher = Math.abs(z) > Math.abs(peak);
    if (Math.sign(z) !== Math.sign(peak) || !(isHigher || verdict.departs)) return;
    if (isHigher) arena.setEpisode(pair, arena.openedMs(pair), z);
    this.#risen = this.#frame(pair, slot, "update", this.#finding(slot, timeMs, verdict));
  }

  /** The stream at hand has no more values for now. */
  flush(): void {
    if (this.#risen !== undefined) this.#dependencies.send(this.#risen);
    this.#risen = undefined;
  }

  /** Ends the episode of a pair, if it has one: it has recovered (close), with a level as the new one, or its stream is not judged any more (end). */
  end(pair: number, slot: number, timeMs: number, transition: "close" | "end", level?: EpisodeFrame["level"]): void {
    const { arena, send } = this.#dependencies;
    if (arena.openedMs(pair) === 0) return;
    this.flush();
    const closing = this.#frame(pair, slot, transition, { timeMs, verdict: null, explanation: "" });
    send(level === undefined ? closing : { ...closing, level });
    arena.setEpisode(pair, 0, 0);
  }

  /** Id of the episode of a pair that is open. */
  idOf(pair: number): string {
    const { arena, hashText } = this.#dependencies;
    return hashText(`${arena.hash(pair)} ${DETECTOR_ADAPTIVE} ${arena.peak(pair) < 0 ? "low" : "high"} ${arena.openedMs(pair)}`);
  }

  #finding(slot: number, timeMs: number, verdict: PairVerdict): Finding {
    const { detector, offsetMs, streamsOf, firstTimeMs } = this.#dependencies;
    const ageSeconds = Math.max(0, timeMs - firstTimeMs(slot)) / 1000;
    const localMs = timeMs + offsetMs(timeMs);
    const observation: PairObservation = { verdict, baseline: detector.baseline, ageSeconds, localMs, direction: "both" };
    return { timeMs, verdict: pairVerdict(observation), explanation: pairFacts(observation, streamsOf?.()) };
  }

  #frame(pair: number, slot: number, transition: EpisodeFrame["transition"], { timeMs, ...finding }: Finding): EpisodeFrame {
    const { arena, nameOf } = this.#dependencies;
    const z = arena.peak(pair);
    return {
      ...nameOf(slot),
      transition,
      episodeId: this.idOf(pair),
      detector: DETECTOR_ADAPTIVE,
      direction: z < 0 ? "low" : "high",
      startedAtMs: arena.openedMs(pair),
      observedAtMs: timeMs,
      z,
      ...finding,
      arrivalMs: 0,
    };
  }
}
