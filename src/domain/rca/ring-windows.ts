// The windows of a series as an engine holds it: the last 120 values and their times. A cause departs before its first symptom is declared, so the window
// begins up to a minute earlier, by four values at most: of a stream of one second the ring is two minutes, and the baseline must not be the incident.
// Where what is before has no room for enough windows as long as the one since, history is short: then it is two samples, before the onset and since.
import type { SeriesWindows } from "./departure.ts";

const LEAD_MS = 60_000;
const LEAD_VALUES_MAX = 4;
/** Fewer could not tell an unusual window from the rest. */
const PAST_WINDOWS_MIN = 10;
const PAST_WINDOWS_MAX = 24;
/** One array for each number of windows: made anew for each series they cost as much as all else here. */
const LEADS = Array.from({ length: PAST_WINDOWS_MAX + 1 }, (_, windows) => new Float64Array(windows));
const NO_LEADS = LEADS[0]!;

/** The windows of the series at hand, written anew for each. */
const CUT: { -readonly [Key in keyof SeriesWindows]: SeriesWindows[Key] } = {
  isShort: true,
  width: 0,
  values: NO_LEADS,
  from: 0,
  start: 0,
  end: 0,
  pastLeads: NO_LEADS,
  nowLead: Number.NaN,
};

/** Cuts `count` values, oldest first, into windows, which hold until the next call; undefined where there is nothing since the onset or nothing before it. */
export function ringWindows(
  times: ArrayLike<number>,
  values: Float64Array,
  count: number,
  { onsetMs, untilMs }: { readonly onsetMs: number; readonly untilMs: number },
): SeriesWindows | undefined {
  let end = count;
  while (end > 0 && times[end - 1]! > untilMs) end--;
  let first = end;
  while (first > 0 && times[first - 1]! >= onsetMs) first--;
  if (first === end) return undefined;
  let lead = 0;
  while (lead < LEAD_VALUES_MAX && lead < first && times[first - lead - 1]! >= onsetMs - LEAD_MS) lead++;
  // Of a short history most of what is looked at is to be since the onset.
  const start = first - (windowsBefore(first - lead, end) < PAST_WINDOWS_MIN ? Math.min(lead, end - first) : lead);
  if (start === 0) return undefined;
  const windows = Math.min(PAST_WINDOWS_MAX, windowsBefore(start, end));
  const from = start - windows * (end - start);
  const leads = LEADS[windows]!;
  for (let i = 0; i < windows; i++) leads[i] = values[from + i * (end - start) - 1] ?? Number.NaN;
  return cutWindows(values, { from, start, end }, leads, values[start - 1]!);
}

function windowsBefore(start: number, end: number): number {
  return Math.floor(start / (end - start));
}

/**
 * Values of windows before, one after another, and behind them those of the one since, with the values before each: as windows where there are enough of them, else as
 * two samples. Engines and the evaluation cut alike; what it returns holds until the next call.
 */
export function cutWindows(
  values: Float64Array,
  { from, start, end }: Pick<SeriesWindows, "from" | "start" | "end">,
  pastLeads: Float64Array,
  nowLead: number,
): SeriesWindows {
  const isShort = pastLeads.length < PAST_WINDOWS_MIN;
  CUT.isShort = isShort;
  CUT.pastLeads = isShort ? NO_LEADS : pastLeads;
  CUT.width = end - start;
  CUT.values = values;
  CUT.from = isShort ? 0 : from;
  CUT.start = start;
  CUT.end = end;
  CUT.nowLead = nowLead;
  return CUT;
}
