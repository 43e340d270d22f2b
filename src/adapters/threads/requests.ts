// Questions of an actor to another that wait for their answers.
import { after, task } from "../../core/faults/guard.ts";

const LATE = task("an answer that has not come");

/** Message with a number: what belongs together has the same one. */
interface Numbered {
  readonly id: number;
}

/** Callbacks of a question: exactly one of the two is called, unless all are dropped first. */
interface Outcome<Answer> {
  answered(answer: Answer): void;
  /** No answer has come in the time that it had. */
  late(ms: number): void;
}

/** Requests: those under way, by number, each with its time. How many may be is for whoever asks. */
export class Requests<Answer extends Numbered> {
  readonly #waiting = new Map<number, { readonly outcome: Outcome<Answer>; readonly timer: NodeJS.Timeout }>();

  #last = 0;

  get size(): number {
    return this.#waiting.size;
  }

  /** Returns a number that no question before has had. */
  next(): number {
    return ++this.#last;
  }

  /** Sends a question by a number of its own; resolves with its answer, or undefined where none has come in `ms`. */
  ask(ms: number, send: (id: number) => void): Promise<Answer | undefined> {
    const id = this.next();
    return new Promise((resolve) => {
      this.add(id, ms, { answered: resolve, late: () => resolve(undefined) });
      send(id);
    });
  }

  /** Waits `ms` for the answer with a number that no other waits for. To be called before the question is sent. */
  add(id: number, ms: number, outcome: Outcome<Answer>): void {
    if (this.#waiting.has(id)) throw new Error(`request ${id} is under way already: numbers are given once`);
    const timer = after(ms, LATE, () => {
      this.#waiting.delete(id);
      outcome.late(ms);
    });
    this.#waiting.set(id, { outcome, timer });
  }

  /** Gives an answer to whoever waits; false where nobody does any more. */
  settle(answer: Answer): boolean {
    const waiting = this.#waiting.get(answer.id);
    if (waiting === undefined) return false;
    this.#waiting.delete(answer.id);
    clearTimeout(waiting.timer);
    waiting.outcome.answered(answer);
    return true;
  }

  /** The other side has ended: nothing is answered any more, and nobody is told. */
  drop(): void {
    for (const { timer } of this.#waiting.values()) clearTimeout(timer);
    this.#waiting.clear();
  }
}
