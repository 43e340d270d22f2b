// The states of all streams as an orderly stop leaves them in the checkpoints, in a form in which two runs can be compared.

import { readPartitionPart } from "../../src/actors/engine/recovery/partition-state.ts";
import {
  SR_CHUNK_AT,
  SR_CLAMP_HIGH,
  SR_CLAMP_LOW,
  SR_COVERED,
  SR_FLAGS,
  SR_INTERVAL,
  SR_LAST_RAW,
  SR_LAST_TIME,
  SR_LAST_VALUE,
  SR_M2,
  SR_MASK,
  SR_MEAN,
  SR_PIVOT,
  SR_PREVIOUS_RAW,
  SR_RESOLUTION,
  SR_SAMPLES,
  SR_START_HIGH,
  SR_START_LOW,
  SR_STATE,
  SR_UNCHUNKED,
} from "../../src/core/layout/stream-record.ts";
import type { ByteCursor } from "../../src/domain/codec/varint.ts";
import { readColdEntries } from "../../src/domain/kernel/cold-entry.ts";
import { SnapshotReader } from "../../src/domain/kernel/stream-snapshot.ts";
import { identityName } from "../../src/domain/series/stream-identity.ts";
import { decodeCheckpointRow } from "../../src/modules/state/checkpoint-row.ts";
import { isOfArrival } from "./arrival-series.ts";
import type { MemoryStoreContents } from "./memory-store.ts";

/** Numbers that must be equal, and those that rounding may change. */
export interface StreamState {
  readonly exact: Readonly<Record<string, number | string>>;
  readonly near: Readonly<Record<string, number>>;
}

const WORDS = { flags: SR_FLAGS, unchunked: SR_UNCHUNKED, chunkAt: SR_CHUNK_AT, state: SR_STATE, apart: SR_COVERED };
const DOUBLES = {
  lastTime: SR_LAST_TIME,
  lastValue: SR_LAST_VALUE,
  lastRaw: SR_LAST_RAW,
  previousRaw: SR_PREVIOUS_RAW,
  interval: SR_INTERVAL,
  samples: SR_SAMPLES,
  startHigh: SR_START_HIGH,
  startLow: SR_START_LOW,
  resolution: SR_RESOLUTION,
};

/** States by identity, of streams that do not depend on when what was sent arrived. */
export function streamStates(series: MemoryStoreContents): Map<string, StreamState> {
  const states = new Map<string, StreamState>();
  const reader = new SnapshotReader();
  const visitor = {
    stream: (identity: Uint8Array, cursor: ByteCursor) => {
      if (!reader.decode(cursor)) throw new Error("a stored snapshot does not decode");
      const name = Buffer.from(identity).toString();
      if (!isOfArrival(identityName(name).metricName)) states.set(name, stateOf(reader));
    },
    handler: () => undefined,
    cold: () => undefined,
    ref: () => undefined,
    chunks: () => undefined,
  };
  for (const part of series.get("checkpoint_parts")?.values() ?? []) readPartitionPart(part, visitor);
  for (const row of series.get("checkpoints")?.values() ?? []) readPartitionPart(decodeCheckpointRow(row).last, visitor);
  for (const value of series.get("cold_streams")?.values() ?? []) {
    for (const { identity, snapshot } of readColdEntries(value.subarray(4))) {
      const name = Buffer.from(identity).toString();
      if (states.has(name)) throw new Error(`${name} is in memory and among the streams that left it`);
      visitor.stream(identity, { ...snapshot });
    }
  }
  return states;
}

function stateOf({ header, values, intervals, count }: SnapshotReader): StreamState {
  const double = (at: number) => header.getFloat64(at, true);
  const words = Object.entries(WORDS).map(([name, at]) => [name, header.getUint32(at, true)] as const);
  const doubles = Object.entries(DOUBLES).map(([name, at]) => [name, double(at)] as const);
  const hex = (buffer: ArrayBufferLike, from: number, bytes: number) => Buffer.from(buffer, from, bytes).toString("hex");
  return {
    exact: {
      ...Object.fromEntries([...words, ...doubles]),
      count,
      mask: hex(header.buffer, SR_MASK, 16),
      values: hex(values.buffer, 0, 8 * count),
      intervals: hex(intervals.buffer, 0, 8 * count),
    },
    near: { mean: double(SR_PIVOT) + double(SR_MEAN), m2: double(SR_M2), clampLow: double(SR_CLAMP_LOW), clampHigh: double(SR_CLAMP_HIGH) },
  };
}

/** Says where two states differ; nothing where they are alike up to rounding. */
export function stateDifferences(seen: ReadonlyMap<string, StreamState>, expected: ReadonlyMap<string, StreamState>): string[] {
  const differences: string[] = [];
  for (const [identity, state] of expected) {
    const other = seen.get(identity);
    if (other === undefined) {
      differences.push(`${identity} is missing`);
      continue;
    }
    for (const [name, value] of Object.entries(state.exact))
      if (other.exact[name] !== value) differences.push(`${identity} ${name}: ${other.exact[name]} instead of ${value}`);
    for (const [name, value] of Object.entries(state.near)) {
      const given = other.near[name] as number;
      if (Math.abs(given - value) > 1e-6 * Math.max(Math.abs(value), 1e-6))
        differences.push(`${identity} ${name}: ${given} instead of ${value}`);
    }
  }
  for (const identity of seen.keys()) if (!expected.has(identity)) differences.push(`${identity} is too many`);
  return differences;
}
