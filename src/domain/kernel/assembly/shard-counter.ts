// Cumulative values become per-interval deltas (research/algorithms.md section 6). A fall is a reset: the new value is the delta, unless it
// lies far beyond every delta seen. When the interval differs from the usual one by more than twice, the delta is scored per usual interval.
import { EVENT_FLAG_IMPLAUSIBLE, EVENT_FLAG_IRREGULAR, EVENT_FLAG_RESET, EVENT_RESET } from "../../../core/layout/kernel-event";
import {
  FLAG_HAS_PREVIOUS, FLAG_HAS_RAW, SR_COUNT, SR_FLAGS, SR_INTERVAL, SR_LAST_RAW, SR_PREVIOUS_RAW,
} from "../../../core/layout/stream-record";
import { countReset, emitPlain } from "./shard-event";
import { valuesOf } from "./shard-table";

/** A fall by less than this is rounding of the sender. */
const RELATIVE_NOISE: f64 = 1e-9;
const IMPLAUSIBLE_FACTOR: f64 = 10;
const IMPLAUSIBLE_VALUES_MIN: u32 = 12;
const IRREGULAR_FACTOR: f64 = 2;

/** Result of the last convert(): the delta as stored, the same as scored, and EVENT_FLAG_*. */
export let storedDelta: f64 = 0;
export let scoredDelta: f64 = 0;
export let deltaFlags: u32 = 0;

/** Takes a cumulative value `elapsed` ms after the one before. False for a stream's first value, which is a baseline only. */
export function convert(r: usize, slot: u32, time: f64, value: f64, elapsed: f64, arrivalMs: f64): bool {
  const flags = load<u32>(r, SR_FLAGS);
  const previous = load<f64>(r, SR_LAST_RAW);
  store<f64>(r, value, SR_LAST_RAW);
  if ((flags & FLAG_HAS_RAW) == 0) {
    store<u32>(r, flags | FLAG_HAS_RAW, SR_FLAGS);
    return false;
  }
  store<f64>(r, previous, SR_PREVIOUS_RAW);
  if ((flags & FLAG_HAS_PREVIOUS) == 0) store<u32>(r, flags | FLAG_HAS_PREVIOUS, SR_FLAGS);
  deltaFlags = 0;
  if (value < previous - RELATIVE_NOISE * abs(previous)) reset(r, slot, time, value, arrivalMs);
  else storedDelta = min(max(value - previous, 0.0), f64.MAX_VALUE);
  scoredDelta = storedDelta;
  const usual = load<f64>(r, SR_INTERVAL);
  if (usual > 0 && (elapsed > IRREGULAR_FACTOR * usual || elapsed * IRREGULAR_FACTOR < usual)) {
    deltaFlags |= EVENT_FLAG_IRREGULAR;
    scoredDelta = storedDelta * (usual / elapsed);
  }
  return true;
}

function reset(r: usize, slot: u32, time: f64, value: f64, arrivalMs: f64): void {
  const implausible = load<u32>(r, SR_COUNT) >= IMPLAUSIBLE_VALUES_MIN && value > IMPLAUSIBLE_FACTOR * largest(r);
  storedDelta = implausible ? 0 : value;
  deltaFlags = implausible ? EVENT_FLAG_RESET | EVENT_FLAG_IMPLAUSIBLE : EVENT_FLAG_RESET;
  countReset();
  emitPlain(EVENT_RESET, slot, time, value, deltaFlags, arrivalMs);
}

/** Largest delta in the ring. */
function largest(r: usize): f64 {
  const count = load<u32>(r, SR_COUNT);
  const values = valuesOf(r, count);
  let result: f64 = 0;
  for (let i: u32 = 0; i < count; i++) result = max(result, load<f64>(values + (<usize>i << 3)));
  return result;
}
