// Changes of the configuration: each has its turn alone, and is stored together with its row in the audit log before its answer leaves.
import type { KeyValueStore, StoreOperation } from "../../adapters/storage/key-value-store.ts";
import type { Outcome, Refusal } from "../../api/refusal.ts";
import { critical } from "../../core/faults/guard.ts";
import type { AccessChange } from "../../core/protocol/access.ts";
import type { CoordinatorMessage } from "../../core/protocol/query.ts";
import type { ChangeRequest } from "../queries/query-context.ts";
import { mapInSlices, type Pause, Slices } from "../state/slices.ts";
import type { AuditBook } from "./audit-book.ts";
import { auditRow, type ChangeNote, type ChangeOrigin } from "./audit-log.ts";

/** A change that may be made: what to store, what to say of it, and what to do once it is stored. */
export interface Change<T> {
  readonly ok: true;
  /** Row of the audit log, or one for each of several changes; null where another transaction of the same request has it. */
  readonly note: ChangeNote | readonly ChangeNote[] | null;
  readonly operations: readonly StoreOperation[];
  /** Takes the change over into the books; tells what of it concerns the front. */
  apply(): readonly AccessChange[];
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

interface RefusedChange {
  readonly ok: false;
  readonly refusal: Refusal;
}

export interface ChangesDependencies {
  readonly store: KeyValueStore;
  readonly audit: AuditBook;
  nowMs(): number;
  monotonicMs(): number;
  yieldTurn(): Promise<void>;
  emit(message: CoordinatorMessage): void;
  /** Gives work its turn between transactions. */
  edit<T>(work: () => Promise<T>): Promise<T>;
}

/** Makes changes. */
export class Changes {
  readonly #dependencies: ChangesDependencies;
  #sequence = 0;

  constructor(dependencies: ChangesDependencies) {
    this.#dependencies = dependencies;
  }

  /** Makes one change; rejects with StoreError where the store does not take it, and then nothing has changed. */
  async make<T>(origin: ChangeOrigin, plan: ChangePlan<T>): Promise<Outcome<T>> {
    const { store, audit, nowMs, monotonicMs, yieldTurn, emit, edit } = this.#dependencies;
    const { pause } = new Slices({ monotonicMs, turn: yieldTurn });
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
      const changes = critical("a change of the configuration", () => change.apply());
      if (changes.length > 0) emit({ type: "access", changes });
      takeOver = (slices) => change.takeOver?.(slices) ?? Promise.resolve();
      return change.outcome;
    });
    await takeOver?.(pause);
    return outcome;
  }
}
