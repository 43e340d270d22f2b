// Silences and maintenance windows as they are stored, and what they hold back now.
// Matchers of labels as they are stored, in silences and in inhibition rules.
import type { KeyValueStore, StoreOperation } from "../../adapters/storage/key-value-store.ts";
import { ShareLedger } from "../../core/fairness/share-ledger.ts";
import type { Hold } from "../../domain/alerting/hold.ts";
import type { LabelMatcher, Labels } from "../../domain/alerting/label-matcher.ts";
import type { RecurringWindow } from "../../domain/alerting/maintenance-window.ts";
import type { ActiveSilences } from "../../domain/alerting/paging/paging-sources.ts";
import type { PatternCache } from "../../domain/alerting/pattern/pattern-cache.ts";
import { type Silence, silenceState } from "../../domain/alerting/silence.ts";
import { SilenceIndex } from "../../domain/alerting/silence-index.ts";
import { KeyBuilder } from "../../domain/codec/key.ts";
import { scan } from "../state/scan.ts";
import { either, list, nullable, number, object, oneOf, StoredForm, text } from "../state/stored-json.ts";
import { idBytes } from "../state/tables.ts";

export const MATCHERS = list(object<LabelMatcher>({ name: text, operator: oneOf(["=", "!=", "=~", "!~"]), value: text }));

/** A silence with who made it. */
export interface StoredSilence extends Silence {
  readonly createdBy: string;
  readonly createdMs: number;
}

const ONCE = object<Extract<Silence["when"], { kind: "once" }>>({ kind: oneOf(["once"]), startsAtMs: number, endsAtMs: number });
const RECURRING = object<Extract<Silence["when"], { kind: "recurring" }>>({
  kind: oneOf(["recurring"]),
  window: object<RecurringWindow>({
    timeZone: text,
    weekdays: list(number),
    startMinute: number,
    durationMinutes: number,
    fromMs: nullable(number),
    untilMs: nullable(number),
  }),
});
const SILENCE = new StoredForm<StoredSilence>("silences", {
  id: text,
  tenant: text,
  matchers: MATCHERS,
  when: either(ONCE, RECURRING),
  comment: text,
  createdBy: text,
  createdMs: number,
});

/** An expired silence is listed for so long, as Alertmanager's. */
const EXPIRED_RETAINED_MS = 5 * 24 * 3600 * 1000;

/** A change of one silence. */
export function silenceOperation({ tenant, id }: Pick<StoredSilence, "tenant" | "id">, silence: StoredSilence | undefined): StoreOperation {
  return { table: "silences", key: new KeyBuilder().text(tenant).fixed(idBytes(id)).finish(), value: silence && SILENCE.encode(silence) };
}

/** The committed silences of all tenants. */
export class SilenceBook implements ActiveSilences {
  readonly #patterns: PatternCache;
  /** Who holds how many. */
  readonly shares: ShareLedger;
  readonly #tenants = new Map<string, SilenceIndex<StoredSilence>>();

  constructor(patterns: PatternCache, shares = ShareLedger.alone()) {
    this.#patterns = patterns;
    this.shares = shares;
  }

  load(store: KeyValueStore): void {
    for (const { value } of scan(store, "silences")) this.put(SILENCE.decode(value));
  }

  /** Number of silences of all tenants. */
  get size(): number {
    return this.shares.taken;
  }

  tenants(): IterableIterator<string> {
    return this.#tenants.keys();
  }

  put(silence: StoredSilence): void {
    const silences = this.#tenants.get(silence.tenant) ?? new SilenceIndex<StoredSilence>(this.#patterns);
    this.#tenants.set(silence.tenant, silences);
    if (silences.get(silence.id) === undefined) this.shares.add(silence.tenant);
    silences.put(silence);
  }

  /** Keeps a silence in the list, but asks it no more. */
  withhold(tenant: string, id: string): void {
    this.#tenants.get(tenant)?.withhold(id);
  }

  remove(tenant: string, id: string): void {
    const silences = this.#tenants.get(tenant);
    if (silences?.remove(id) !== true) return;
    this.shares.give(tenant);
    if (silences.size === 0) this.#tenants.delete(tenant);
  }

  find(tenant: string, id: string): StoredSilence | undefined {
    return this.#tenants.get(tenant)?.get(id);
  }

  /** All of a tenant, the newest first. */
  listOf(tenant: string): StoredSilence[] {
    return [...(this.#tenants.get(tenant)?.values() ?? [])].sort((a, b) => b.createdMs - a.createdMs || (a.id < b.id ? -1 : 1));
  }

  /** Those that have been expired for so long that nobody lists them any more. */
  pastOf(tenant: string, nowMs: number): StoredSilence[] {
    return this.listOf(tenant).filter((silence) => silenceState(silence, nowMs - EXPIRED_RETAINED_MS) === "expired");
  }

  silenced(tenant: string, labels: Labels, nowMs: number): Hold | undefined {
    const found = this.#tenants.get(tenant)?.find(labels, nowMs);
    return found === undefined ? undefined : { id: found.id, comment: found.comment };
  }
}
