// Kinds of streams that are guessed: the sender says two types of the name, and nothing else tells what a series is. It counts until its values show that it is no
// counter. What is known otherwise, or was shown, is left alone by a guess.
import {
  FLAG_COUNTER,
  FLAG_GUESSED,
  FLAG_OPERATION,
  FLAG_PERCENT,
  FLAG_RETAINED_AS_RECORDS,
  FLAG_SETTLED,
} from "../../core/layout/stream-record.ts";

const LASTING_FLAGS = FLAG_OPERATION | FLAG_PERCENT | FLAG_RETAINED_AS_RECORDS;

/** How a kind is known. */
export const KNOWN_KIND = FLAG_GUESSED | FLAG_SETTLED;

/** Whether a definition says nothing new of a stream with these flags: a guess of one whose kind is settled, or that is guessed. */
export function keepsKind(known: number, defined: number): boolean {
  return (defined & FLAG_GUESSED) !== 0 && (known & KNOWN_KIND) !== 0;
}

/** Whether a known stream has to start anew by a definition: the kernel's takesKind() in other words. */
export function startsAnew(known: number, defined: number): boolean {
  return !keepsKind(known, defined) && ((known ^ defined) & FLAG_COUNTER) !== 0;
}

/** Flags of a stream that was taken for a counter and is none. */
export function gaugeOf(flags: number): number {
  return (flags & LASTING_FLAGS) | FLAG_SETTLED;
}
