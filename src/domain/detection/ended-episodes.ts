// Episodes that end although no sample ended them: of a stream that is no longer evaluated, or on a level that somebody takes for the usual one.
import { EVENT_CLOSE, EVENT_FLAG_HIGH } from "../../core/layout/kernel-event.ts";
import {
  FLAG_ACCEPT,
  FLAG_CONSTANT_SUSPECT_HIGH,
  FLAG_CONSTANT_SUSPECT_LOW,
  SR_BEHIND,
  SR_BEYOND,
  SR_FLAGS,
  SR_PEAK_HIGH,
  SR_PEAK_LOW,
  SR_START_HIGH,
  SR_START_LOW,
  SR_STATE,
  STATE_LOW_SHIFT,
  STATE_OPEN,
} from "../../core/layout/stream-record.ts";
import type { ShardEvent } from "../kernel/shard-events.ts";
import type { ShardKernel } from "../kernel/shard-kernel.ts";
import { windowStatistics } from "./welford.ts";

/** Forgets a stream's episodes; the closing of each that was open, as the kernel would have told it with the newest sample. */
export function endEpisodes(kernel: Pick<ShardKernel, "records" | "baseline">, slot: number): ShardEvent[] {
  const { records } = kernel;
  const at = records.address(slot);
  const state = records.view.getUint32(at + SR_STATE, true);
  const closings: ShardEvent[] = [];
  const close = (isHigh: boolean) => {
    const timeMs = records.lastTimeMs(slot);
    const { count, mean, m2 } = windowStatistics(Float64Array.from(kernel.baseline(slot, timeMs).values));
    const sd = count > 1 ? Math.sqrt(m2 / (count - 1)) : 0;
    closings.push({
      kind: EVENT_CLOSE,
      slot,
      timeMs,
      value: records.lastValue(slot),
      mean,
      sd,
      rawSd: sd,
      ratio: 0,
      count,
      flags: isHigh ? EVENT_FLAG_HIGH : 0,
      startMs: records.view.getFloat64(at + (isHigh ? SR_START_HIGH : SR_START_LOW), true),
      peak: records.view.getFloat32(at + (isHigh ? SR_PEAK_HIGH : SR_PEAK_LOW), true),
      arrivalMs: 0,
    });
  };
  if ((state & STATE_OPEN) !== 0) close(true);
  if ((state & (STATE_OPEN << STATE_LOW_SHIFT)) !== 0) close(false);
  records.view.setUint32(at + SR_STATE, 0, true);
  // The window goes on from what it was before them.
  if (closings.length > 0) records.view.setUint8(at + SR_BEHIND, 0);
  records.view.setUint8(at + SR_BEYOND, 0);
  records.clearFlags(slot, FLAG_CONSTANT_SUSPECT_HIGH | FLAG_CONSTANT_SUSPECT_LOW);
  return closings;
}

/** Has the next value on the level of an open episode that began by then end it as the usual one; once more changes nothing. */
export function acceptLevel(records: ShardKernel["records"], slot: number, atMs: number): void {
  const at = records.address(slot);
  const state = records.view.getUint32(at + SR_STATE, true);
  const isOf = (open: number, start: number) => (state & open) !== 0 && records.view.getFloat64(at + start, true) <= atMs;
  if (!isOf(STATE_OPEN, SR_START_HIGH) && !isOf(STATE_OPEN << STATE_LOW_SHIFT, SR_START_LOW)) return;
  records.view.setUint32(at + SR_FLAGS, records.flags(slot) | FLAG_ACCEPT, true);
}
