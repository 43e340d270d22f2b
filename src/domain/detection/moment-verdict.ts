// Why a moment of a stream was or was not declared by layer 1, from its stored samples: they are run through the detector's twin again, and the sample of the
// moment gets the verdict that it had. For moments of which nothing was written down, since there was nothing to tell.
import { BoundedMap } from "../../core/collections/bounded-map.ts";
import { EVENT_FLAG_AFTER_GAP, EVENT_FLAG_CONSTANT, EVENT_FLAG_RESET, EVENT_OPEN, EVENT_UPDATE } from "../../core/layout/kernel-event.ts";
import { SD_MIN, SD_RELATIVE_MIN } from "../../core/layout/sd-floors.ts";
import { StreamOracle } from "./stream-oracle.ts";
import { fillThresholdTables, levelsFor, THRESHOLD_TABLE_VALUES } from "./thresholds.ts";
import { type Verdict, zScoreVerdict } from "./verdict.ts";

export interface MomentOptions {
  readonly threshold: number;
  readonly minimumSamples: number;
  /** WATCHDOG_CONFIRMATION; on where it is not given. */
  readonly confirmation?: boolean | undefined;
  /** 12 .. 120. */
  readonly window: number;
  readonly operation: boolean;
  readonly percent: boolean;
  /** A series of counts, by its kind or name. */
  readonly isOfCounts?: boolean;
  /** Bucket width of a histogram's quantile, as it is now; 0 for other series. */
  readonly bucketWidth: number;
}

/** `reason` is why it was not declared; null where it was. */
export interface MomentVerdict {
  readonly sampleMs: number;
  readonly declared: boolean;
  readonly reason: string | null;
  readonly verdict: Verdict;
}

/** Samples before the moment from which the detector's state is as it was: five windows. */
const MOMENT_SAMPLES = 600;
const TABLES_RETAINED_MAX = 8;
const tables = new BoundedMap<string, Float64Array>(TABLES_RETAINED_MAX);

/** The verdict on the newest sample at or before `atMs`; undefined where there is none. Values of counters are deltas, as they are stored. */
export function momentVerdict(times: Float64Array, values: Float64Array, atMs: number, options: MomentOptions): MomentVerdict | undefined {
  let last = times.length - 1;
  while (last >= 0 && (times[last] as number) > atMs) last--;
  if (last < 0) return undefined;
  const oracle = new StreamOracle({ window: options.window, tables: tablesFor(options), counter: false, operation: options.operation });
  for (let i = Math.max(0, last - MOMENT_SAMPLES); i < last; i++) oracle.apply(times[i] as number, values[i] as number);
  const { count, mean, m2 } = oracle.statistics;
  const [time, value] = [times[last] as number, values[last] as number];
  const before = values.slice(Math.max(0, last - options.window), last);
  const events = oracle.apply(time, value);
  // A sample that moves no peak is a part of what was declared, as long as that goes on.
  const declared = oracle.isOpen || events.some(({ kind }) => kind === EVENT_OPEN || kind === EVENT_UPDATE);
  const judged = events.find((event) => event.count > 0);
  const rawSd = count > 1 ? Math.sqrt(m2 / (count - 1)) : 0;
  const sd = judged?.sd ?? Math.max(rawSd, SD_MIN, SD_RELATIVE_MIN * Math.abs(mean));
  const flags = judged?.flags ?? 0;
  const verdict = zScoreVerdict({
    value,
    mean,
    sd,
    rawSd,
    ratio: judged?.ratio ?? (value - mean) / sd,
    count,
    window: before,
    ageSeconds: before.length === 0 ? 0 : (time - (times[last - before.length] as number)) / 1000,
    declared,
    constant: (flags & EVENT_FLAG_CONSTANT) !== 0,
    afterGap: (flags & EVENT_FLAG_AFTER_GAP) !== 0,
    reset: (flags & EVENT_FLAG_RESET) !== 0,
    threshold: options.threshold,
    minimumSamples: options.minimumSamples,
    confirmation: options.confirmation,
    operation: options.operation,
    isOfCounts: options.isOfCounts === true,
    percent: options.percent,
    bucketWidth: options.bucketWidth,
    layers: ["statistical"],
  });
  const reason = reasonOf(verdict, options, count);
  return { sampleMs: time, declared: declared && reason === null, reason, verdict: { ...verdict, suppressed_by: reason } };
}

/** Too few values come first: no z of theirs says anything. Then the threshold, then the gates. */
function reasonOf(verdict: Verdict, { threshold, minimumSamples, operation }: MomentOptions, count: number): string | null {
  if (count < minimumSamples) return "too_few_samples";
  if (Math.abs(verdict.z) <= threshold) return "within_threshold";
  if (operation && Math.abs(verdict.z) <= levelsFor(threshold, true).open) return "below_operation_bar";
  return verdict.suppressed_by;
}

function tablesFor({ threshold, minimumSamples, confirmation }: MomentOptions): Float64Array {
  return tables.obtain(`${threshold} ${minimumSamples} ${confirmation !== false}`, () => {
    const made = new Float64Array(THRESHOLD_TABLE_VALUES);
    fillThresholdTables(made, threshold, { samplesMin: minimumSamples, confirmation });
    return made;
  });
}
