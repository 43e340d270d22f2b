// What is said of something that was thrown, which may be anything.

/** Returns the message of an error, and what else was thrown as text. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** Returns the first line of the message; libraries append hints and stacks to theirs. */
export function firstLineOf(thrown: unknown): string {
  return messageOf(thrown).split("\n", 1)[0] as string;
}

/** Returns the message of an error's cause if it has one: fetch says "fetch failed", and its cause why. */
export function causeMessageOf(thrown: unknown): string {
  return messageOf(thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown);
}

/** Returns the stack of an error, which begins with its message. */
export function stackOf(thrown: unknown): string {
  return thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
}

/** Returns an error as it is, and anything else within one. */
export function errorOf(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
