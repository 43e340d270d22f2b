// A look at rows that were stored before values had checksums (adapters/storage/value-seal.ts): what does not read as a row of its table must not get one.
import type { StoreEntry } from "../../../adapters/storage/key-value-store.ts";
import { ChunkBlock } from "../../../domain/codec/chunk-block.ts";
import { decodeSpan } from "../series/block-rows.ts";
import { decodeCheckpointRow } from "../state/checkpoint-row.ts";
import { decodeStored } from "../state/stored-json.ts";

const STORED_JSON_VERSION = 1;
const BRACE = 0x7b;

/** Throws, in words, where the value cannot be one of the table. Not all can be told. */
export function checkUnsealedRow(table: string, { key, value }: StoreEntry): void {
  const check = CHECKS[table];
  if (check !== undefined) check(key, value);
  else if (value[0] === STORED_JSON_VERSION && value[1] === BRACE) decodeStored(value);
}

const CHECKS: Readonly<Record<string, (key: Uint8Array, value: Uint8Array) => void>> = {
  checkpoints: (_key, value) => void decodeCheckpointRow(value),
  block_spans: (key, value) => void decodeSpan(key, value),
  blocks: (_key, value) => {
    if (ChunkBlock.open(value) === undefined) throw new Error("its checksum is wrong");
  },
};
