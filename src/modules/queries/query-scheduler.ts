// The coordinator's time between tenants that ask. A query works in slices: between two of them it waits for engines, a commit, or others' turns. The next slice is
// that of the tenant which has had least time (start-time fair queuing, Goyal 1996), by what its slices took; within a tenant the oldest query goes on first, and
// those that take long whoever else asks (an import, a backtest) after the others. So one that asks much delays another by one slice. A query that is alone goes on at once: time that nobody else wants is not counted.
import { QUERY_WAIT_MS_MAX } from "../../core/config/limits.ts";
import { background, fatal } from "../../core/faults/guard.ts";

export interface QuerySchedulerDependencies {
  monotonicMs(): number;
  /** Resolves after a turn of the event loop; two that are asked for at once resolve one after the other, with nothing but what the first began between them. */
  yieldToLoop(): Promise<void>;
}

/** A query has waited for its turns for too long: its tenant asks for more than its share. */
export class ShareOfTimeError extends Error {
  constructor() {
    super("the tenant's share of the time for queries is used up");
    this.name = "ShareOfTimeError";
  }
}

/** A query on its way. */
export interface QueryTicket {
  readonly tenant: string;
  readonly number: number;
  /** False: it is bounded otherwise. */
  readonly isHurried: boolean;
  /** For turns, while others had theirs. */
  waitedMs: number;
}

interface Waiter {
  readonly ticket: QueryTicket;
  readonly sinceMs: number;
  readonly go: () => void;
  readonly refuse: (error: Error) => void;
}

/** The least that a slice counts for: a clock may not see it. */
const SLICE_MS_MIN = 0.01;

export class QueryScheduler {
  readonly #dependencies: QuerySchedulerDependencies;
  readonly #waiters = new Map<string, Waiter[]>();
  /** Queries under way, by tenant, and of all. */
  readonly #active = new Map<string, number>();
  #underWay = 0;
  /** Time that each tenant under way has had, in ms of the fair clock. */
  readonly #served = new Map<string, number>();
  /** The fair clock: that of the tenant which was served last. */
  #fairMs = 0;
  #tickets = 0;
  #isServing = false;

  constructor(dependencies: QuerySchedulerDependencies) {
    this.#dependencies = dependencies;
  }

  begin(tenant: string, isHurried = true): QueryTicket {
    this.#underWay++;
    const before = this.#active.get(tenant) ?? 0;
    this.#active.set(tenant, before + 1);
    if (before === 0) this.#served.set(tenant, this.#fairMs);
    return { tenant, number: this.#tickets++, isHurried, waitedMs: 0 };
  }

  end({ tenant }: QueryTicket): void {
    this.#underWay--;
    const left = (this.#active.get(tenant) ?? 0) - 1;
    if (left > 0) this.#active.set(tenant, left);
    else {
      this.#active.delete(tenant);
      this.#served.delete(tenant);
    }
  }

  /** Resolves when the query may go on; `yields` lets others of the thread go first even where nobody else asks. Rejects with ShareOfTimeError. */
  resume(ticket: QueryTicket, yields: boolean): Promise<void> {
    if (this.#underWay <= 1 && !this.#isServing) return yields ? this.#dependencies.yieldToLoop() : Promise.resolve();
    return new Promise((go, refuse) => {
      const waiters = this.#waiters.get(ticket.tenant) ?? [];
      this.#waiters.set(ticket.tenant, waiters);
      waiters.push({ ticket, sinceMs: this.#dependencies.monotonicMs(), go, refuse });
      if (!this.#isServing) background(fatal("the turns of queries"), this.#serve());
    });
  }

  async #serve(): Promise<void> {
    this.#isServing = true;
    const { yieldToLoop, monotonicMs } = this.#dependencies;
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const { ticket, go, refuse, sinceMs } = next;
      const [begin, end] = [yieldToLoop(), yieldToLoop()];
      await begin;
      const startMs = monotonicMs();
      ticket.waitedMs += startMs - sinceMs;
      if (ticket.isHurried && ticket.waitedMs > QUERY_WAIT_MS_MAX) refuse(new ShareOfTimeError());
      else go();
      await end;
      this.#charge(ticket.tenant, Math.max(SLICE_MS_MIN, monotonicMs() - startMs));
    }
    this.#isServing = false;
  }

  /** The oldest query, hurried ones first, of the tenant that has had least. */
  #next(): Waiter | undefined {
    let least: string | undefined;
    for (const tenant of this.#waiters.keys()) if (least === undefined || this.#had(tenant) < this.#had(least)) least = tenant;
    if (least === undefined) return undefined;
    const waiters = this.#waiters.get(least) as Waiter[];
    const oldest = waiters.reduce((a, b) => (goesFirst(b.ticket, a.ticket) ? b : a));
    waiters.splice(waiters.indexOf(oldest), 1);
    if (waiters.length === 0) this.#waiters.delete(least);
    this.#fairMs = Math.max(this.#fairMs, this.#had(least));
    return oldest;
  }

  #had(tenant: string): number {
    return this.#served.get(tenant) ?? this.#fairMs;
  }

  /** A tenant whose last query ended within the slice is forgotten: it begins where the others are. */
  #charge(tenant: string, ms: number): void {
    if (this.#served.has(tenant)) this.#served.set(tenant, this.#had(tenant) + ms);
  }
}

function goesFirst(a: QueryTicket, b: QueryTicket): boolean {
  return a.isHurried === b.isHurried ? a.number < b.number : a.isHurried;
}
