// Rolls samples up into hours, and deletes what is past its time or over its bytes, a few hundred rows a step, so that commits of verdicts never
// wait long behind it. A round visits every table once; the next begins RETENTION_INTERVAL_MS after it has begun. Roll-ups rest between steps.
import { type KeyValueStore, type StoreEntry, StoreError, type StoreOperation } from "../../../adapters/storage/key-value-store.ts";
import { DEAD_LETTER_ENDS_MAX, FULL_DISK_ROWS_PER_STEP, FULL_DISK_STEPS } from "../../../core/config/limits.ts";
import type { CoordinatorCounter } from "../../../core/layout/counters.ts";
import { PARTITIONS } from "../../../core/layout/memory-map.ts";
import type { CoordinatorMessage } from "../../../core/protocol/query.ts";
import { KeyReader } from "../../../domain/codec/key.ts";
import { HOUR_MS } from "../../../domain/rollup/hour-column.ts";
import { readSpanBlockHead } from "../../../domain/trace/span-block.ts";
import { expireAudit } from "../access/audit-retention.ts";
import { expireAlerts, expireLedger, expireOpinions } from "../alerts/alert-retention.ts";
import { expireReports } from "../analysis/report-retention.ts";
import { episodeTimeKey } from "../anomalies/verdict-draft.ts";
import { expireCalls, mergeCalls } from "../calls/call-retention.ts";
import { DeadLetterDraft, type DeadLetterLoss } from "../dead-letters/dead-letter-draft.ts";
import { deadLettersToDrop } from "../dead-letters/dead-letter-retention.ts";
import type { CommittedState } from "../nouns/committed-state.ts";
import { expireExecutions } from "../runbooks/execution-retention.ts";
import { type BlockSpan, decodeSpan } from "../series/block-rows.ts";
import { rollUp } from "../series/rollups/rollup-retention.ts";
import { decodeRollupSpan, type RollupSpan } from "../series/rollups/rollup-rows.ts";
import type { CoordinatorCounters } from "../state/coordinator-counters.ts";
import { breath, PARTITIONS_PER_STEP, type RetentionStep } from "../state/retention-step.ts";
import { scanTenants } from "../state/scan.ts";
import { ID_BYTES, partitionKey, TABLE_START, tenantTimeBound, tenantTimeKey } from "../state/tables.ts";
import { expireUsage } from "../usage/usage-retention.ts";
import { type DeliveryRetentionDependencies, expireDeliveries } from "../webhooks/webhook-retention.ts";

/** How long and how much is kept. */
export interface RetentionOptions {
  /** Anomalies, episodes, records and roll-ups. */
  readonly retentionMs: number;
  readonly rawRetentionMs: number;
  readonly auditRetentionMs: number;
  readonly auditRowsMax: number;
  readonly deadLetterAgeMs: number;
  readonly deadLetterBytesMax: number;
  readonly episodesMax: number;
  readonly intervalMs: number;
  readonly rowsPerStep: number;
  readonly blocksPerStep: number;
}

/** What retention works on. */
export interface RetentionDependencies extends DeliveryRetentionDependencies {
  readonly state: CommittedState;
  readonly counters: CoordinatorCounters;
  emit(message: CoordinatorMessage): void;
  /** Resolves after a turn of the event loop. */
  yieldTurn(): Promise<void>;
  monotonicMs(): number;
}

/** Blocks of one partition that are past their time: the table of their spans, then that of their values. */
interface Expiry<S> {
  readonly tables: readonly [string, string];
  readonly counter: CoordinatorCounter;
  readonly partition: number;
  readonly decode: (key: Uint8Array, value: Uint8Array) => S;
  readonly isOld: (span: S) => boolean;
}

/** What a step did: nothing, because nothing is due; work without a commit; or a commit. */
export type RetentionOutcome = "idle" | "worked" | "committed";

/** The rounds. */
export class Retention {
  readonly #options: RetentionOptions;
  readonly #dependencies: RetentionDependencies;
  #round: Generator<RetentionStep> | undefined;
  #dueMs = 0;
  #begunMs = 0;
  /** Rows of a step, fewer since a step found the disk full; as many as otherwise after a round that has come to its end. */
  #rowsMax = Number.POSITIVE_INFINITY;

