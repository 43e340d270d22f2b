// A matcher of an alert's labels, as silences and inhibitions have them.
import { z } from "zod";
import { isLongerThan } from "../../core/base/utf8.ts";
import { NAME_BYTES_MAX } from "../../core/config/limits.ts";

/** A name or a value of a label. */
export const labelText = () =>
  z
    .string()
    .refine((text) => !isLongerThan(text, NAME_BYTES_MAX), `may have ${NAME_BYTES_MAX} bytes`)
    .meta({ maxLength: NAME_BYTES_MAX });

export const MATCHER = z.strictObject({
  name: labelText().describe("service_id, metric_name, environment, detector, family, severity, or an attribute"),
  operator: z.enum(["=", "!=", "=~", "!~"]),
  value: labelText().describe("a pattern of |, ., .*, .+ and escapes with =~ and !~, matched as a whole"),
});
