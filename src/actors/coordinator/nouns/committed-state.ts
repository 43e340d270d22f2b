// Everything that the coordinator knows and has made durable. Transactions and retention change it after their commits; queries read it.
import type { KeyValueStore } from "../../../adapters/storage/key-value-store.ts";
import { PAGE_SECRET_BYTES } from "../../../api/page-token.ts";
import { PARTITIONS } from "../../../core/layout/memory-map.ts";
import type { AccessChange } from "../../../core/protocol/access.ts";
import type { CheckpointHeader } from "../../../core/protocol/coordinator-frame.ts";
import type { StatePartWanted, StoredCheckpoint } from "../../../core/protocol/engine-control.ts";
import { ServiceFacts } from "../../../domain/alerting/paging/service-facts.ts";
import { PatternCache } from "../../../domain/alerting/pattern/pattern-cache.ts";
import { KeyBuilder } from "../../../domain/codec/key.ts";
import { AlertBook } from "../../../modules/alerts/alert-book.ts";
import { AnalysisBook } from "../../../modules/analysis/analysis-book.ts";
import { AnomalyBook } from "../../../modules/anomalies/anomaly-book.ts";
import { callSumsKey } from "../../../modules/calls/stored-calls.ts";
import { DeadLetterBook } from "../../../modules/dead-letters/dead-letter-book.ts";
import { replayBook } from "../../../modules/dead-letters/replay-book.ts";
import type { RoutingSettings } from "../../../modules/notification/routing-book.ts";
import { ForecastBook } from "../../../modules/prediction/forecast-book.ts";
import { MetadataTable } from "../../../modules/series/metadata-table.ts";
import { RollupBook } from "../../../modules/series/rollups/rollup-book.ts";
import { admitStored } from "../../../modules/silences/pattern-capacity.ts";
import { decodeCheckpointRow } from "../../../modules/state/checkpoint-row.ts";
import { type CoordinatorShares, type CoordinatorSharesOptions, makeCoordinatorShares } from "../../../modules/state/coordinator-shares.ts";
import { LogCoverage } from "../../../modules/state/log-coverage.ts";
import { scan } from "../../../modules/state/scan.ts";
import { LOG_MARK } from "../../../modules/state/shared-forms.ts";
import { blockKey, checkpointPartKey, partitionKey } from "../../../modules/state/tables.ts";
import { SloBook } from "../../../modules/watchdog/slo/slo-book.ts";
import { TrainingRowsBook } from "../../../modules/watchdog/training/training-rows-book.ts";
import type { WatchdogEnvironment } from "../../../modules/watchdog/watchdog-book.ts";
import { type ConfiguredBooks, configuredBooks } from "./modules.ts";

/** Keys that one step of the clean-up at start deletes; spans are small, blocks are deleted one page chain each. */
const VOID_BLOCKS_PER_STEP = 500;
const PAGE_SECRET_KEY = new KeyBuilder().text("page_token").finish();

/** The two environments; this object alone writes to them. */
export interface CoordinatorStores {
  readonly control: KeyValueStore;
  readonly series: KeyValueStore;
}

/** Key of a writer's mark. */
export function logMarkKey(epoch: number, writer: number): Uint8Array {
  return new KeyBuilder().u32(epoch).u16(writer).finish();
}

/** The state of one server. */
export class CommittedState {
  readonly control: KeyValueStore;
  readonly series: KeyValueStore;
  readonly anomalies: AnomalyBook;
  readonly alerts: AlertBook;
  readonly deadLetters = new DeadLetterBook();
  readonly replays = replayBook();
  readonly coverage = new LogCoverage();
  readonly rollups = new RollupBook();
  /** Generation of each partition's checkpoint: sums of calls since earlier ones are final. */
  readonly generations = new Map<number, number>();
  /** Shares of tenants in the limits that they share here. */
  readonly shares: CoordinatorShares;
  readonly slo: SloBook;
  /** Vectors that trainings have kept. */
  readonly trainingRows: TrainingRowsBook;
  readonly services = new ServiceFacts(() => this.configured.tenants.size);
  readonly metadata: MetadataTable;
  readonly analyses: AnalysisBook;
  /** Forecasts that were asked for. */
  readonly forecasts = new ForecastBook();
  /** State that people have configured. */
  readonly configured: ControlState;
  #pageSecret: Uint8Array = new Uint8Array(0);

  constructor(
    stores: CoordinatorStores,
    watchdog: WatchdogEnvironment,
    shares: CoordinatorSharesOptions = {},
    routing: RoutingSettings | undefined = undefined,
  ) {
    this.shares = makeCoordinatorShares(shares, () => this.configured.tenants.size);
    this.slo = new SloBook(this.shares.ledger("slo_windows"));
    this.trainingRows = new TrainingRowsBook(this.shares.ledger("training_row_bytes"));
    this.metadata = new MetadataTable(this.shares.ledger("stored_metadata"));
    this.control = stores.control;
    this.series = stores.series;
    this.anomalies = new AnomalyBook(stores.control);
    this.configured = makeControlState(watchdog, this.shares, routing);
    this.analyses = new AnalysisBook(stores.control);
    const opinions = this.shares.ledger("opinion_services");
    this.alerts = new AlertBook(stores.control, stores.series, this.configured.inhibitions, opinions);
  }

  /** Key that seals page tokens; made at the first start, so that tokens survive a restart. */
  get pageSecret(): Uint8Array {
    return this.#pageSecret;
  }

