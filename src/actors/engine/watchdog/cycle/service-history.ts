// What an engine holds of a service's streams for a training: rings, and chunks that are in no stored block. The coordinator adds what is stored.
import { WINDOW_MAX } from "../../../../core/layout/stream-record.ts";
import type { ServiceHistoryAnswer } from "../../../../core/protocol/engine-control.ts";
import { STREAM_ID_BYTES } from "../../../../domain/codec/chunk-block.ts";
import type { ServicePlan } from "../../../../domain/detection/monitored-service/service-plan.ts";
import type { StreamRecords } from "../../../../domain/kernel/stream-records.ts";
import type { Partition } from "../../streams/partition.ts";

export interface ServiceHistoryDependencies {
  readonly records: StreamRecords;
  hashOf(slot: number): Uint8Array;
  partition(number: number): Partition;
}

/** The answer for a service that is not monitored. */
export function noHistory(id: number): ServiceHistoryAnswer {
  const none = { aggregations: new Uint8Array(0), starts: new Uint16Array(1), streamIds: new Uint8Array(0), counts: new Uint8Array(0) };
  return {
    type: "service-history",
    id,
    columns: "",
    names: [],
    ...none,
    times: new Float64Array(0),
    values: new Float64Array(0),
    pendingChunks: [],
  };
}

/** The answer for the plan of a service in that partition. */
export function serviceHistory(
  id: number,
  of: { readonly plan: ServicePlan; readonly partition: number },
  { records, hashOf, partition }: ServiceHistoryDependencies,
): ServiceHistoryAnswer {
  const { slots, shape } = of.plan;
  const { columns, names, aggregations, starts } = shape;
  const counts = Uint8Array.from(slots, (slot) => records.count(slot));
  const total = counts.reduce((sum, count) => sum + count, 0);
  const [times, values] = [new Float64Array(total), new Float64Array(total)];
  const [ringTimes, ringValues] = [new Float64Array(WINDOW_MAX), new Float64Array(WINDOW_MAX)];
  const streamIds = new Uint8Array(STREAM_ID_BYTES * slots.length);
  const places = new Map<string, number>();
  let at = 0;
  slots.forEach((slot, index) => {
    const count = records.readRing(slot, ringTimes, ringValues);
    times.set(ringTimes.subarray(0, count), at);
    values.set(ringValues.subarray(0, count), at);
    at += count;
    const hash = hashOf(slot);
    streamIds.set(hash, STREAM_ID_BYTES * index);
    places.set(Buffer.from(hash).toString("latin1"), index);
  });
  const pendingChunks: Array<readonly [number, Uint8Array]> = [];
  for (const { streamId, chunk } of partition(of.partition).chunks.pending()) {
    const index = places.get(Buffer.from(streamId).toString("latin1"));
    if (index !== undefined) pendingChunks.push([index, new Uint8Array(chunk)]);
  }
  return { type: "service-history", id, columns, names, aggregations, starts, streamIds, counts, times, values, pendingChunks };
}
