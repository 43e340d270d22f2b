// What the ingest asks of a decoder of bodies.
import type { Body } from "./body.ts";
import type { RetainedPosition } from "./retained-positions.ts";
import type { BodyAnswer, WorkUnit } from "./work-unit.ts";

/** Decodes one body at a time. */
export interface UnitDecoder {
  /** Starts a body; undefined when the unit must be committed first, then resume(). */
  begin(body: Body, unit: WorkUnit): BodyAnswer | undefined;
  /** Goes on with the body into a fresh unit, which must have the base of the one it began in. */
  resume(body: Body, unit: WorkUnit): BodyAnswer | undefined;
}

/** One whose body may wait between two units while others are decoded. */
export interface BodyDecoder extends UnitDecoder {
  /** Before others may use the kernel: what of the engine's memory, besides the body's bytes, is to be as it is when the body goes on. */
  keep(body: Body): readonly RetainedPosition[];
  /** It is again, and the body lies `moved` bytes further; then resume(). */
  goOn(moved: number): void;
  /** Its bytes are read once: what lies in the ring is not needed again. */
  readonly takesCopy: boolean;
}
