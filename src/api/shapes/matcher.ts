// A matcher of an alert's labels, as silences and inhibitions have them.
import { z } from "zod";
import { NAME_BYTES_MAX } from "../../core/config/limits.ts";
import { PATTERN_BYTES_MAX } from "../../core/config/pattern-limits.ts";
import { isLongerThan } from "../../core/text/utf8.ts";
import type { LabelMatcher } from "../../domain/alerting/label-matcher.ts";
import { optionalName } from "./name.ts";

export const labelValue = () =>
  z
    .string()
    .refine((text) => !isLongerThan(text, NAME_BYTES_MAX), `may have ${NAME_BYTES_MAX} bytes`)
    .meta({ maxLength: NAME_BYTES_MAX });

const OPERATOR = z.enum(["=", "!=", "=~", "!~"]);
const NAME = optionalName().describe("service_id, metric_name, environment, detector, family, severity, or an attribute");
const VALUE = labelValue().describe(
  `with =~ and !~ a regular expression in RE2's syntax of at most ${PATTERN_BYTES_MAX} bytes, which must match the whole value`,
);

export const MATCHER = z.strictObject({ name: NAME, operator: OPERATOR, value: VALUE });

/** Ours, or Alertmanager's (isRegex, isEqual). */
export const SILENCE_MATCHER = z
  .strictObject({
    name: NAME,
    operator: OPERATOR.optional().describe("needed where isRegex is not given"),
    value: VALUE,
    isRegex: z.boolean().optional().describe("Alertmanager's form, in place of operator: =~ and !~ where it is true"),
    isEqual: z.boolean().optional().describe("Alertmanager's form: != and !~ where it is false"),
  })
  .refine(({ operator, isRegex }) => operator !== undefined || isRegex !== undefined, { path: ["operator"] })
  .refine(({ operator, isRegex, isEqual }) => operator === undefined || (isRegex ?? isEqual) === undefined, {
    path: ["operator"],
    message: "give operator, or isRegex and isEqual as Alertmanager has them, not both",
  })
  .meta({ oneOf: [{ required: ["operator"] }, { required: ["isRegex"] }], dependentRequired: { isEqual: ["isRegex"] } });

/** Either form as ours. */
export function matcherFrom({ name, value, operator, isRegex = false, isEqual = true }: z.output<typeof SILENCE_MATCHER>): LabelMatcher {
  const alertmanagers = isRegex ? (isEqual ? "=~" : "!~") : isEqual ? "=" : "!=";
  return { name, operator: operator ?? alertmanagers, value };
}