  /** Reads what is stored, and deletes blocks that no checkpoint knows of: the replay makes them again. Returns warnings for the log. */
  async open(randomBytes: (count: number) => Uint8Array, nowMs: number): Promise<string[]> {
    this.anomalies.load();
    const warnings = this.configured.load(this.control, nowMs);
    // Alerts that fire are asked for rules by which they keep others quiet.
    this.alerts.load();
    this.analyses.load(this.series, nowMs);
    this.deadLetters.load(this.control);
    this.replays.load(this.control);
    this.forecasts.load(this.control);
    this.metadata.load(this.series);
    this.trainingRows.load(this.series);
    for (const { value } of scan(this.series, "lane_marks")) this.coverage.putMark(LOG_MARK.decode(value));
    for (let partition = 0; partition < PARTITIONS; partition++) {
      const checkpoint = this.#checkpoint(partition)?.header;
      if (checkpoint !== undefined) this.putCheckpoint(checkpoint);
      this.rollups.load(this.series, partition);
      await this.#deleteVoidBlocks(partition, checkpoint?.nextBlock ?? 0);
      await this.#deleteVoidParts(partition, checkpoint);
      await this.#deleteVoidCalls(partition, checkpoint?.generation ?? 0);
    }
    await this.#loadSecret(randomBytes);
    return warnings;
  }

  /** Takes over a checkpoint that is stored. */
  putCheckpoint(checkpoint: Pick<CheckpointHeader, "partition" | "epoch" | "vector" | "nextBlock" | "generation">): void {
    this.generations.set(checkpoint.partition, checkpoint.generation);
    this.coverage.putCheckpoint(checkpoint);
    this.rollups.putCheckpoint(checkpoint);
  }

  /** Yields the stored checkpoints, without their states. */
  *checkpoints(): Generator<StoredCheckpoint> {
    for (let partition = 0; partition < PARTITIONS; partition++) {
      const checkpoint = this.#checkpoint(partition);
      if (checkpoint !== undefined) yield checkpoint.header;
    }
  }

  /** A part of a partition's stored state. Throws when there is no such part: whoever asks has been told how many there are. */
  statePart({ partition, part }: Omit<StatePartWanted, "type">): Uint8Array {
    const checkpoint = this.#checkpoint(partition);
    const { generation, parts } = checkpoint?.header ?? { generation: 0, parts: -1 };
    const bytes = part < parts ? this.series.get("checkpoint_parts", checkpointPartKey(partition, generation, part)) : checkpoint?.last;
    if (bytes === undefined || part > parts) throw new Error(`the state of partition ${partition} has no part ${part}`);
    return bytes;
  }

  #checkpoint(partition: number): ReturnType<typeof decodeCheckpointRow> | undefined {
    const row = this.series.get("checkpoints", partitionKey(partition));
    return row === undefined ? undefined : decodeCheckpointRow(row);
  }

  async #deleteVoidBlocks(partition: number, nextBlock: number): Promise<void> {
    const from = blockKey(partition, nextBlock);
    const to = partitionKey(partition + 1);
    await this.series.deleteRange("blocks", from, to, VOID_BLOCKS_PER_STEP);
    await this.series.deleteRange("block_spans", from, to, VOID_BLOCKS_PER_STEP);
  }

  /** Parts of a checkpoint that did not come to its end. */
  async #deleteVoidParts(partition: number, checkpoint: StoredCheckpoint | undefined): Promise<void> {
    const from = partitionKey(partition);
    const to = partitionKey(partition + 1);
    const { generation = 0, parts = 0 } = checkpoint ?? {};
    const retained = checkpointPartKey(partition, generation, 0);
    await this.series.deleteRange("checkpoint_parts", from, retained, VOID_BLOCKS_PER_STEP);
    await this.series.deleteRange("checkpoint_parts", checkpointPartKey(partition, generation, parts), to, VOID_BLOCKS_PER_STEP);
  }

  /** Calls that no checkpoint has sealed. */
  async #deleteVoidCalls(partition: number, generation: number): Promise<void> {
    await this.series.deleteRange("call_sums", callSumsKey(partition, generation), partitionKey(partition + 1), VOID_BLOCKS_PER_STEP);
  }

  async #loadSecret(randomBytes: (count: number) => Uint8Array): Promise<void> {
    const stored = this.control.get("secrets", PAGE_SECRET_KEY);
    this.#pageSecret = stored ?? randomBytes(PAGE_SECRET_BYTES);
    if (stored === undefined) await this.control.commit([{ table: "secrets", key: PAGE_SECRET_KEY, value: this.#pageSecret }]);
  }
}

// What people have configured: Books held in memory, each read from its table at the start and changed after the commit of a change.

/** A Book of one noun. */
interface ControlBook {
  /** Reads what is stored. */
  load(store: KeyValueStore): void;
}

/** The configuration of one server. */
type ControlState = ConfiguredBooks & {
  readonly patterns: PatternCache;
  /** Reads all Books. Returns lines for the log on what cannot be in force any more. */
  load(store: KeyValueStore, nowMs: number): string[];
  /** Everything that the front has to know, as changes from nothing. */
  accessChanges(): AccessChange[];
};

export function makeControlState(watchdog: WatchdogEnvironment, shares: CoordinatorShares, routing?: RoutingSettings): ControlState {
  const patterns = new PatternCache();
  const books = configuredBooks({ share: (limit) => shares.ledger(limit), patterns, watchdog, routing });
  return {
    ...books,
    patterns,
    load(store, nowMs) {
      for (const book of Object.values<ControlBook>(books)) book.load(store);
      return admitStored({ ...books, patterns }, nowMs);
    },
    accessChanges: () => [...books.tenants.accessChanges(), ...books.keys.accessChanges(), ...books.users.accessChanges()],
  };
}