  constructor(options: RetentionOptions, dependencies: RetentionDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  /** Monotonic time at which `step` has something to do. */
  get dueMs(): number {
    return this.#dueMs;
  }

  /**
   * Does one step; to be called when it is due. Rejects with StoreError: the round then begins anew with the next call. On a full disk
   * calls are seldom and steps are small, so a call does some of them.
   */
  async step(wallNowMs: number): Promise<RetentionOutcome> {
    const monotonicMs = this.#dependencies.monotonicMs();
    if (this.#round === undefined) this.#begunMs = monotonicMs;
    let outcome: RetentionOutcome = "worked";
    for (let left = Number.isFinite(this.#rowsMax) ? FULL_DISK_STEPS : 1; left > 0; left--) {
      const done = await this.#draw(wallNowMs);
      if (done === "committed") outcome = done;
      if (done !== "idle") continue;
      this.#dueMs = Math.max(monotonicMs, this.#begunMs + this.#options.intervalMs);
      this.#rowsMax = Number.POSITIVE_INFINITY;
      return "idle";
    }
    return outcome;
  }

  async #draw(wallNowMs: number): Promise<RetentionOutcome> {
    const round = this.#round ?? this.#steps(wallNowMs);
    this.#round = undefined;
    const drawn = round.next();
    if (drawn.done) return "idle";
    const { store, operations, apply, restMs = 0 } = drawn.value;
    try {
      if (operations.length > 0) await store.commit(operations);
      else await this.#dependencies.yieldTurn();
    } catch (error) {
      if (error instanceof StoreError && error.isFullDisk)
        this.#rowsMax = Math.max(1, Math.min(FULL_DISK_ROWS_PER_STEP, Math.floor(this.#rowsMax / 2)));
      throw error;
    }
    apply();
    this.#round = round;
    // A disk that is full is to have room soon.
    if (!Number.isFinite(this.#rowsMax)) this.#dueMs = this.#dependencies.monotonicMs() + restMs;
    return operations.length > 0 ? "committed" : "worked";
  }

  get #rowsPerStep(): number {
    return Math.min(this.#rowsMax, this.#options.rowsPerStep);
  }

  get #blocksPerStep(): number {
    return Math.min(this.#rowsMax, this.#options.blocksPerStep);
  }

  /** Each step is drawn when the one before has been applied, so it sees what that has left. Deletions come first: they make room for sums of calls and for roll-ups. */
  *#steps(wallNowMs: number): Generator<RetentionStep> {
    const { retentionMs, rawRetentionMs, auditRetentionMs, auditRowsMax, deadLetterAgeMs, intervalMs } = this.#options;
    yield* this.#anomalies(wallNowMs - retentionMs);
    yield* this.#episodes(wallNowMs - retentionMs);
    yield* expireAlerts(this.#dependencies, wallNowMs - retentionMs, this.#rowsPerStep);
    yield* expireLedger(this.#dependencies, wallNowMs - retentionMs, this.#rowsPerStep);
    yield* expireReports(this.#dependencies, wallNowMs - retentionMs, this.#rowsPerStep);
    yield* expireExecutions(this.#dependencies.state, wallNowMs, this.#rowsPerStep);
    yield* expireDeliveries(this.#dependencies, wallNowMs, this.#rowsPerStep);
    yield* expireOpinions(this.#dependencies, wallNowMs, this.#rowsPerStep);
    yield* this.#oldDeadLetters(wallNowMs - deadLetterAgeMs);
    yield* this.#excessDeadLetters();
    yield* this.#deadLetterEnds(wallNowMs - deadLetterAgeMs);
    yield* expireAudit(this.#dependencies, wallNowMs - auditRetentionMs, auditRowsMax, this.#rowsPerStep);
    yield* expireUsage(this.#dependencies.state, wallNowMs, this.#rowsPerStep);
    yield* this.#records(wallNowMs - retentionMs);
    yield* expireCalls(this.#dependencies, wallNowMs - retentionMs, this.#rowsPerStep);
    yield* this.#blocks(wallNowMs - rawRetentionMs, wallNowMs - retentionMs);
    yield* this.#rollups(wallNowMs - retentionMs);
    yield* mergeCalls(this.#dependencies, wallNowMs - retentionMs);
    yield* rollUp(this.#dependencies, { wallNowMs, keptFromMs: wallNowMs - retentionMs, intervalMs });
  }

  *#anomalies(beforeMs: number): Generator<RetentionStep> {
    const { anomalies, control } = this.#dependencies.state;
    for (const tenant of [...anomalies.tenants]) {
      for (;;) {
        const entries = anomalies.index(tenant).oldest(this.#rowsPerStep, beforeMs);
        if (entries.length === 0) break;
        const operations = entries.map(({ detectedAtMs, id }) => ({
          table: "anomalies",
          key: tenantTimeKey(tenant, detectedAtMs, id),
          value: undefined,
        }));
        const apply = () => {
          for (const entry of entries) anomalies.remove(tenant, entry);
          this.#dependencies.counters.set("anomaliesOpen", anomalies.openCount);
          this.#count("anomaliesExpired", entries.length);
        };
        yield { store: control, operations, apply };
      }
    }
  }

  /** Forgets episodes by age, and the oldest beyond the maximum whatever their age. */
  *#episodes(beforeMs: number): Generator<RetentionStep> {
    const { anomalies, control } = this.#dependencies.state;
    const old = episodeTimeKey(beforeMs, new Uint8Array(0));
    for (;;) {
      const excess = anomalies.episodeCount - this.#options.episodesMax;
      const to = excess > 0 ? episodeTimeKey(Number.POSITIVE_INFINITY, new Uint8Array(0)) : old;
      const limit = excess > 0 ? Math.min(excess, this.#rowsPerStep) : this.#rowsPerStep;
      const entries = control.range("episode_times", { from: TABLE_START, to, limit });
      if (entries.length === 0) return;
      yield {
        store: control,
        operations: entries.flatMap(({ key }) => forgetEpisode(key)),
        apply: () => {
          anomalies.addEpisodes(-entries.length);
          this.#count("episodesExpired", entries.length);
        },
      };
    }
  }

  *#oldDeadLetters(beforeMs: number): Generator<RetentionStep> {
    const { deadLetters, control } = this.#dependencies.state;
    for (const tenant of [...deadLetters.tenants]) {
      for (;;) {
        const entries = this.#deadLettersOf(tenant, beforeMs);
        if (entries.length === 0) break;
        yield this.#loseDeadLetters(control, entries, "expired");
      }
    }
  }

  *#excessDeadLetters(): Generator<RetentionStep> {
    const { state } = this.#dependencies;
    const excess = () => state.deadLetters.bytes - this.#options.deadLetterBytesMax;
    if (excess() <= 0) return;
    for (const { tenant, entries } of deadLettersToDrop(state, this.#rowsPerStep)) {
      if (entries.length === 0) {
        yield breath(state.control);
        continue;
      }
      // A part of a step of anonymous letters is enough: the walk over them begins anew with the next round.
      const dropped = upToBytes(entries, excess());
      yield this.#loseDeadLetters(state.control, dropped, "dropped");
      this.#tellDropped(tenant, dropped.length);
      if (excess() <= 0) return;
    }
  }

  /** What is remembered of letters that were replayed or deleted goes with the age of letters, and the oldest beyond the maximum. */
  *#deadLetterEnds(beforeMs: number): Generator<RetentionStep> {
    const { deadLetters, control } = this.#dependencies.state;
    for (const tenant of [...deadLetters.tenants]) {
      for (;;) {
        const isExcess = deadLetters.ends > DEAD_LETTER_ENDS_MAX;
        const from = tenantTimeBound(tenant, Number.NEGATIVE_INFINITY);
        const to = tenantTimeBound(tenant, isExcess ? Number.POSITIVE_INFINITY : beforeMs);
        const entries = control.range("dead_letter_ends", { from, to, limit: this.#rowsPerStep });
        if (entries.length === 0) break;
        const draft = new DeadLetterDraft(this.#dependencies.state);
        draft.forgetEnds(
          tenant,
          entries.map(({ key }) => key),
        );
        yield { store: control, operations: draft.operations(), apply: () => draft.apply() };
      }
    }
  }

  #tellDropped(tenant: string, count: number): void {
    const { emit, state } = this.#dependencies;
    const msg = `dead letters of tenant ${JSON.stringify(tenant)} passed ${this.#options.deadLetterBytesMax} bytes: the oldest ${count} were dropped, ${state.deadLetters.counts(tenant).dropped} so far`;
    emit({ type: "log", level: "warn", component: "retention", msg });
  }

  #deadLettersOf(tenant: string, beforeMs: number): StoreEntry[] {
    const { control } = this.#dependencies.state;
    const from = tenantTimeBound(tenant, Number.NEGATIVE_INFINITY);
    return control.range("dead_letters", { from, to: tenantTimeBound(tenant, beforeMs), limit: this.#rowsPerStep });
  }

  #loseDeadLetters(store: KeyValueStore, entries: readonly StoreEntry[], loss: DeadLetterLoss): RetentionStep {
    const { state, counters } = this.#dependencies;
    const draft = new DeadLetterDraft(state);
    for (const entry of entries) draft.lose(entry, loss);
    const apply = () => {
      draft.apply();
      counters.add(loss === "dropped" ? "deadLettersDropped" : "deadLettersExpired", entries.length);
      counters.set("deadLetters", state.deadLetters.total);
      counters.set("deadLetterBytes", state.deadLetters.bytes);
    };
    return { store, operations: draft.operations(), apply };
  }

  *#records(beforeMs: number): Generator<RetentionStep> {
    const { series } = this.#dependencies.state;
    let oldestMs = Number.POSITIVE_INFINITY;
    yield* this.#spanBlocks(beforeMs);
    for (const tenant of scanTenants(series, "records")) {
      const from = tenantTimeBound(tenant, Number.NEGATIVE_INFINITY);
      const range = { from, to: tenantTimeBound(tenant, beforeMs), limit: this.#rowsPerStep };
      for (;;) {
        const entries = series.range("records", range);
        if (entries.length === 0) break;
        const operations = entries.map(({ key }) => ({ table: "records", key, value: undefined }));
        yield { store: series, operations, apply: () => this.#count("recordsExpired", entries.length) };
      }
      const [first] = series.range("records", { from, to: tenantTimeBound(tenant, Number.POSITIVE_INFINITY), limit: 1 });
      if (first !== undefined) oldestMs = Math.min(oldestMs, recordTime(first.key));
    }
    this.#tellOldest("oldestRecordSeconds", oldestMs);
  }

  *#spanBlocks(beforeMs: number): Generator<RetentionStep> {
    const { series } = this.#dependencies.state;
    for (const tenant of scanTenants(series, "span_blocks")) {
      const from = tenantTimeBound(tenant, Number.NEGATIVE_INFINITY);
      for (;;) {
        const entries = series.range("span_blocks", { from, to: tenantTimeBound(tenant, beforeMs), limit: this.#blocksPerStep });
        if (entries.length === 0) break;
        const spans = entries.reduce((sum, { value }) => sum + readSpanBlockHead(value).spans, 0);
        const operations = entries.map(({ key }) => ({ table: "span_blocks", key, value: undefined }));
        yield { store: series, operations, apply: () => this.#count("recordsExpired", spans) };
      }
    }
  }

  /** Blocks that are not rolled up yet stay, unless their hours would be too old as well. */
  *#blocks(beforeMs: number, rollupsBeforeMs: number): Generator<RetentionStep> {
    const { rollups } = this.#dependencies.state;
    let oldestMs = Number.POSITIVE_INFINITY;
    for (let partition = 0; partition < PARTITIONS; partition++) {
      const { firstBlock } = rollups.mark(partition);
      const isOld = (span: BlockSpan) => span.maxMs < (span.block < firstBlock ? beforeMs : Math.min(beforeMs, rollupsBeforeMs));
      const kept = yield* this.#expire({
        tables: ["block_spans", "blocks"],
        counter: "blocksExpired",
        partition,
        decode: decodeSpan,
        isOld,
      });
      oldestMs = Math.min(oldestMs, kept?.minMs ?? oldestMs);
    }
    this.#tellOldest("oldestSampleSeconds", oldestMs);
  }

  *#rollups(beforeMs: number): Generator<RetentionStep> {
    const beforeHour = Math.floor(beforeMs / HOUR_MS);
    const isOld = (span: RollupSpan) => span.lastHour < beforeHour;
    let oldestHour = Number.POSITIVE_INFINITY;
    for (let partition = 0; partition < PARTITIONS; partition++) {
      const tables = ["rollup_spans", "rollups"] as const;
      const kept = yield* this.#expire({ tables, counter: "rollupsExpired", partition, decode: decodeRollupSpan, isOld });
      oldestHour = Math.min(oldestHour, kept?.firstHour ?? oldestHour);
    }
    this.#tellOldest("oldestRollupSeconds", oldestHour * HOUR_MS);
  }

  /** Both kinds of blocks are numbered as time goes, so the first that is young enough ends its partition; it is returned. */
  *#expire<S>({ tables, counter, partition, decode, isOld }: Expiry<S>): Generator<RetentionStep, S | undefined> {
    const { series } = this.#dependencies.state;
    const oldest = (limit: number) => series.range(tables[0], { from: partitionKey(partition), to: partitionKey(partition + 1), limit });
    if (partition % PARTITIONS_PER_STEP === 0) yield breath(series);
    for (;;) {
      const [first] = oldest(1);
      if (first === undefined) return undefined;
      const span = decode(first.key, first.value);
      if (!isOld(span)) return span;
      const entries = oldest(this.#blocksPerStep);
      const young = entries.findIndex(({ key, value }) => !isOld(decode(key, value)));
      const old = young < 0 ? entries : entries.slice(0, young);
      const operations = old.flatMap(({ key }) => tables.map((table) => ({ table, key, value: undefined })));
      yield { store: series, operations, apply: () => this.#count(counter, old.length) };
    }
  }

  #count(name: CoordinatorCounter, by: number): void {
    this.#dependencies.counters.add(name, by);
  }

  /** 0 where nothing is kept. */
  #tellOldest(name: CoordinatorCounter, ms: number): void {
    this.#dependencies.counters.set(name, Number.isFinite(ms) ? ms / 1000 : 0);
  }
}

/** Time of a key of (tenant, time, id). */
function recordTime(key: Uint8Array): number {
  const reader = new KeyReader(key);
  reader.text();
  return reader.time();
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
