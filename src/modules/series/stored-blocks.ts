// The stored blocks of a partition, for what reads many of them beside commits and in no hurry.
import type { KeyValueStore } from "../../adapters/storage/key-value-store.ts";
import type { PacedWork } from "../../core/fairness/paced-work.ts";
import { ChunkBlock } from "../../domain/codec/chunk-block.ts";
import { blockKey } from "../state/tables.ts";
import { type BlockSpan, newestSpans } from "./block-rows.ts";

const SPANS_PER_PIECE = 100;

export interface StoredBlocksDependencies {
  readonly series: KeyValueStore;
  readonly paced: PacedWork;
  /** The store may be closed from then on. */
  isStopping(): boolean;
}

/** The blocks with something from `fromMs` on, the newest first, until a stop begins. They are listed before the first is given; one that retention has deleted meanwhile is left out. */
export async function* newestBlocks(partition: number, fromMs: number, dependencies: StoredBlocksDependencies): AsyncGenerator<ChunkBlock> {
  const { series, paced, isStopping } = dependencies;
  for (const { block } of await spansFrom(partition, fromMs, dependencies)) {
    if (isStopping()) return;
    const opened = paced.do(() => openBlock(series, blockKey(partition, block)));
    if (opened !== undefined) yield opened;
    await paced.pause();
  }
}

async function spansFrom(partition: number, fromMs: number, { series, paced, isStopping }: StoredBlocksDependencies): Promise<BlockSpan[]> {
  const listed = newestSpans(series, partition, 0);
  const spans: BlockSpan[] = [];
  const listSome = () => {
    for (let i = 0; i < SPANS_PER_PIECE; i++) {
      const { done, value } = listed.next();
      if (done) return true;
      if (value.maxMs >= fromMs) spans.push(value);
    }
    return false;
  };
  for (let isOver = false; !isOver && !isStopping(); await paced.pause()) isOver = paced.do(listSome);
  return spans;
}

function openBlock(series: KeyValueStore, key: Uint8Array): ChunkBlock | undefined {
  const bytes = series.get("blocks", key);
  if (bytes === undefined) return undefined;
  const block = ChunkBlock.open(bytes);
  if (block === undefined) throw new Error("a stored block does not open");
  return block;
}
