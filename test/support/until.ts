// Waits for what a test expects to come: looks again and again, and says what it saw last where patience ends.
import { setTimeout as pause } from "node:timers/promises";
import { inspect } from "node:util";

/** Milliseconds for what a running server answers at once; a hang says so within this time, not within PATIENCE_MS, which is for starts and ends. */
const ANSWER_PATIENCE_MS = 20_000;
const LOOK_MS = 20;
const SHOWN_CHARACTERS_MAX = 2_000;

/** How long `until` goes on, and how often it looks. */
interface Waiting {
  readonly patienceMs?: number;
  readonly everyMs?: number;
}

/** Returns the first value of `look` for which `holds` is true; throws `description` and the last value where patience ends. What `look` throws ends it at once. */
export async function until<T>(
  description: string,
  look: () => T | Promise<T>,
  holds: (value: T) => boolean = (value) => value !== undefined && value !== false,
  { patienceMs = ANSWER_PATIENCE_MS, everyMs = LOOK_MS }: Waiting = {},
): Promise<T> {
  for (const deadlineMs = performance.now() + patienceMs; ; await pause(everyMs)) {
    const value = await look();
    if (holds(value)) return value;
    if (performance.now() > deadlineMs) throw new Error(`${description}: not within ${patienceMs} ms; last: ${shown(value)}`);
  }
}

function shown(value: unknown): string {
  const text = typeof value === "string" ? value : inspect(value, { depth: 6, breakLength: Number.POSITIVE_INFINITY });
  return text.length > SHOWN_CHARACTERS_MAX ? `...${text.slice(-SHOWN_CHARACTERS_MAX)}` : text;
}
