/**
 * One transaction on `series`: a run of frames becomes operations.
 *
 * Whatever says "all before me is stored" lies in `series`, so its frames are committed behind the frames for `control` that came before them. A transaction may be
 * thrown away and made again from the same frames: all of them may be applied twice.
 */

import type { KeyValueStore, StoreOperation } from "../../../adapters/storage/key-value-store.ts";
import { ShareDraft } from "../../../core/fairness/share-ledger.ts";
import {
  type CheckpointHeader,
  type CheckpointNote,
  type EngineFrame,
  FRAME_BLOCK,
  FRAME_CALLS,
  FRAME_CHECKPOINT,
  FRAME_CHECKPOINT_NOTE,
  FRAME_CHECKPOINT_PART,
  FRAME_DETECTOR_STATES,
  FRAME_LOG_MARK,
  FRAME_METADATA,
  FRAME_METRIC_SCOPE,
  FRAME_RECORD,
  FRAME_SET_ASIDE,
  FRAME_SPAN_BLOCK,
  type LogMark,
  type LogMarkFrame,
  type MetricMetadataEnvelope,
  type MetricScopeEnvelope,
  type RecordEnvelope,
} from "../../../core/protocol/coordinator-frame.ts";
import { changeOf, type ServiceChange } from "../../../domain/anomaly/change-event.ts";
import type { SloRecord } from "../../../domain/detection/service/slo-record.ts";
import { readSpanBlockHead, spanBlockId } from "../../../domain/trace/span-block.ts";
import { changeOperation } from "../../../modules/analysis/change-book.ts";
import { callSumsKey, readCallsFrame } from "../../../modules/calls/stored-calls.ts";
import { encodeRecordRow } from "../../../modules/records/record-row.ts";
import { blockOperations } from "../../../modules/series/block-rows.ts";
import { ColdDraft } from "../../../modules/series/cold/cold-draft.ts";
import { metadataOperation } from "../../../modules/series/metadata-table.ts";
import { metricScopeOperation } from "../../../modules/series/metric-scope-rows.ts";
import {
  decodeCheckpointRow,
  encodeCheckpointRow,
  notedCheckpointRow,
  readCheckpointHeader,
  readColdChanges,
  readPartFrame,
} from "../../../modules/state/checkpoint-row.ts";
import { LOG_MARK } from "../../../modules/state/shared-forms.ts";
import { decodePayload } from "../../../modules/state/stored-json.ts";
import { checkpointPartKey, idText, partitionKey, tenantTimeKey } from "../../../modules/state/tables.ts";
import { UsageDraft } from "../../../modules/usage/usage-rows.ts";
import { detectorStatesOperation } from "../../../modules/watchdog/detector-states.ts";
import { SLO_WINDOW_MS, sloOperation, sloRecordOf } from "../../../modules/watchdog/slo/slo-book.ts";
import { type CommittedState, logMarkKey } from "../nouns/committed-state.ts";

/** Drafts of one transaction over the committed state. */
export class SeriesTransaction {
  readonly #usage: UsageDraft;
  readonly #cold: ColdDraft;
  readonly checkpoints: CheckpointHeader[] = [];
  /** The newest of each partition among these. */
  readonly #checkpointRows = new Map<number, Uint8Array>();
  readonly marks: LogMark[] = [];
  readonly metadata: MetricMetadataEnvelope[] = [];
  readonly sloRecords: Array<readonly [record: SloRecord, id: string]> = [];
  readonly changes: ServiceChange[] = [];
  readonly #takesMetadata: (metadata: MetricMetadataEnvelope) => boolean;
  readonly #retentionMs: number;
  readonly #wallNowMs: number;
  readonly #series: StoreOperation[] = [];
  readonly #seriesStore: KeyValueStore;
  readonly #recordIds = new Set<string>();
  records = 0;
  recordsDropped = 0;
  blocks = 0;
  blockBytes = 0;

  constructor(state: CommittedState, retentionMs: number, wallNowMs: number) {
    this.#seriesStore = state.series;
    const rows = new ShareDraft(state.metadata.shares);
    this.#takesMetadata = (metadata) => state.metadata.has(metadata) || rows.take(metadata.tenant);
    this.#cold = new ColdDraft(state.series);
    this.#usage = new UsageDraft(state.series);
    this.#retentionMs = retentionMs;
    this.#wallNowMs = wallNowMs;
  }

  /** Takes one frame. Throws on a frame that no engine can have sent. */
  add(frame: EngineFrame): void {
    const take = TAKE[frame.kind];
    if (take === undefined) throw new Error(`an engine sent a frame of unknown kind ${frame.kind}`);
    take(this, frame.payload);
  }

  operations(): StoreOperation[] {
    return [...this.#series, ...this.#cold.operations(), ...this.#usage.operations()];
  }

  /** Services of streams that left memory whose names no key can hold. */
  unlistedServices(): readonly string[] {
    return this.#cold.unlisted();
  }

  takeRecord(envelope: RecordEnvelope): void {
    if (envelope.timeMs < this.#wallNowMs - this.#retentionMs) {
      this.recordsDropped++;
      return;
    }
    const key = tenantTimeKey(envelope.tenant, envelope.timeMs, envelope.id);
    if (this.#isStored(key, envelope)) return;
    this.#recordIds.add(envelope.id);
    this.#series.push({ table: "records", key, value: encodeRecordRow(envelope) });
    this.#takeSlo(envelope);
    const change = changeOf(envelope);
    if (change !== undefined) {
      this.#series.push(changeOperation(change, envelope.id));
      this.changes.push(change);
    }
    this.records++;
  }

  #takeSlo(envelope: RecordEnvelope): void {
    const record = envelope.timeMs < this.#wallNowMs - SLO_WINDOW_MS ? undefined : sloRecordOf(envelope);
    if (record === undefined) return;
    this.#series.push(sloOperation(record, envelope.id));
    this.sloRecords.push([record, envelope.id]);
  }

  /** A repeated record changes nothing: the first one stays, also where a sender gave another one the same Idempotency-Key and time. */
  #isStored(key: Uint8Array, { id }: RecordEnvelope): boolean {
    return this.#recordIds.has(id) || this.#seriesStore.get("records", key) !== undefined;
  }

