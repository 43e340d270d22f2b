// Episodes of which the coordinator is still to be told. A body may bring a thousand of them, and each takes a hundred times what its row does: a few are told at
// once, the others a little at a time, tenants in turns, and bodies that came behind have their turn in between. A stream stays as it was at its event until that
// is told (EVENT_OWED), and of a tenant all is told in order; the answer to a body leaves behind what is owed for it.
import { OWED_EPISODES_MAX, OWED_REPORTED_AT_ONCE, OWED_REPORTED_MS, OWED_WAIT_MS_MAX } from "../../../core/config/body-limits.ts";
import { EVENT_CLOSE } from "../../../core/layout/kernel-event.ts";
import type { ShardEvent } from "../../../domain/kernel/shard-events.ts";
import type { StreamRecords } from "../../../domain/kernel/stream-records.ts";
import type { Debt, UnitDebts } from "../unit/unit-debts.ts";

/** Part of their age for which news is told at a time. */
const OWED_AGE_SHARE = 100;

interface Owed {
  readonly event: ShardEvent;
  readonly debt: Debt;
}

export interface OwedEpisodesDependencies {
  readonly records: Pick<StreamRecords, "tenant" | "setOwed">;
  readonly report: (event: ShardEvent) => void;
  readonly monotonicMs: () => number;
}

export class OwedEpisodes {
  readonly #dependencies: OwedEpisodesDependencies;
  /** By tenant, the one whose turn is next first; of each in order. */
  readonly #tenants = new Map<number, Owed[]>();
  #size = 0;
  /** Since when something is owed. */
  #sinceMs = 0;
  /** Of the unit whose rows are being applied; only of these anything is owed. */
  #debts: UnitDebts | undefined;

  constructor(dependencies: OwedEpisodesDependencies) {
    this.#dependencies = dependencies;
  }

  get size(): number {
    return this.#size;
  }

  /** Has `apply` apply the rows of a unit: what they bring may be told later. */
  within(debts: UnitDebts, apply: () => void): void {
    this.#debts = debts;
    apply();
    this.#debts = undefined;
  }

  /** Tells of an event now or later, in the order of the tenant's events; `row` is where it came from, in bytes from the unit's first row. */
  take(event: ShardEvent, row: number): void {
    const tenant = this.#dependencies.records.tenant(event.slot);
    const debts = this.#debts;
    if (debts === undefined) this.reportTenant(tenant);
    const isNow = debts === undefined || (debts.events++ < OWED_REPORTED_AT_ONCE && !this.#tenants.has(tenant));
    if (isNow) this.#dependencies.report(event);
    else this.#owe(tenant, { event, debt: debts.owe(row) });
  }

  #owe(tenant: number, owed: Owed): void {
    if (this.#size >= OWED_EPISODES_MAX) this.#reportNext();
    if (this.#size++ === 0) this.#sinceMs = this.#dependencies.monotonicMs();
    // What has ended says nothing of what the stream is then.
    if (owed.event.kind !== EVENT_CLOSE) this.#dependencies.records.setOwed(owed.event.slot, true);
    const waiting = this.#tenants.get(tenant);
    if (waiting === undefined) this.#tenants.set(tenant, [owed]);
    else waiting.push(owed);
  }

  /** Tells some, more the longer they have waited; true while some are left. */
  reportSome(): boolean {
    if (this.#size === 0) return false;
    const { monotonicMs } = this.#dependencies;
    const startMs = monotonicMs();
    const ageMs = startMs - this.#sinceMs;
    const untilMs = ageMs > OWED_WAIT_MS_MAX ? Number.POSITIVE_INFINITY : startMs + Math.max(OWED_REPORTED_MS, ageMs / OWED_AGE_SHARE);
    do this.#reportNext();
    while (this.#size > 0 && monotonicMs() < untilMs);
    return this.#size > 0;
  }

  reportAll(): void {
    while (this.#size > 0) this.#reportNext();
  }

  reportTenant(tenant: number): void {
    while (this.#tenants.has(tenant)) this.#reportOf(tenant);
  }

  #reportNext(): void {
    const tenant = this.#tenants.keys().next().value as number;
    this.#reportOf(tenant);
    const waiting = this.#tenants.get(tenant);
    if (waiting === undefined || this.#tenants.size === 1) return;
    this.#tenants.delete(tenant);
    this.#tenants.set(tenant, waiting);
  }

  #reportOf(tenant: number): void {
    const waiting = this.#tenants.get(tenant) as Owed[];
    const { event, debt } = waiting.shift() as Owed;
    if (waiting.length === 0) this.#tenants.delete(tenant);
    this.#size--;
    this.#dependencies.records.setOwed(event.slot, false);
    this.#dependencies.report(event);
    debt.left--;
  }
}
