// An engine's counters, in its shared memory; the front renders them.
import type { EngineMemory } from "../../../adapters/shared-memory/engine-memory.ts";
import {
  BATCH_BOUNDS,
  ENGINE_COUNTERS,
  ENGINE_SHARED_LIMITS,
  ENGINE_SLOTS,
  ENGINE_STAGES,
  type EngineCounter,
  type EngineSharedLimit,
  type EngineStage,
  LATENCY_SLOTS,
  observeLatency,
  RECORD_TYPES,
  type RecordType,
  SLOT_ACCEPTED,
  SLOT_BATCH,
  SLOT_ENGINE_SHARES,
  SLOT_REASONS,
  SLOT_REJECTED,
  SLOT_STAGES,
  VALIDATION_REASONS,
  type ValidationReason,
} from "../../../core/layout/counters.ts";
import type { OtlpSignal } from "../../../core/protocol/otlp-kind.ts";
import type { AttributeLoss } from "../../../domain/series/retained-attributes.ts";

const PLACES = new Map<EngineCounter, number>(ENGINE_COUNTERS.map((name, index) => [name, index]));

/** Requests, items in them, items of them that were refused. */
const OTLP_COUNTERS: Readonly<Record<OtlpSignal, readonly [EngineCounter, EngineCounter, EngineCounter]>> = {
  metrics: ["otlpMetricsRequests", "otlpMetricsItems", "otlpMetricsRejected"],
  traces: ["otlpTracesRequests", "otlpTracesItems", "otlpTracesRejected"],
  logs: ["otlpLogsRequests", "otlpLogsItems", "otlpLogsRejected"],
};

/** Single writer of one engine's counter slots. */
export class EngineCounters {
  readonly #slots: Float64Array;

  constructor(memory: EngineMemory) {
    this.#slots = memory.counters(ENGINE_SLOTS);
  }

  add(name: EngineCounter, amount: number): void {
    this.#bump(PLACES.get(name) as number, amount);
  }

  get(name: EngineCounter): number {
    return this.#slots[PLACES.get(name) as number] as number;
  }

  set(name: EngineCounter, value: number): void {
    this.#slots[PLACES.get(name) as number] = value;
  }

  raise(name: EngineCounter, value: number): void {
    const index = PLACES.get(name) as number;
    if (value > (this.#slots[index] as number)) this.#slots[index] = value;
  }

  accepted(type: RecordType, count: number): void {
    this.#bump(SLOT_ACCEPTED + RECORD_TYPES.indexOf(type), count);
  }

  rejected(type: RecordType, reason: ValidationReason, count: number): void {
    this.#bump(SLOT_REJECTED + RECORD_TYPES.indexOf(type), count);
    this.#bump(SLOT_REASONS + VALIDATION_REASONS.indexOf(reason), count);
  }

  /** Counts an OTLP request and what became of its items. */
  otlp(signal: OtlpSignal, accepted: number, rejected: number): void {
    const [requests, items, refused] = OTLP_COUNTERS[signal];
    this.add(requests, 1);
    this.add(items, accepted + rejected);
    this.add(refused, rejected);
  }

  /** Counts attributes that did not come through whole, of so many records that were kept. */
  lost({ cut, dropped }: AttributeLoss, records = 1): void {
    if (cut > 0) this.add("attributesCut", cut * records);
    if (dropped > 0) this.add("attributesDropped", dropped * records);
  }

  /** Observes the number of records of one body. */
  batch(records: number): void {
    const found = BATCH_BOUNDS.findIndex((bound) => records <= bound);
    this.#bump(SLOT_BATCH + (found < 0 ? BATCH_BOUNDS.length : found), 1);
    this.#bump(SLOT_BATCH + BATCH_BOUNDS.length + 1, records);
    this.#bump(SLOT_BATCH + BATCH_BOUNDS.length + 2, 1);
  }

  /** Observes how long a detection took until a stage was over. */
  stage(stage: EngineStage, seconds: number): void {
    observeLatency(this.#slots, SLOT_STAGES + ENGINE_STAGES.indexOf(stage) * LATENCY_SLOTS, seconds);
  }

  /** Counts places of a shared limit that a tenant was refused. */
  shareRefused(limit: EngineSharedLimit, count: number): void {
    this.#bump(SLOT_ENGINE_SHARES + ENGINE_SHARED_LIMITS.indexOf(limit), count);
  }

  #bump(index: number, amount: number): void {
    this.#slots[index] = (this.#slots[index] as number) + amount;
  }
}
