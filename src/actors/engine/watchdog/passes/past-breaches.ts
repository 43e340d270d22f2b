// Breaches of headroom that the series of one engine have had, by partition, as far as they are older than a day. Checkpoints keep them, since habits go back for weeks and
// samples for RETENTION_RAW_DAYS; what is younger, samples show.
import { SATURATION_BREACHED_MAX } from "../../../../core/config/limits.ts";
import { PARTITIONS } from "../../../../core/layout/memory-map.ts";
import { SECTION_BREACHES } from "../../../../core/layout/row-frame.ts";
import { DAY_MS, MINUTE_MS } from "../../../../core/time/durations.ts";
import { pieceReader, StatePieces } from "../../../../domain/distribution/series-state.ts";
import { BREACHES_REMEMBERED_MS, type Breach, type BreachHabits } from "../../../../domain/saturation/breach-habits.ts";
import type { MessageHandler } from "../../shard/message-handler.ts";

/** Its breaches are in the order of time. */
interface BreachedSeries {
  readonly partition: number;
  readonly breaches: readonly Breach[];
}

/** Those of one of so many engines. */
export class PastBreaches implements MessageHandler {
  readonly kind = SECTION_BREACHES;
  readonly #seriesMax: number;
  /** By the key of the series, that with the oldest change first. */
  readonly #series = new Map<string, BreachedSeries>();
  readonly #keys: ReadonlyArray<Set<string>> = Array.from({ length: PARTITIONS }, () => new Set());

  constructor(engines: number) {
    this.#seriesMax = Math.ceil(SATURATION_BREACHED_MAX / engines);
  }

  /** What a series has had until a day ago, in the order of time; nothing where none is known. */
  of(key: string): readonly Breach[] {
    return this.#series.get(key)?.breaches ?? [];
  }

  /** Takes what is older than a day of a series of this partition, where it has come to be since it was asked. */
  keep(key: string, partition: number, habits: BreachHabits, nowMs: number): void {
    const breaches = habits.before((nowMs - DAY_MS) / MINUTE_MS);
    const [newest, known] = [breaches.at(-1), this.of(key).at(-1)];
    if (newest !== undefined && newest.minute !== known?.minute) this.#put(key, { partition, breaches });
  }

  /** Forgets series without a breach for as long as breaches are remembered. */
  expire(nowMs: number): void {
    const sinceMinute = (nowMs - BREACHES_REMEMBERED_MS) / MINUTE_MS;
    for (const [key, { breaches }] of this.#series) if ((breaches.at(-1) as Breach).minute < sinceMinute) this.#delete(key);
  }

  /** There are no messages of this kind. */
  take(): void {
    throw new Error("breaches take no messages");
  }

  *save(partition: number): Generator<Uint8Array> {
    const pieces = new StatePieces();
    for (const key of this.#keys[partition] as Set<string>) {
      const breaches = this.of(key);
      pieces.writer.text(key);
      pieces.writer.varint(breaches.length);
      for (const { minute, minutes, level } of breaches) {
        pieces.writer.varint(minute);
        pieces.writer.varint(minutes);
        pieces.writer.double(level);
      }
      yield* pieces.full();
    }
    yield* pieces.rest();
  }

  restore(partition: number, piece: Uint8Array): void {
    const reader = pieceReader(piece);
    while (!reader.isAtEnd) {
      const key = reader.text(Number.MAX_SAFE_INTEGER);
      const breaches = Array.from({ length: reader.varint() }, () => ({
        minute: reader.varint(),
        minutes: reader.varint(),
        level: reader.double(),
      }));
      this.#put(key, { partition, breaches });
    }
  }

  #put(key: string, series: BreachedSeries): void {
    this.#delete(key);
    this.#series.set(key, series);
    this.#keys[series.partition]?.add(key);
    if (this.#series.size > this.#seriesMax) this.#delete(this.#series.keys().next().value as string);
  }

  #delete(key: string): void {
    const found = this.#series.get(key);
    if (found === undefined) return;
    this.#series.delete(key);
    this.#keys[found.partition]?.delete(key);
  }
}
