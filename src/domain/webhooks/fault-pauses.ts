// What a tenant has set and fails by its own fault (a program that throws, a text that cannot be sent): after so many failures in a row it pauses, and begins again by
// itself. State of the webhooks, or of the runbooks, of a server; in memory, since a start looks at each anew. 200 bytes for each that has failed last.
import { FAULT_PAUSE_MS, FAULTS_IN_A_ROW } from "../../core/config/webhook-limits.ts";

/** Why something pauses, and until when. */
export interface FaultPause {
  readonly untilMs: number;
  readonly failures: number;
  readonly error: string;
}

interface Faults {
  failures: number;
  error: string;
  /** Null while it does not pause. */
  untilMs: number | null;
}

export class FaultPauses {
  readonly #faults = new Map<string, Faults>();

  /** Takes in a failure; true where it pauses from now on. */
  failed(id: string, error: string, nowMs: number): boolean {
    const faults = this.#faults.get(id) ?? { failures: 0, error, untilMs: null };
    this.#faults.set(id, faults);
    faults.failures++;
    faults.error = error;
    if (faults.failures < FAULTS_IN_A_ROW || this.pause(id, nowMs) !== null) return false;
    faults.untilMs = nowMs + FAULT_PAUSE_MS;
    return true;
  }

  /** Forgets its failures: it has succeeded, was saved, or is gone. */
  forget(id: string): void {
    this.#faults.delete(id);
  }

  /** The pause that it is in; null where it is in none. The first failure after one begins another. */
  pause(id: string, nowMs: number): FaultPause | null {
    const faults = this.#faults.get(id);
    if (faults === undefined || faults.untilMs === null || nowMs >= faults.untilMs || faults.untilMs > nowMs + FAULT_PAUSE_MS) return null;
    return { untilMs: faults.untilMs, failures: faults.failures, error: faults.error };
  }

  /** Ends the pause that was to end then. */
  end(id: string, untilMs: number): void {
    const faults = this.#faults.get(id);
    if (faults?.untilMs === untilMs) faults.untilMs = null;
  }

  /** Number of those that pause. */
  count(nowMs: number): number {
    return [...this.#faults.keys()].filter((id) => this.pause(id, nowMs) !== null).length;
  }
}
