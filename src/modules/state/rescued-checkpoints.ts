/**
 * Checkpoints among rows that were rescued from a damaged store. One that misses its row or a part would stop the start, or have the start delete its partition's blocks; in its
 * place comes one without streams. They are then learned anew, from what the log still holds on, and what is stored of them stays.
 */

import type { StoreOperation } from "../../adapters/storage/key-value-store.ts";
import { getOrMake } from "../../core/collections/get-or-make.ts";
import { ownMember } from "../../core/collections/own-member.ts";
import { PARTITIONS } from "../../core/layout/memory-map.ts";
import type { CheckpointHeader } from "../../core/protocol/coordinator-frame.ts";
import { ChunkBlockBuilder } from "../../domain/codec/chunk-block-builder.ts";
import { KeyReader } from "../../domain/codec/key.ts";
import { decodeCheckpointRow, encodeCheckpointRow } from "./checkpoint-row.ts";
import { checkpointPartKey, partitionKey } from "./tables.ts";

/** Version and kind of the part with the waiting chunks (actors/engine/recovery/partition-state.ts). */
const CHUNKS_PART = [3, 3];
/** More than the streams that can have left memory behind the last batch that is known. */
export const SERIALS_LEFT_OUT = 2_000_000;

interface Found {
  header: CheckpointHeader | undefined;
  nextBlock: number;
  nextSerial: number;
  generation: number;
  /** "generation/part". */
  readonly parts: Set<string>;
}

/** Takes the rows of a rescued `series`, and then says what has to be put to them. */
export class RescuedCheckpoints {
  readonly #found = new Map<number, Found>();
  readonly #take: Readonly<Record<string, (key: KeyReader, value: Uint8Array) => void>> = {
    blocks: (key) => {
      const found = this.#of(key.u16());
      found.nextBlock = Math.max(found.nextBlock, key.u32() + 1);
    },
    cold_streams: (key) => {
      const found = this.#of(key.u16());
      found.nextSerial = Math.max(found.nextSerial, key.u32() + SERIALS_LEFT_OUT);
    },
    checkpoint_parts: (key) => {
      const found = this.#of(key.u16());
      const generation = key.u32();
      found.generation = Math.max(found.generation, generation);
      found.parts.add(`${generation}/${key.u32()}`);
    },
    checkpoints: (key, value) => {
      this.#of(key.u16()).header = decodeCheckpointRow(value).header;
    },
  };

  take(table: string, key: Uint8Array, value: Uint8Array): void {
    ownMember(this.#take, table)?.(new KeyReader(key), value);
  }

  /** Partitions whose state is lost, and the operations that put an empty one in its place. Call it once, when all rows are in. */
  replacements(): { readonly partitions: readonly number[]; readonly operations: readonly StoreOperation[] } {
    const lost = [...this.#found].filter(([partition, found]) => partition < PARTITIONS && !isWhole(found));
    const operations = lost.flatMap(([partition, found]) => [
      ...[...found.parts].map((part) => ({ table: "checkpoint_parts", key: partKey(partition, part), value: undefined })),
      { table: "checkpoints", key: partitionKey(partition), value: emptyCheckpoint(partition, found) },
    ]);
    return { partitions: lost.map(([partition]) => partition), operations };
  }

  #of(partition: number): Found {
    const none = (): Found => ({ header: undefined, nextBlock: 0, nextSerial: 0, generation: 0, parts: new Set() });
    return getOrMake(this.#found, partition, none);
  }
}

function partKey(partition: number, part: string): Uint8Array {
  const [generation, number] = part.split("/").map(Number) as [number, number];
  return checkpointPartKey(partition, generation, number);
}

function isWhole({ header, parts }: Found): boolean {
  if (header === undefined) return false;
  for (let part = 0; part < header.parts; part++) if (!parts.has(`${header.generation}/${part}`)) return false;
  return true;
}

/** Checkpoint of an epoch before all: every log that is there is read again. */
export function emptyCheckpoint(partition: number, { header, nextBlock, nextSerial, generation }: Omit<Found, "parts">): Uint8Array {
  const empty: CheckpointHeader = {
    partition,
    epoch: 0,
    vector: [],
    nextBlock: Math.max(nextBlock, header?.nextBlock ?? 0),
    streams: 0,
    generation: Math.max(generation, header?.generation ?? 0) + 1,
    parts: 0,
    nextSerial: Math.max(nextSerial, header?.nextSerial ?? 0),
    coldBytes: 0,
  };
  const json = Buffer.from(JSON.stringify(empty));
  const state = Buffer.concat([Buffer.from(CHUNKS_PART), new ChunkBlockBuilder().serialise()]);
  const stateAt = 4 + ((json.length + 3) & ~3);
  const payload = Buffer.alloc(stateAt + state.length);
  payload.writeUInt32LE(json.length, 0);
  payload.set(json, 4);
  payload.set(state, stateAt);
  return encodeCheckpointRow(payload);
}
