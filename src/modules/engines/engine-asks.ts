// Questions of queries to engines: of each tenant one at a time to each engine, whose queue therefore holds one of everybody at most. An engine takes questions in
// their order between bodies, so a tenant with a hundred queries delays the question of another by one of its own.
import { background, task } from "../../core/faults/guard.ts";

export class EngineAsks {
  /** The last question by engine and tenant, while one is under way. */
  readonly #last = new Map<string, Promise<unknown>>();

  /** Asks once the tenant's questions before have been answered, or have failed. */
  one<T>(engine: number, tenant: string, ask: () => Promise<T>): Promise<T> {
    const key = `${engine} ${tenant}`;
    const before = this.#last.get(key);
    const mine = before === undefined ? ask() : before.then(ask, ask);
    this.#last.set(key, mine);
    const ended = () => {
      if (this.#last.get(key) === mine) this.#last.delete(key);
    };
    background(task("the turns of questions to engines"), mine.then(ended, ended));
    return mine;
  }
}
