// Cases of the shard's kernel: statistics and episodes of windows, and the packing of a full ring into a chunk.
import assert from "node:assert/strict";
import { EVENT_CHUNK_DUE } from "../../src/core/layout/kernel-event.ts";
import { SCRATCH, STAGING } from "../../src/core/layout/memory-map.ts";
import { ROW_BYTES, ROW_OFFSET, ROW_REF, ROW_VALUE } from "../../src/core/layout/row-frame.ts";
import { WINDOW_MAX } from "../../src/core/layout/stream-record.ts";
import { CHUNK_BYTES_MAX, encodeSampleChunk } from "../../src/domain/codec/sample-chunk.ts";
import { StreamOracle } from "../../src/domain/detection/stream-oracle.ts";
import { ShardRig } from "../../test/support/shard-rig.ts";
import { seededRandom } from "../bodies/series-labels.mjs";

const streams = 1_000;
/** Sets of rows that take turns, so that no window becomes constant; 16 x 1,000 rows of 16 bytes fit the staging area. */
const rowSets = 16;
const stepMs = 1_000;

/** Rows of 1,000 streams with full windows; the twin takes every statistic exactly from the window each time. */
export async function windowCase() {
  const rig = new ShardRig({ window: WINDOW_MAX });
  const slots = Array.from({ length: streams }, () => rig.stream());
  const random = seededRandom(7);
  const values = Array.from({ length: rowSets }, (_, set) =>
    slots.map((slot, i) => stageRow(rig, set * streams + i, slot, 100 + random())),
  );
  const options = { window: WINDOW_MAX, tables: rig.shard.thresholdTables, counter: false, operation: false };
  const oracles = slots.map(() => new StreamOracle(options));
  const clock = { kernel: 0, oracle: 0 };
  const apply = () => applySet(rig, clock.kernel++);
  const applySlowly = () => {
    const step = clock.oracle++;
    const set = values[step % rowSets];
    for (let i = 0; i < streams; i++) oracles[i].apply((step + 1) * stepMs, set[i]);
  };
  for (let i = 0; i < 2 * WINDOW_MAX; i++) {
    apply();
    applySlowly();
  }
  for (const place of [0, streams - 1]) {
    const [fast, slow] = [rig.statistics(slots[place]), oracles[place].statistics];
    assert.ok(Math.abs(fast.mean - slow.mean) < 1e-9 && Math.abs(fast.m2 - slow.m2) < 1e-6, "kernel and oracle differ");
  }
  return { units: streams, contestants: { kernel: apply, "oracle in TypeScript": applySlowly } };
}

function stageRow(rig, place, slot, value) {
  const at = STAGING + place * ROW_BYTES;
  rig.view.setUint32(at + ROW_REF, slot, true);
  rig.view.setUint32(at + ROW_OFFSET, 0, true);
  rig.view.setFloat64(at + ROW_VALUE, value, true);
  return value;
}

/** One row for each stream; chunks that fall due are declared taken. */
function applySet(rig, step) {
  const from = STAGING + (step % rowSets) * streams * ROW_BYTES;
  for (let done = 0; done < streams; ) {
    done += rig.shard.applyRows(from + done * ROW_BYTES, streams - done, (step + 1) * stepMs, 1);
    const events = rig.shard.eventsCount();
    for (let i = 0; i < events; i++) {
      const event = rig.shard.event(i);
      if (event.kind === EVENT_CHUNK_DUE) rig.shard.chunkTaken(event.slot);
    }
    if (events > 0) rig.shard.eventsReset();
  }
}

/** A full ring of a random walk of 3 decimals at a constant interval. */
export async function chunkCase() {
  const rig = new ShardRig({ window: WINDOW_MAX });
  const slot = rig.stream();
  const random = seededRandom(8);
  for (let i = 0, value = 50; i < WINDOW_MAX - 1; i++, value += random() - 0.5)
    rig.apply(slot, (i + 1) * stepMs, Math.round(value * 1000) / 1000);
  const count = rig.shard.records.unchunked(slot);
  const [times, values, chunk] = [new Float64Array(WINDOW_MAX), new Float64Array(WINDOW_MAX), new Uint8Array(CHUNK_BYTES_MAX)];
  const encode = () => {
    rig.shard.records.readNewest(slot, count, times, values);
    return encodeSampleChunk(times, values, count, chunk, 0);
  };
  const bytes = encode();
  const contestants = { "encoder in TypeScript": encode };
  if (rig.kernel.packChunk === undefined) return { units: count, contestants };
  const pack = () => rig.shard.packChunk(slot, SCRATCH);
  assert.equal(pack(), bytes);
  return { units: count, contestants: { kernel: pack, ...contestants } };
}
