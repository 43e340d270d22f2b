// Bodies of telemetry that were refused before an engine saw them, by reason: too large, not what their encoding says. Engines count what they refuse
// themselves; `svc_validation_failures_total` is the sum of both.
import type { ErrorCode } from "../../api/refusal.ts";
import { VALIDATION_REASONS, type ValidationReason } from "../../core/layout/counters.ts";

const REASONS: ReadonlySet<string> = new Set(VALIDATION_REASONS);

/** Counts by reason since the start. */
export class RefusedBodies {
  readonly #counts = new Map<ValidationReason, number>();

  /** Counts the refusal of a request to an endpoint that takes telemetry; other codes are left out. */
  count(code: ErrorCode): void {
    if (isValidationReason(code)) this.#counts.set(code, this.of(code) + 1);
  }

  /** Bodies refused for that reason. */
  of(reason: ValidationReason): number {
    return this.#counts.get(reason) ?? 0;
  }
}

function isValidationReason(code: string): code is ValidationReason {
  return REASONS.has(code);
}
