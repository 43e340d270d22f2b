// What main tells an engine: tenants, and to stop.
import { dispatch, type Handlers } from "../../adapters/threads/mailbox.ts";
import type { EngineCommand } from "../../core/protocol/engine-control.ts";
import { KnownTenants } from "../../domain/access/known-tenants.ts";

/** Commands of one engine, and what is known by them. */
export class EngineCommands {
  readonly tenants: KnownTenants;
  readonly #take: () => EngineCommand | undefined;
  #isStopAsked = false;
  readonly #handlers: Handlers<EngineCommand> = {
    tenant: ({ index, name }) => this.tenants.learn(index, name),
    stop: () => {
      this.#isStopAsked = true;
    },
  };

  /** `names` are those of the tenants that are known at the start, by number. */
  constructor(names: readonly string[], take: () => EngineCommand | undefined) {
    this.#take = take;
    this.tenants = new KnownTenants(names, () => this.takeAll());
  }

  get isStopAsked(): boolean {
    return this.#isStopAsked;
  }

  /** Takes all that have come; true when there were any. */
  takeAll(): boolean {
    let any = false;
    for (let command = this.#take(); command !== undefined; command = this.#take()) {
      any = true;
      dispatch(this.#handlers, command);
    }
    return any;
  }
}
