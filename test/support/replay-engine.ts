// Stands for the engine of a replay over a coordinator rig: takes batches, notes what has entered, and sends the word that letters have ended.
import { type DeadLettersEnded, FRAME_DEAD_LETTER } from "../../src/core/protocol/coordinator-frame.ts";
import type { CoordinatorMessage, ReplayBatch } from "../../src/core/protocol/query.ts";
import type { Rig } from "./coordinator-rig.ts";

type Letter = readonly [receivedMs: number, id: string, payload: unknown];

/** What an engine may do with a batch. */
export type ReplayBehaviour = "take" | "busy" | "crash before the answer" | "crash before the log";

/** One engine. */
export class ReplayEngine {
  readonly #rig: Rig;
  #seen = 0;
  /** Payloads that have entered, in order, and how many batches came. */
  readonly entered: unknown[] = [];
  readonly histories: boolean[] = [];

  constructor(rig: Rig) {
    this.#rig = rig;
    rig.coordinator.markEnginesReady();
  }

  /** Answers every batch until no more comes; false when a behaviour ended it. `refuses` says which payloads the engine refuses. */
  async run(behaviours: Iterator<ReplayBehaviour> = [].values(), refuses: (payload: unknown) => boolean = () => false): Promise<boolean> {
    for (let idle = 0; idle < 3; ) {
      await this.#rig.drain();
      const batch = this.#next();
      if (batch === undefined) {
        idle++;
        this.#rig.monotonicMs += 10_000;
        continue;
      }
      idle = 0;
      const { value = "take" } = behaviours.next() as { value?: ReplayBehaviour };
      if (value === "crash before the log") return false;
      if (value === "busy") await this.#answer(batch, 503, null);
      else if (!(await this.#take(batch, value === "take", refuses))) return false;
    }
    return true;
  }

  #next(): ReplayBatch | undefined {
    const batches = this.#rig.messages.filter((message: CoordinatorMessage): message is ReplayBatch => message.type === "replay-batch");
    const batch = batches[this.#seen];
    if (batch !== undefined) this.#seen++;
    return batch;
  }

  async #take(batch: ReplayBatch, answers: boolean, refuses: (payload: unknown) => boolean): Promise<boolean> {
    const { job, letters } = JSON.parse(Buffer.from(batch.body).toString()) as { job: string; letters: Letter[] };
    const failures = letters.flatMap(([, , payload], index) => (refuses(payload) ? [{ index, reason: "series_limit_exceeded" }] : []));
    const taken = letters.filter(([, , payload]) => !refuses(payload));
    this.entered.push(...taken.map(([, , payload]) => payload));
    this.histories.push(...taken.map(() => batch.isHistory));
    const ended: DeadLettersEnded = { ended: { tenant: batch.tenant, job, letters: taken.map(([ms, id]) => [ms, id] as const) } };
    if (taken.length > 0)
      this.#rig.engines[0]?.frames.push({ kind: FRAME_DEAD_LETTER, payload: new TextEncoder().encode(JSON.stringify(ended)) });
    if (answers) await this.#answer(batch, 200, JSON.stringify({ replayed: taken.length, failures }));
    return answers;
  }

  async #answer({ batch }: ReplayBatch, status: number, body: string | null): Promise<void> {
    await this.#rig.coordinator.handle({ type: "replay-answer", batch, status, body });
  }
}
