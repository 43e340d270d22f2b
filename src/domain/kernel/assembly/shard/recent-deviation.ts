// How far a stream's newest values lie from those before them: the robust z of their median (test/support/recent-deviation.ts is the slow twin).
// About 0.6 us for a full ring, and the misses of its 22 lines.
import { SD_MIN, SD_RELATIVE_MIN } from "../../../../core/layout/sd-floors";
import { SR_COUNT, SR_HEAD, SR_LAST_TIME, WINDOW_MAX } from "../../../../core/layout/stream-record";
import { limited } from "./shard-statistics";
import { intervalsOf, recordOf, valuesOf } from "./shard-table";

/** Values that a baseline needs, and the part of the ring that is always baseline, as a shift: 30 of 120. */
const BASELINE_MIN: u32 = 12;
const BASELINE_SHIFT: u32 = 2;
/** Standard deviation of a normal, in median absolute deviations and in mean absolute deviations; the largest z. */
const SD_PER_MAD: f64 = 1.4826022185056018;
const SD_PER_MEAN_DEVIATION: f64 = 1.253314;
const Z_MAX: f64 = 99;

const RECENT = memory.data(8 * WINDOW_MAX, 16);
const BASELINE = memory.data(8 * WINDOW_MAX, 16);

/** Robust z of the median of the slot's values from `sinceMs` on against those before; NaN where there are none of one kind. Within +-99. */
export function recentDeviation(slot: u32, sinceMs: f64): f64 {
  const r = recordOf(slot);
  const count = load<u32>(r, SR_COUNT);
  let time = load<f64>(r, SR_LAST_TIME);
  const olderMin = max(BASELINE_MIN, count >> BASELINE_SHIFT);
  if (time < sinceMs || count <= olderMin) return NaN;
  const values = valuesOf(r, count), intervals = intervalsOf(r, count);
  let index = load<u32>(r, SR_HEAD);
  let recent: u32 = 0, baseline: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    index = (index == 0 ? <u32>WINDOW_MAX : index) - 1;
    const value = limited(load<f64>(values + (<usize>index << 3)));
    if (time >= sinceMs && count - i > olderMin) {
      store<f64>(RECENT + (<usize>recent << 3), value);
      recent++;
    } else {
      store<f64>(BASELINE + (<usize>baseline << 3), value);
      baseline++;
    }
    time -= <f64>load<u32>(intervals + (<usize>index << 2));
  }
  const center = median(BASELINE, baseline);
  const z = (median(RECENT, recent) - center) / spread(baseline, center);
  return z != z ? 0 : min(max(z, -Z_MAX), Z_MAX);
}

/** Standard deviation that the baseline speaks of; leaves it as deviations from the center. */
function spread(count: u32, center: f64): f64 {
  let sum: f64 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const deviation = abs(load<f64>(BASELINE + (<usize>i << 3)) - center);
    store<f64>(BASELINE + (<usize>i << 3), deviation);
    sum += deviation;
  }
  const mad = median(BASELINE, count);
  if (mad > 0) return mad * SD_PER_MAD;
  return sum > 0 ? (SD_PER_MEAN_DEVIATION * sum) / <f64>count : max(SD_MIN, SD_RELATIVE_MIN * abs(center));
}

/** Median of `count` > 0 values, whose order changes; the mean of the middle two for an even number. */
function median(at: usize, count: u32): f64 {
  const middle = count >> 1;
  const upper = select(at, count, middle);
  if ((count & 1) == 1) return upper;
  let lower = load<f64>(at);
  for (let i: u32 = 1; i < middle; i++) lower = max(lower, load<f64>(at + (<usize>i << 3)));
  return lower + (upper - lower) / 2;
}

/** Hoare's selection: the value that would stand at `k` in order; none before it is larger afterwards, none behind it smaller. */
function select(at: usize, count: u32, k: i32): f64 {
  const target = at + (<usize>k << 3);
  let left: i32 = 0, right: i32 = <i32>count - 1;
  while (left < right) {
    const pivot = load<f64>(target);
    let i = left, j = right;
    do {
      while (load<f64>(at + (<usize>i << 3)) < pivot) i++;
      while (pivot < load<f64>(at + (<usize>j << 3))) j--;
      if (i <= j) {
        const a = at + (<usize>i << 3), b = at + (<usize>j << 3), value = load<f64>(a);
        store<f64>(a, load<f64>(b));
        store<f64>(b, value);
        i++;
        j--;
      }
    } while (i <= j);
    if (j < k) left = i;
    if (k < i) right = j;
  }
  return load<f64>(target);
}
