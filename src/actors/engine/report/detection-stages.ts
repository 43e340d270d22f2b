// How long a detection has taken from the arrival of its bytes until each of the engine's stages was over: the body taken, decoded, the value judged, the frame on its
// way to the coordinator. Of rows that another engine decoded only the latter two are known here.
import type { EngineStage } from "../../../core/layout/counters.ts";
import type { EngineCounters } from "./engine-counters.ts";

/** Stages of one engine; times are monotonic, and arrivals that are not above 0 are of no live body. */
export class DetectionStages {
  readonly #counters: Pick<EngineCounters, "stage">;
  readonly #monotonicMs: () => number;
  /** Of the unit at hand. */
  #arrivalMs = 0;
  #receivedMs = 0;
  #decodedMs = 0;

  constructor(counters: Pick<EngineCounters, "stage">, monotonicMs: () => number) {
    this.#counters = counters;
    this.#monotonicMs = monotonicMs;
  }

  /** A unit has begun with a body that arrived then. */
  received(arrivalMs: number): void {
    this.#arrivalMs = arrivalMs;
    this.#receivedMs = this.#monotonicMs();
    this.#decodedMs = this.#receivedMs;
  }

  /** The unit at hand is decoded. */
  decoded(): void {
    this.#decodedMs = this.#monotonicMs();
  }

  /** An anomaly was found in bytes that arrived then. */
  judged(arrivalMs: number): void {
    if (arrivalMs <= 0) return;
    if (arrivalMs === this.#arrivalMs) {
      this.#observe("received", this.#receivedMs - arrivalMs);
      this.#observe("decoded", this.#decodedMs - arrivalMs);
    }
    this.#observe("judged", this.#monotonicMs() - arrivalMs);
  }

  /** Its frame is on its way. */
  framed(arrivalMs: number): void {
    if (arrivalMs > 0) this.#observe("framed", this.#monotonicMs() - arrivalMs);
  }

  #observe(stage: EngineStage, ms: number): void {
    this.#counters.stage(stage, ms / 1000);
  }
}
