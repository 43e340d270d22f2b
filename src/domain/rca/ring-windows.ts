// The windows of a series as an engine holds it: the last 120 values and their times. A cause departs before its first symptom is declared, so the window
// begins up to a minute earlier, by four values at most: of a stream of one second the ring is two minutes, and the baseline must not be the incident.
import type { SeriesWindows } from "./departure.ts";

const LEAD_MS = 60_000;
const LEAD_VALUES_MAX = 4;
/** Fewer could not tell an unusual window from the rest. */
const PAST_WINDOWS_MIN = 10;
const PAST_WINDOWS_MAX = 24;
/** One array for each number of windows: made anew for each series they cost as much as all else here. */
const LEADS = Array.from({ length: PAST_WINDOWS_MAX + 1 }, (_, windows) => new Float64Array(windows));

/** The windows, and where the one since the onset begins among the values. */
export interface RingWindows {
  readonly windows: SeriesWindows;
  readonly start: number;
}

/** Cuts `count` values, oldest first, into views of them, which hold until the next call; undefined where there is nothing since the onset or too little before it. */
export function ringWindows(
  times: ArrayLike<number>,
  values: Float64Array,
  count: number,
  { onsetMs, untilMs }: { readonly onsetMs: number; readonly untilMs: number },
): RingWindows | undefined {
  let end = count;
  while (end > 0 && times[end - 1]! > untilMs) end--;
  let first = end;
  while (first > 0 && times[first - 1]! >= onsetMs) first--;
  if (first === end) return undefined;
  let lead = 0;
  while (lead < LEAD_VALUES_MAX && lead < first && times[first - lead - 1]! >= onsetMs - LEAD_MS) lead++;
  // Where what is before allows only a short window, most of it is to be since the onset.
  while (lead > 0 && isCut(first - lead, end) && 2 * lead > widthOf(first - lead, end)) lead--;
  const start = first - lead;
  const width = widthOf(start, end);
  if (width < 1) return undefined;
  const windows = Math.min(PAST_WINDOWS_MAX, Math.floor(start / width));
  const from = start - windows * width;
  const pastLeads = LEADS[windows]!;
  for (let i = 0; i < windows; i++) pastLeads[i] = from + i * width === 0 ? Number.NaN : values[from + i * width - 1]!;
  return {
    windows: {
      width,
      past: values.subarray(from, start),
      pastLeads,
      now: values.subarray(start, start + width),
      nowLead: values[start - 1] ?? Number.NaN,
    },
    start,
  };
}

/** Values of the window from `start` on: so many that enough such windows lie before it. */
function widthOf(start: number, end: number): number {
  return Math.min(end - start, Math.floor(start / PAST_WINDOWS_MIN));
}

function isCut(start: number, end: number): boolean {
  return widthOf(start, end) < end - start;
}
