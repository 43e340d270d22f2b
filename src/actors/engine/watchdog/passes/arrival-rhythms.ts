// How often the services of one engine send, by partition: made by the Watchdog's pass over arrivals, and kept in checkpoints, since habits go back for weeks and rings
// for minutes. After a start the rings give what came behind the checkpoint.
import { PARTITIONS } from "../../../../core/layout/memory-map.ts";
import { SECTION_ARRIVALS } from "../../../../core/layout/row-frame.ts";
import type { OffsetMs } from "../../../../domain/detection/seasonal/time-zone-hours.ts";
import { ArrivalRhythm } from "../../../../domain/detection/service/arrival-rhythm.ts";
import { pieceReader, StatePieces } from "../../../../domain/distribution/series-state.ts";
import { partitionOf } from "../../../../domain/placement/partition.ts";
import type { MessageHandler } from "../../shard/message-handler.ts";

/** What is known of the arrivals of a service in one environment. */
export interface KnownArrivals {
  readonly rhythm: ArrivalRhythm;
  /** First sample of the service, of whichever environment; streams that leave memory do not make it younger. */
  firstSeenMs: number;
}

/** Bounded by the shares of who asks for them. */
export class ArrivalRhythms implements MessageHandler {
  readonly kind = SECTION_ARRIVALS;
  readonly #offsetMs: OffsetMs;
  readonly #known: ReadonlyArray<Map<string, KnownArrivals>> = Array.from({ length: PARTITIONS }, () => new Map());

  /** `offsetMs` is that of DETECTION_TIMEZONE. */
  constructor(offsetMs: OffsetMs) {
    this.#offsetMs = offsetMs;
  }

  /** Keys of all that are known: environment, a zero byte and serviceKey(). */
  *keys(): Iterable<string> {
    for (const known of this.#known) yield* known.keys();
  }

  /** A new one where nothing is known. */
  obtain(key: string): KnownArrivals {
    const known = this.#of(key);
    const found = known.get(key) ?? { rhythm: new ArrivalRhythm(this.#offsetMs), firstSeenMs: Number.POSITIVE_INFINITY };
    known.set(key, found);
    return found;
  }

  delete(key: string): void {
    this.#of(key).delete(key);
  }

  /** There are no messages of this kind. */
  take(): void {
    throw new Error("the rhythms of services take no messages");
  }

  *save(partition: number): Generator<Uint8Array> {
    const pieces = new StatePieces();
    for (const [key, { rhythm, firstSeenMs }] of this.#known[partition] as Map<string, KnownArrivals>) {
      pieces.writer.text(key);
      pieces.writer.double(firstSeenMs);
      rhythm.write(pieces.writer);
      yield* pieces.full();
    }
    yield* pieces.rest();
  }

  restore(partition: number, piece: Uint8Array): void {
    const reader = pieceReader(piece);
    while (!reader.isAtEnd) {
      const key = reader.text(Number.MAX_SAFE_INTEGER);
      const firstSeenMs = reader.double();
      (this.#known[partition] as Map<string, KnownArrivals>).set(key, {
        firstSeenMs,
        rhythm: ArrivalRhythm.read(reader, this.#offsetMs),
      });
    }
  }

  onInterval(): void {
    // Nothing is due.
  }

  #of(key: string): Map<string, KnownArrivals> {
    const [tenant, serviceId] = JSON.parse(key.slice(key.indexOf("\0") + 1)) as [string, string];
    return this.#known[partitionOf(tenant, serviceId)] as Map<string, KnownArrivals>;
  }
}
