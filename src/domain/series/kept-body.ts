// The body of a log or an event as it is kept: what is longer than LOG_BODY_BYTES_MAX is cut, and says so at its end. A sender that sends the same again sends the
// same body, so a cut one is known as a repeat as well.
import { cutToBytes, isLongerThan, utf8Bytes } from "../../core/base/utf8.ts";
import { LOG_BODY_BYTES_MAX } from "../../core/config/limits.ts";

/** The body, of LOG_BODY_BYTES_MAX bytes at most. */
export function keptBody(body: string): string {
  if (!isLongerThan(body, LOG_BODY_BYTES_MAX)) return body;
  const mark = `… [cut: ${utf8Bytes(body)} bytes came]`;
  return cutToBytes(body, LOG_BODY_BYTES_MAX - utf8Bytes(mark)) + mark;
}
