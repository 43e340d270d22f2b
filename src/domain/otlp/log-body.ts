// The body of a log record as text.
import type { AttributeValue } from "../../core/protocol/coordinator-frame.ts";

/** A string as it is, nothing as "", anything else as JSON. */
export function bodyText(body: AttributeValue): string {
  if (typeof body === "string") return body;
  return body === null ? "" : JSON.stringify(body);
}
