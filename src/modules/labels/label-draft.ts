// Labels that one change or one transaction sets and removes, over the committed ones.

import type { StoreOperation } from "../../adapters/storage/key-value-store.ts";
import { LABEL_CHANGES_PER_HOUR_MAX, LABELS_PER_SERVICE_MAX, LABELS_PER_TENANT_MAX } from "../../core/config/declaration-limits.ts";
import { ShareDraft } from "../../core/fairness/share-ledger.ts";
import type { ServiceLabelsEnvelope } from "../../core/protocol/coordinator-frame.ts";
import { HOUR_MS } from "../../core/time/durations.ts";
import { ROUTING_KEYS } from "../../domain/labels/service-label.ts";
import { isName } from "../../domain/series/name-rule.ts";
import { type LabelBook, type LabelScope, labelBytes, labelOperation, type ServiceLabel } from "./label-book.ts";

/** Outcome for a label: `full` names the bound that has no room for it. */
export type LabelOutcome = "set" | "unchanged" | "held" | { readonly full: string };

/** A label that is set, or removed where it is undefined. */
export interface LabelChange {
  readonly scope: LabelScope;
  readonly label: ServiceLabel | undefined;
}

export function operationOf({ scope, label }: LabelChange): StoreOperation {
  return labelOperation(scope, label);
}

export class LabelDraft {
  readonly #book: LabelBook;
  readonly #changed = new Map<string, LabelChange>();
  readonly #shares: { readonly rows: ShareDraft; readonly bytes: ShareDraft };
  /** Rows beyond those of the book, by tenant and by service. */
  readonly #rowsOf = new Map<string, number>();
  /** Labels that found no room, or were held. */
  refused = 0;

  constructor(book: LabelBook) {
    this.#book = book;
    this.#shares = { rows: new ShareDraft(book.shares.rows), bytes: new ShareDraft(book.shares.bytes) };
  }

  /** Sets a label of a catalog or by hand. */
  set(label: ServiceLabel): LabelOutcome {
    const before = this.find(label);
    if (before?.value === label.value) return "unchanged";
    const full = this.#fullness(label, before);
    if (full !== undefined) {
      this.refused++;
      return { full };
    }
    this.#put(label, label, before);
    return "set";
  }

  remove(scope: LabelScope): void {
    const before = this.find(scope);
    if (before !== undefined) this.#put(scope, undefined, before);
  }

  /** Takes what telemetry says of a service. Sources that contradict each other change a label LABEL_CHANGES_PER_HOUR_MAX times an hour at most. */
  takeTelemetry({ tenant, serviceId, labels }: ServiceLabelsEnvelope, nowMs: number): void {
    if (!isName(serviceId)) return;
    for (const key of ROUTING_KEYS) {
      const value = labels[key];
      if (value === undefined) continue;
      const scope = { tenant, serviceId, key, source: "telemetry" } as const;
      const before = this.find(scope);
      const isFresh = before === undefined || nowMs - (before.heldSinceMs ?? 0) >= HOUR_MS;
      const changes = before === undefined ? 0 : isFresh ? 1 : (before.changes ?? 0) + 1;
      if (before?.value === value) continue;
      if (changes > LABEL_CHANGES_PER_HOUR_MAX) this.refused++;
      else this.set({ ...scope, value, updatedMs: nowMs, changes, heldSinceMs: isFresh ? nowMs : (before?.heldSinceMs ?? nowMs) });
    }
  }

  find(scope: LabelScope): ServiceLabel | undefined {
    const changed = this.#changed.get(textOf(scope));
    return changed === undefined ? this.#book.find(scope) : changed.label;
  }

  /** What has changed, to be stored by `operationOf` and taken over by `take`, one after another. */
  get changes(): Iterable<LabelChange> {
    return this.#changed.values();
  }

  operations(): StoreOperation[] {
    return [...this.#changed.values()].map(operationOf);
  }

  apply(): void {
    for (const change of this.#changed.values()) this.take(change);
  }

  take({ scope, label }: LabelChange): void {
    this.#book.put(scope, label);
  }

  #put(scope: LabelScope, label: ServiceLabel | undefined, before: ServiceLabel | undefined): void {
    const rows = (label === undefined ? 0 : 1) - (before === undefined ? 0 : 1);
    this.#changed.set(textOf(scope), { scope, label });
    this.#shares.rows.add(scope.tenant, rows);
    this.#count(scope.tenant, rows);
    this.#count(serviceText(scope), rows);
    const bytes = (label === undefined ? 0 : labelBytes(label)) - (before === undefined ? 0 : labelBytes(before));
    this.#shares.bytes.add(scope.tenant, bytes);
  }

  #count(what: string, rows: number): void {
    this.#rowsOf.set(what, (this.#rowsOf.get(what) ?? 0) + rows);
  }

  #fullness(label: ServiceLabel, before: ServiceLabel | undefined): string | undefined {
    const { tenant, serviceId } = label;
    const bytes = labelBytes(label) - (before === undefined ? 0 : labelBytes(before));
    if (bytes > 0 && this.#shares.bytes.available(tenant) < bytes) {
      this.#book.shares.bytes.refuse(tenant, bytes);
      return `labels take ${this.#book.shares.bytes.taken} bytes together, as many as they may`;
    }
    if (before !== undefined) return undefined;
    if (this.#book.of(tenant, serviceId).length + (this.#rowsOf.get(serviceText(label)) ?? 0) >= LABELS_PER_SERVICE_MAX)
      return `the service has ${LABELS_PER_SERVICE_MAX} labels, as many as it may`;
    if (this.#book.sizeOf(tenant) + (this.#rowsOf.get(tenant) ?? 0) >= LABELS_PER_TENANT_MAX)
      return `the tenant has ${LABELS_PER_TENANT_MAX} labels, as many as it may`;
    if (this.#shares.rows.available(tenant) >= 1) return undefined;
    this.#book.shares.rows.refuse(tenant);
    return `there are ${this.#book.size} labels, as many as there may be`;
  }
}

const serviceText = ({ tenant, serviceId }: LabelScope) => JSON.stringify([tenant, serviceId]);
const textOf = ({ tenant, serviceId, key, source }: LabelScope) => JSON.stringify([tenant, serviceId, key, source]);
