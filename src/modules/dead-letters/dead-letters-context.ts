// What the handlers of dead letters use.
import type { Using } from "../queries/query-context.ts";
import type { DeadLetterBook } from "./dead-letter-book.ts";
import type { ReplayBook } from "./replay-book.ts";

export interface DeadLetterBooks {
  readonly deadLetters: DeadLetterBook;
  readonly replays: ReplayBook;
}

export type DeadLettersContext = Using<"edit" | "nowMs" | "options" | "yieldToLoop", DeadLetterBooks>;
