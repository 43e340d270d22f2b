// What the coordinator folds of dead letters.
import type { NounModule } from "../state/noun-module.ts";
import { expireDeadLetters } from "./dead-letter-expiry.ts";
import { correctDeadLetter, deleteDeadLetter, listDeadLetters, oneDeadLetter } from "./dead-letter-handlers.ts";
import { dlqStats } from "./dead-letter-stats-handler.ts";
import { replayDeadLetters, replayJob } from "./replay-handlers.ts";

export const DEAD_LETTERS = {
  tables: {
    control: {
      dead_letters: { key: "tenant, received time, id", value: "DeadLetterEnvelope" },
      dead_letter_ends: { key: "tenant, received time, id", value: "u8: how a letter that is gone ended, END_REPLAYED or END_DELETED" },
      replay_jobs: { key: "tenant, created time, id", value: "ReplayJob" },
      counters: { key: "kind, tenant", value: "DeadLetterCounts" },
    },
  },
  expire: expireDeadLetters,
  handlers: {
    dlqStats,
    deadLetters: listDeadLetters,
    deadLetter: oneDeadLetter,
    correctDeadLetter,
    deleteDeadLetter,
    replayDeadLetters,
    replayJob,
  },
  afterCommit: ["dlqStats", "deadLetters", "deadLetter", "correctDeadLetter", "deleteDeadLetter", "replayDeadLetters", "replayJob"],
} as const satisfies NounModule;
