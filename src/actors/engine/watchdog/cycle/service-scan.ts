// One pass over all services of an engine, in slices between bodies: each slice takes about as long as a body does. Services are visited in the order in
// which the index has them; those that come meanwhile are in this scan or in the next.
import type { ServiceIndex } from "../../streams/service-index.ts";

/** Work of a pass on one service. Visits of a cycle follow each other; `begin` comes before the first, `end` after the last. */
export interface ServiceVisitor {
  begin(nowMs: number): void;
  /**
   * Works on the service's streams from `first` on for as long as it likes to hold the engine (some 100 us), and returns the index of the first stream
   * that it has left for the next slice: `slots.length` when it is done with the service. `key` is JSON of [tenant, service].
   */
  visit(key: string, slots: readonly number[], first: number): number;
  end(): void;
}

export interface ServiceScanDependencies {
  readonly services: ServiceIndex;
  monotonicMs(): number;
}

/** Streams that are entered into the index before a slice. */
const ENTERED_PER_SLICE = 2_000;

/** The scan of one pass. */
export class ServiceScan {
  readonly #dependencies: ServiceScanDependencies;
  readonly #visitor: ServiceVisitor;
  #cycle = 0;
  #rest: Iterator<[string, readonly number[]]> = [][Symbol.iterator]();
  #service: readonly [key: string, slots: readonly number[]] | undefined;
  #next = 0;
  #visited = 0;

  constructor(visitor: ServiceVisitor, dependencies: ServiceScanDependencies) {
    this.#visitor = visitor;
    this.#dependencies = dependencies;
  }

  /** Does the next slice of about `budgetMs`; true when the cycle's scan is at its end. Another cycle's number begins anew. */
  slice(cycle: number, nowMs: number, budgetMs: number): boolean {
    const { services, monotonicMs } = this.#dependencies;
    const startMs = monotonicMs();
    services.catchUp(ENTERED_PER_SLICE);
    if (cycle !== this.#cycle) {
      this.#cycle = cycle;
      this.#rest = services.entries();
      this.#visited = 0;
      this.#visitor.begin(nowMs);
      this.#advance();
    }
    while (this.#service !== undefined && monotonicMs() - startMs < budgetMs) {
      const [key, slots] = this.#service;
      this.#next = this.#visitor.visit(key, slots, this.#next);
      if (this.#next >= slots.length) {
        this.#visited++;
        this.#advance();
      }
    }
    if (this.#service !== undefined) return false;
    this.#visitor.end();
    return true;
  }

  /** Share of the services to be visited in this scan that have been visited; 0..1. */
  get share(): number {
    return Math.min(1, this.#visited / Math.max(1, this.#dependencies.services.size));
  }

  #advance(): void {
    this.#next = 0;
    for (let step = this.#rest.next(); !step.done; step = this.#rest.next()) {
      if (step.value[1].length === 0) continue;
      this.#service = step.value;
      return;
    }
    this.#service = undefined;
  }
}
