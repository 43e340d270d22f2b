// Deletes what is past its time or over its bytes, a few hundred rows a step, so that commits of verdicts never wait long behind it.
// A round visits every table once; the next begins RETENTION_INTERVAL_MS later.
import type { KeyValueStore, StoreEntry, StoreOperation } from "../../adapters/storage/key-value-store.ts";
import { PARTITIONS } from "../../core/layout/memory-map.ts";
import { KeyReader } from "../../domain/codec/key.ts";
import type { CommittedState } from "./committed-state.ts";
import type { CoordinatorCounters } from "./coordinator-counters.ts";
import { DeadLetterDraft } from "./dead-letter-draft.ts";
import { decodeSpan } from "./tables/block-rows.ts";
import { scanTenants } from "./tables/scan.ts";
import { ID_BYTES, partitionKey, TABLE_START, tenantTimeBound, tenantTimeKey } from "./tables/tables.ts";
import { episodeTimeKey } from "./verdict-draft.ts";

/** How long and how much is kept. */
export interface RetentionOptions {
  /** Anomalies, episodes and records. */
  readonly retentionMs: number;
  readonly rawRetentionMs: number;
  readonly deadLetterAgeMs: number;
  readonly deadLetterBytesMax: number;
  readonly episodesMax: number;
  readonly intervalMs: number;
  readonly rowsPerStep: number;
}

/** What retention works on. */
export interface RetentionDependencies {
  readonly state: CommittedState;
  readonly counters: CoordinatorCounters;
}

/** A step's rows: where they are deleted, and what follows. */
interface Deletion {
  readonly store: KeyValueStore;
  readonly operations: readonly StoreOperation[];
  readonly apply: () => void;
}

const nothing = () => undefined;

/** The rounds. */
export class Retention {
  readonly #options: RetentionOptions;
  readonly #dependencies: RetentionDependencies;
  #round: Generator<Deletion> | undefined;
  #dueMs = 0;

  constructor(options: RetentionOptions, dependencies: RetentionDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  /** Monotonic time at which `step` has something to do. */
  get dueMs(): number {
    return this.#dueMs;
  }

  /** Deletes the rows of one step; true when the round goes on. Rejects with StoreError: the round then begins anew with the next call. */
  async step(wallNowMs: number, monotonicMs: number): Promise<boolean> {
    if (monotonicMs < this.#dueMs) return false;
    const round = this.#round ?? this.#deletions(wallNowMs);
    this.#round = undefined;
    const drawn = round.next();
    if (drawn.done) {
      this.#dueMs = monotonicMs + this.#options.intervalMs;
      return false;
    }
    await drawn.value.store.commit(drawn.value.operations);
    drawn.value.apply();
    this.#round = round;
    return true;
  }

  /** Each deletion is drawn when the one before has been applied, so it sees what that has left. */
  *#deletions(wallNowMs: number): Generator<Deletion> {
    yield* this.#anomalies(wallNowMs - this.#options.retentionMs);
    yield* this.#episodes(wallNowMs - this.#options.retentionMs);
    yield* this.#oldLetters(wallNowMs - this.#options.deadLetterAgeMs);
    yield* this.#excessLetters();
    yield* this.#records(wallNowMs - this.#options.retentionMs);
    yield* this.#blocks(wallNowMs - this.#options.rawRetentionMs);
  }

  *#anomalies(beforeMs: number): Generator<Deletion> {
    const { anomalies, control } = this.#dependencies.state;
    for (const tenant of [...anomalies.tenants]) {
      for (;;) {
        const entries = anomalies.index(tenant).oldest(this.#options.rowsPerStep, beforeMs);
        if (entries.length === 0) break;
        const operations = entries.map(({ detectedAtMs, id }) => ({
          table: "anomalies",
          key: tenantTimeKey(tenant, detectedAtMs, id),
          value: undefined,
        }));
        const apply = () => {
          for (const entry of entries) anomalies.remove(tenant, entry);
          this.#dependencies.counters.set("anomaliesOpen", anomalies.openCount);
        };
        yield { store: control, operations, apply };
      }
    }
  }

  /** Forgets episodes by age, and the oldest beyond the maximum whatever their age. */
  *#episodes(beforeMs: number): Generator<Deletion> {
    const { anomalies, control } = this.#dependencies.state;
    const old = episodeTimeKey(beforeMs, new Uint8Array(0));
    for (;;) {
      const excess = anomalies.episodeCount - this.#options.episodesMax;
      const to = excess > 0 ? episodeTimeKey(Number.POSITIVE_INFINITY, new Uint8Array(0)) : old;
      const limit = excess > 0 ? Math.min(excess, this.#options.rowsPerStep) : this.#options.rowsPerStep;
      const entries = control.range("episode_times", { from: TABLE_START, to, limit });
      if (entries.length === 0) return;
      yield {
        store: control,
        operations: entries.flatMap(({ key }) => forgetEpisode(key)),
        apply: () => anomalies.addEpisodes(-entries.length),
      };
    }
  }

  *#oldLetters(beforeMs: number): Generator<Deletion> {
    const { deadLetters, control } = this.#dependencies.state;
    for (const tenant of [...deadLetters.tenants]) {
      for (;;) {
        const entries = this.#lettersOf(tenant, beforeMs);
        if (entries.length === 0) break;
        yield this.#deleteLetters(control, entries, 0);
      }
    }
  }

