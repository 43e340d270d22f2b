// The table `detector_states`: pages of states of the Watchdog's detectors, as engines send and want them.
import type { KeyValueStore, StoreOperation } from "../../adapters/storage/key-value-store.ts";
import { DETECTOR_STATES_ANSWER_BYTES } from "../../core/config/limits.ts";
import { readStatesFrame } from "../../core/protocol/coordinator-frame.ts";
import type { DetectorStates, DetectorStatesWanted } from "../../core/protocol/engine-control.ts";
import { KeyReader } from "../../domain/codec/key.ts";
import { detectorStatesKey } from "../state/tables.ts";

const PAGES_PER_STEP = 8;

/** Puts the page of a FRAME_DETECTOR_STATES, or deletes it where it has no bytes. */
export function detectorStatesOperation(payload: Uint8Array): StoreOperation {
  const { partition, detector, page, bytes } = readStatesFrame(payload);
  return { table: "detector_states", key: detectorStatesKey(partition, detector, page), value: bytes.length === 0 ? undefined : bytes };
}

/** The stored pages of a partition from `page` on, as many as one answer takes. */
export function readDetectorStates(store: KeyValueStore, { detector, partition, page }: DetectorStatesWanted): DetectorStates {
  const pages: Array<{ page: number; bytes: Uint8Array }> = [];
  const to = detectorStatesKey(partition, detector + 1, 0);
  let next: number | null = page;
  for (let bytes = 0; next !== null && bytes < DETECTOR_STATES_ANSWER_BYTES; ) {
    const entries = store.range("detector_states", { from: detectorStatesKey(partition, detector, next), to, limit: PAGES_PER_STEP });
    for (const { key, value } of entries) {
      const reader = new KeyReader(key);
      reader.u16();
      reader.u16();
      const number = reader.u32();
      pages.push({ page: number, bytes: value });
      bytes += value.length;
      next = number + 1;
    }
    if (entries.length < PAGES_PER_STEP) next = null;
  }
  return { type: "detector-states", detector, partition, pages, next };
}
