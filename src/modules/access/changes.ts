// Changes of the configuration: each has its turn alone, and is stored together with its row in the audit log before its answer leaves.
import type { KeyValueStore, StoreOperation } from "../../adapters/storage/key-value-store.ts";
import type { Outcome, Refusal } from "../../api/refusal.ts";
import { critical } from "../../core/faults/guard.ts";
import type { AccessChange } from "../../core/protocol/access.ts";
import type { CoordinatorMessage } from "../../core/protocol/query.ts";
import type { ChangeRequest } from "../queries/query-context.ts";
import type { RowCounts } from "../state/row-counts.ts";
import { mapInSlices, type Pause, Slices } from "../state/slices.ts";
import { auditRow, type ChangeNote, type ChangeOrigin } from "./audit-log.ts";

/** A change that may be made: what to store, what to say of it, and what to do once it is stored. */
export interface Change<T> {
  readonly ok: true;
  /** Row of the audit log, or one for each of several changes; null where another transaction of the same request has it. */
  readonly note: ChangeNote | readonly ChangeNote[] | null;
  readonly operations: readonly StoreOperation[];
  /** Takes the change over into the books. */
  apply?(): void;
  /** What of it concerns the front. */
  readonly accessChanges?: readonly AccessChange[];
  /** What of that takes long: done behind the transaction, before the answer leaves, while queries and other changes have their turns. */
  takeOver?(pause: Pause): Promise<unknown>;
  readonly outcome: Outcome<T>;
}

/** A change, an answer where nothing has to change, or a refusal. */
type PlannedChange<T> = Change<T> | { readonly ok: "unchanged"; readonly outcome: Outcome<T> } | RefusedChange;

/** Decides when it is the change's turn; one of more than a few ms pauses between its steps. No other transaction begins meanwhile. */
export type ChangePlan<T> = (pause: Pause) => PlannedChange<T> | Promise<PlannedChange<T>>;

/** Members used by handlers that change something. */
export interface Changing {
  /** Changes the configuration: decided when it is its turn, stored with a row of the audit log, in force before the answer leaves. */
  change<T>(request: ChangeRequest, plan: ChangePlan<T>): Promise<Outcome<T>>;
}

/** Work of which a change is a part, with what makes the change. */
type ChangingWork<T> = (change: Changing["change"]) => Promise<T>;

/** Members used by handlers that do more than the change itself in a turn of their own. */
export interface ChangingBeside {
  /** Does work of a tenant beside others' changes; it makes its change by what it is given. */
  changeBeside<T>(tenant: string, work: ChangingWork<T>): Promise<T>;
}

/** Members used by handlers whose changes belong together. */
export interface ChangingAlone {
  /** Does work of a tenant while nobody else changes anything of it: what the work has read stays true until it writes. It makes its changes by what it is given. */
  changeAlone<T>(tenant: string, work: ChangingWork<T>): Promise<T>;
}

interface RefusedChange {
  readonly ok: false;
  readonly refusal: Refusal;
}

export interface ChangesDependencies {
  readonly store: KeyValueStore;
  readonly audit: RowCounts;
  nowMs(): number;
  monotonicMs(): number;
  yieldToLoop(): Promise<void>;
  emit(message: CoordinatorMessage): void;
  /** Gives work its turn between transactions. */
  edit<T>(work: () => Promise<T>): Promise<T>;
}

/** Makes changes. */
export class Changes {
  readonly #dependencies: ChangesDependencies;
  /** By tenant: the end of work that is done alone, and work that is under way beside others'. */
  readonly #alone = new Map<string, Promise<unknown>>();
  readonly #beside = new Map<string, Set<Promise<unknown>>>();
  #sequence = 0;

  constructor(dependencies: ChangesDependencies) {
    this.#dependencies = dependencies;
  }

  /** Makes one change; rejects with StoreError where the store does not take it, and then nothing has changed. */
  async make<T>(origin: ChangeOrigin, plan: ChangePlan<T>): Promise<Outcome<T>> {
    return this.beside(origin.principal.tenant, (change) => change(origin, plan));
  }

  /** Does work of a tenant that makes changes, once no work is done alone. Rejects as the work does. */
  async beside<T>(tenant: string, work: ChangingWork<T>): Promise<T> {
    for (let ended = this.#alone.get(tenant); ended !== undefined; ended = this.#alone.get(tenant)) await ended;
    const working = work((origin, plan) => this.#make(origin, plan));
    const others = this.#beside.get(tenant) ?? new Set();
    this.#beside.set(tenant, others.add(working));
    try {
      return await working;
    } finally {
      others.delete(working);
      if (others.size === 0) this.#beside.delete(tenant);
    }
  }

  /** Does work of a tenant once what is under way has ended; what comes meanwhile waits. Rejects as the work does. */
  async alone<T>(tenant: string, work: ChangingWork<T>): Promise<T> {
    for (let ended = this.#alone.get(tenant); ended !== undefined; ended = this.#alone.get(tenant)) await ended;
    const before = Promise.allSettled(this.#beside.get(tenant) ?? []);
    const working = before.then(() => work((origin, plan) => this.#make(origin, plan))).finally(() => this.#alone.delete(tenant));
    this.#alone.set(tenant, Promise.allSettled([working]));
    return working;
  }

  async #make<T>(origin: ChangeOrigin, plan: ChangePlan<T>): Promise<Outcome<T>> {
    const { store, audit, nowMs, monotonicMs, yieldToLoop, emit, edit } = this.#dependencies;
    const { pause } = new Slices({ monotonicMs, resume: yieldToLoop });
    let takeOver: Change<T>["takeOver"];
    const outcome = await edit(async () => {
      const change = await plan(pause);
      if (change.ok === false) return change;
      if (change.ok === "unchanged") return change.outcome;
      const { tenant } = origin.principal;
      const { operations, note } = change;
      const notes = note === null ? [] : Array.isArray(note) ? (note as readonly ChangeNote[]) : [note as ChangeNote];
      if (notes.length === 0) await store.commit(operations);
      else {
        const rows = await mapInSlices(notes, (one) => auditRow(one, origin, nowMs(), this.#sequence++), pause);
        await store.commit([...operations, ...rows, audit.operation(tenant, rows.length)]);
        audit.add(tenant, rows.length);
      }
      critical("a change of the configuration", () => change.apply?.());
      if (change.accessChanges !== undefined) emit({ type: "access", changes: change.accessChanges });
      takeOver = (slices) => change.takeOver?.(slices) ?? Promise.resolve();
      return change.outcome;
    });
    await takeOver?.(pause);
    return outcome;
  }
}