  takeSpans(payload: Uint8Array): void {
    const { tenant, second, spans } = readSpanBlockHead(payload);
    if (second * 1000 < this.#wallNowMs - this.#retentionMs) this.recordsDropped += spans;
    else {
      this.#series.push({ table: "span_blocks", key: tenantTimeKey(tenant, second * 1000, idText(spanBlockId(payload))), value: payload });
      this.records += spans;
    }
  }

  takeBlock(payload: Uint8Array): void {
    this.#series.push(...blockOperations(payload));
    this.blocks++;
    this.blockBytes += payload.length;
  }

  takeCalls(payload: Uint8Array): void {
    const { partition, since, edges } = readCallsFrame(payload);
    this.#series.push({ table: "call_sums", key: callSumsKey(partition, since), value: edges });
  }

  takeCheckpointPart(payload: Uint8Array): void {
    const { partition, generation, part, bytes } = readPartFrame(payload);
    this.#series.push({ table: "checkpoint_parts", key: checkpointPartKey(partition, generation, part), value: bytes });
  }

  /** From now on the new parts count; those of the checkpoint before go. */
  takeCheckpoint(payload: Uint8Array): void {
    const header = readCheckpointHeader(payload);
    if (header.coldBytes > 0) this.#cold.take(header.partition, readColdChanges(payload));
    const before = this.#checkpointRow(header.partition);
    if (before !== undefined) this.#dropParts(decodeCheckpointRow(before).header, 0);
    this.#putCheckpoint(header, encodeCheckpointRow(payload));
  }

  /** The checkpoint that is stored covers more of the log. */
  takeCheckpointNote(note: CheckpointNote): void {
    const before = this.#checkpointRow(note.partition);
    if (before === undefined) throw new Error(`partition ${note.partition} has no checkpoint to be noted`);
    const row = notedCheckpointRow(before, note);
    this.#dropParts(decodeCheckpointRow(before).header, note.parts);
    this.#putCheckpoint(decodeCheckpointRow(row).header, row);
  }

  /** Drops the parts of a checkpoint from one on. */
  #dropParts({ partition, generation, parts }: CheckpointHeader, from: number): void {
    for (let part = from; part < parts; part++)
      this.#series.push({ table: "checkpoint_parts", key: checkpointPartKey(partition, generation, part), value: undefined });
  }

  #putCheckpoint(header: CheckpointHeader, row: Uint8Array): void {
    this.#series.push({ table: "checkpoints", key: partitionKey(header.partition), value: row });
    this.#checkpointRows.set(header.partition, row);
    this.checkpoints.push(header);
  }

  #checkpointRow(partition: number): Uint8Array | undefined {
    return this.#checkpointRows.get(partition) ?? this.#seriesStore.get("checkpoints", partitionKey(partition));
  }

  takeDetectorStates(payload: Uint8Array): void {
    this.#series.push(detectorStatesOperation(payload));
  }

  takeMetadata(metadata: MetricMetadataEnvelope): void {
    if (!this.#takesMetadata(metadata)) return;
    this.#series.push(metadataOperation(metadata));
    this.metadata.push(metadata);
  }

  takeMetricScope(scope: MetricScopeEnvelope): void {
    this.#series.push(metricScopeOperation(scope));
  }

  takeMark({ mark, usage }: LogMarkFrame): void {
    this.#usage.add(usage);
    this.#series.push({ table: "lane_marks", key: logMarkKey(mark.epoch, mark.lane), value: LOG_MARK.encode(mark) });
    this.marks.push(mark);
  }
}

const TAKE: Readonly<Record<number, (transaction: SeriesTransaction, payload: Uint8Array) => void>> = {
  [FRAME_RECORD]: (transaction, payload) => transaction.takeRecord(decodePayload<RecordEnvelope>(payload)),
  [FRAME_BLOCK]: (transaction, payload) => transaction.takeBlock(payload),
  [FRAME_CALLS]: (transaction, payload) => transaction.takeCalls(payload),
  [FRAME_CHECKPOINT]: (transaction, payload) => transaction.takeCheckpoint(payload),
  [FRAME_CHECKPOINT_NOTE]: (transaction, payload) => transaction.takeCheckpointNote(decodePayload<CheckpointNote>(payload)),
  [FRAME_CHECKPOINT_PART]: (transaction, payload) => transaction.takeCheckpointPart(payload),
  [FRAME_DETECTOR_STATES]: (transaction, payload) => transaction.takeDetectorStates(payload),
  [FRAME_SPAN_BLOCK]: (transaction, payload) => transaction.takeSpans(payload),
  [FRAME_METADATA]: (transaction, payload) => transaction.takeMetadata(decodePayload<MetricMetadataEnvelope>(payload)),
  [FRAME_METRIC_SCOPE]: (transaction, payload) => transaction.takeMetricScope(decodePayload<MetricScopeEnvelope>(payload)),
  [FRAME_SET_ASIDE]: () => undefined,
  [FRAME_LOG_MARK]: (transaction, payload) => transaction.takeMark(decodePayload<LogMarkFrame>(payload)),
};
