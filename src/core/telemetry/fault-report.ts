// A fault on its way to the main thread, which counts and logs the faults of all threads.
import type { Fault, FaultPosition } from "../faults/guard.ts";
import { stackOf } from "../text/error-text.ts";

/** A throw that was answered in another thread. */
export interface FaultReport {
  readonly type: "fault";
  readonly where: FaultPosition;
  readonly name: string;
  /** Stack of the error. */
  readonly stack: string;
}

export function faultReport({ where, name, error }: Fault): FaultReport {
  return { type: "fault", where, name, stack: stackOf(error) };
}
