// What a shard does with levels that people take for the usual ones: streams with an open episode begin their window anew with the next value, and detectors that look
// less often find it noted. A few such messages a day.
import { SECTION_ACCEPTED_LEVELS } from "../../../core/layout/row-frame.ts";
import type { StreamName } from "../../../core/protocol/coordinator-frame.ts";
import { acceptLevel } from "../../../domain/detection/ended-episodes.ts";
import type { AcceptedLevels, TenantPair } from "../../../domain/detection/pair/accepted-levels.ts";
import type { StreamRecords } from "../../../domain/kernel/stream-records.ts";
import { serviceKey } from "../../../domain/series/stream-identity.ts";
import type { ServiceIndex } from "../streams/service-index.ts";
import type { MessageHandler } from "./message-handler.ts";

/** Pairs in a piece of a checkpoint: with names of 1 KiB each it is below 64 KiB. */
const PAIRS_PER_PIECE = 12;

export interface LevelHandlerDependencies {
  readonly levels: AcceptedLevels;
  readonly services: Pick<ServiceIndex, "catchUp" | "servicesOf">;
  readonly records: StreamRecords;
  readonly nameOf: (slot: number) => StreamName;
}

/** Handler of SECTION_ACCEPTED_LEVELS. */
export class LevelHandler implements MessageHandler {
  readonly kind = SECTION_ACCEPTED_LEVELS;
  readonly #dependencies: LevelHandlerDependencies;

  constructor(dependencies: LevelHandlerDependencies) {
    this.#dependencies = dependencies;
  }

  take(partition: number, payload: Uint8Array): void {
    const pair = JSON.parse(Buffer.from(payload).toString("utf8")) as TenantPair;
    const { levels, services, records } = this.#dependencies;
    levels.take(partition, pair);
    services.catchUp(Number.POSITIVE_INFINITY);
    for (const slot of services.servicesOf(pair.tenant).get(serviceKey(pair.tenant, pair.serviceId)) ?? []) {
      if (records.hasEpisode(slot) && this.#isOf(slot, pair)) acceptLevel(records, slot, pair.atMs);
    }
  }

  #isOf(slot: number, { environment, metricName }: TenantPair): boolean {
    const name = this.#dependencies.nameOf(slot);
    return name.metricName === metricName && name.environment === environment;
  }

  *save(partition: number): Generator<Uint8Array> {
    const pairs = this.#dependencies.levels.ofPartition(partition);
    for (let from = 0; from < pairs.length; from += PAIRS_PER_PIECE) {
      yield Buffer.from(JSON.stringify(pairs.slice(from, from + PAIRS_PER_PIECE)));
    }
  }

  restore(partition: number, piece: Uint8Array): void {
    const pairs = JSON.parse(Buffer.from(piece).toString("utf8")) as readonly TenantPair[];
    for (const pair of pairs) this.#dependencies.levels.take(partition, pair);
  }
}
