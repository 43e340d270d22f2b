// Texts that are longer than they may be are cut at a character and say so at their end. A sender that sends the same again sends the same text, so a cut one is known
// as a repeat as well.
import { LOG_BODY_BYTES_MAX } from "../../core/config/limits.ts";
import { cutToBytes, isLongerThan, utf8Bytes } from "../../core/text/utf8.ts";

/** What a cut text ends with. */
export function cutMark(bytes: number): string {
  return `… [cut: ${bytes} bytes came]`;
}

/** The text, of `most` bytes at most, which have room for the mark. */
export function cutText(text: string, most: number): string {
  if (!isLongerThan(text, most)) return text;
  const mark = cutMark(utf8Bytes(text));
  return cutToBytes(text, most - utf8Bytes(mark)) + mark;
}

/** The body of a log or an event as it is kept, of LOG_BODY_BYTES_MAX bytes at most. */
export function retainedBody(body: string): string {
  return cutText(body, LOG_BODY_BYTES_MAX);
}
