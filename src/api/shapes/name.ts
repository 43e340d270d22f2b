// A name in a body: of a service, a metric, an environment, a label, a person (domain/series/name-rule.ts says what one may be).
import { z } from "zod";
import { NAME_BYTES_MAX } from "../../core/config/limits.ts";
import { flawText, NAME_PATTERN, nameFlaw } from "../../domain/series/name-rule.ts";

/** A name that may be empty, of `bytesMax` bytes at most. */
export function optionalName(bytesMax: number = NAME_BYTES_MAX) {
  return z
    .string()
    .superRefine((text, context) => {
      const flaw = nameFlaw(text, bytesMax);
      if (flaw !== undefined) context.addIssue({ code: "custom", message: flawText(flaw, bytesMax) });
    })
    .meta({ maxLength: bytesMax, pattern: NAME_PATTERN });
}

/** A name of 1 to `bytesMax` bytes. */
export function nameField(bytesMax: number = NAME_BYTES_MAX) {
  return optionalName(bytesMax).min(1, "must not be empty").meta({ minLength: 1, maxLength: bytesMax, pattern: NAME_PATTERN });
}