  /** The tenant with most bytes gives way, oldest first: one tenant's flood does not push out another's letters. */
  *#excessLetters(): Generator<Deletion> {
    const { deadLetters, control } = this.#dependencies.state;
    for (;;) {
      const tenant = deadLetters.largestTenant;
      const excess = deadLetters.bytes - this.#options.deadLetterBytesMax;
      if (tenant === undefined || excess <= 0) return;
      const entries = this.#lettersOf(tenant, Number.POSITIVE_INFINITY);
      if (entries.length === 0) return;
      const dropped = upToBytes(entries, excess);
      yield this.#deleteLetters(control, dropped, dropped.length);
    }
  }

  #lettersOf(tenant: string, beforeMs: number): StoreEntry[] {
    const { control } = this.#dependencies.state;
    const from = tenantTimeBound(tenant, Number.NEGATIVE_INFINITY);
    return control.range("dead_letters", { from, to: tenantTimeBound(tenant, beforeMs), limit: this.#options.rowsPerStep });
  }

  /** `dropped` of them go before their time. */
  #deleteLetters(store: KeyValueStore, entries: readonly StoreEntry[], dropped: number): Deletion {
    const { state, counters } = this.#dependencies;
    const draft = new DeadLetterDraft(state.control, state.deadLetters);
    for (const entry of entries) draft.remove(entry);
    const apply = () => {
      draft.apply();
      counters.add("deadLettersDropped", dropped);
      counters.set("deadLetters", state.deadLetters.total);
    };
    return { store, operations: draft.operations(), apply };
  }

  *#records(beforeMs: number): Generator<Deletion> {
    const { series } = this.#dependencies.state;
    for (const tenant of scanTenants(series, "records")) {
      const range = {
        from: tenantTimeBound(tenant, Number.NEGATIVE_INFINITY),
        to: tenantTimeBound(tenant, beforeMs),
        limit: this.#options.rowsPerStep,
      };
      for (;;) {
        const entries = series.range("records", range);
        if (entries.length === 0) break;
        yield { store: series, operations: entries.map(({ key }) => ({ table: "records", key, value: undefined })), apply: nothing };
      }
    }
  }

  /** Blocks are numbered as time goes, so the first that is young enough ends its partition. */
  *#blocks(beforeMs: number): Generator<Deletion> {
    const { series } = this.#dependencies.state;
    for (let partition = 0; partition < PARTITIONS; partition++) {
      const range = { from: partitionKey(partition), to: partitionKey(partition + 1), limit: this.#options.rowsPerStep };
      for (;;) {
        const spans = series.range("block_spans", range);
        const young = spans.findIndex(({ key, value }) => decodeSpan(key, value).maxMs >= beforeMs);
        const old = young < 0 ? spans : spans.slice(0, young);
        if (old.length === 0) break;
        const operations = old.flatMap(({ key }) => ["blocks", "block_spans"].map((table) => ({ table, key, value: undefined })));
        yield { store: series, operations, apply: nothing };
      }
    }
  }
}

function forgetEpisode(key: Uint8Array): StoreOperation[] {
  const reader = new KeyReader(key);
  reader.time();
  return [
    { table: "episode_times", key, value: undefined },
    { table: "episodes", key: reader.fixed(ID_BYTES), value: undefined },
  ];
}

/** The oldest entries that together take at least so many bytes. */
function upToBytes(entries: readonly StoreEntry[], bytes: number): readonly StoreEntry[] {
  let sum = 0;
  const last = entries.findIndex(({ value }) => {
    sum += value.length;
    return sum >= bytes;
  });
  return last < 0 ? entries : entries.slice(0, last + 1);
}
