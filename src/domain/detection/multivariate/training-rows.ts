// Which vectors a model learns from, of those that were kept and those that raw samples still give: half of them of the newest week, the others in runs spread
// over all of history, since a model that knows one week alone takes what comes every second week for news.
//
// Time is cut into slots of RUN_ROWS vectors. Which slots stay follows from the slot alone, by multiples of the golden ratio (Weyl 1916): those below any share lie
// at gaps of three lengths (Steinhaus), however long history becomes, and what left once never comes back, so that nothing has to be remembered of it.
import { WEEK_MS } from "../../../core/time/durations.ts";
import { FEATURE_ROWS } from "./service-features.ts";
import { SMOOTHED_VECTORS, type TimedRows } from "./service-model.ts";

/** Vectors of a slot: half an hour of minutes, and no part of a day, so that slots begin at all times of day. */
export const RUN_ROWS = 29;
/** A run of fewer vectors gives no mean of neighbours, and is left out. */
const RUN_ROWS_MIN = FEATURE_ROWS + SMOOTHED_VECTORS - 1;
/** Vectors further apart than so many usual intervals do not follow each other. */
const FOLLOWS_INTERVALS = 1.5;
const GOLDEN = (Math.sqrt(5) - 1) / 2;

/** Vectors to choose from. */
export interface RowSources {
  /** Chosen by the training before; undefined where there was none. */
  readonly retained: TimedRows | undefined;
  /** All that raw samples give, ascending. */
  readonly newest: TimedRows;
  /** 1 for each of the newest that nothing is to be learned from. */
  readonly left: Uint8Array;
  readonly rowsMax: number;
}

/** Outcome of a choice. */
export interface ChosenRows {
  readonly rows: TimedRows;
  /** Runs of the newest week that nothing was learned from though they were calm: a new model is tried on them. */
  readonly aside: TimedRows;
}

/** Consecutive vectors within one slot. */
interface Run {
  readonly slot: number;
  readonly of: TimedRows;
  readonly from: number;
  readonly to: number;
}

/** Chooses at most `rowsMax` vectors; all of the newest where these are few, and nothing was kept or is left out. */
export function chooseRows({ retained, newest, left, rowsMax }: RowSources): ChosenRows {
  const { times, width } = newest;
  const none: TimedRows = { times: new Float64Array(0), values: new Float64Array(0), width };
  if (retained === undefined && times.length <= rowsMax && !left.includes(1)) return { rows: newest, aside: none };
  const intervalMs = usualIntervalMs(newest);
  const slotMs = RUN_ROWS * intervalMs;
  const youngMs = (times.at(-1) ?? 0) - WEEK_MS;
  const calm = runsOf(newest, slotMs, left);
  const runs = retained === undefined ? calm : merged(runsOf(retained, slotMs), calm, newest, slotMs);
  const isYoung = ({ slot }: Run) => slot * slotMs >= youngMs;
  const [young, old] = [runs.filter(isYoung), runs.filter((run) => !isYoung(run))];
  const half = Math.floor(rowsMax / 2);
  const youngChosen = spread(young, Math.max(half, rowsMax - count(old)));
  const oldChosen = spread(old, rowsMax - count(youngChosen));
  const taken = new Set(youngChosen);
  return {
    rows: joined([...oldChosen, ...youngChosen], width, intervalMs),
    aside: joined(
      young.filter((run) => !taken.has(run)),
      width,
      intervalMs,
    ),
  };
}

/** Usual time between vectors. */
function usualIntervalMs({ times }: TimedRows): number {
  const steps = Float64Array.from(
    { length: Math.max(0, times.length - 1) },
    (_, i) => (times[i + 1] as number) - (times[i] as number),
  ).sort();
  return Math.max(1, steps[steps.length >> 1] ?? 1);
}

/** Longest run of each slot. */
function runsOf(of: TimedRows, slotMs: number, left?: Uint8Array): Run[] {
  const runs = new Map<number, Run>();
  const slotOf = (row: number) => Math.floor((of.times[row] as number) / slotMs);
  for (let from = 0, to = 0; from < of.times.length; from = to) {
    const slot = slotOf(from);
    to = from + 1;
    if (left?.[from] === 1) continue;
    while (to < of.times.length && slotOf(to) === slot && left?.[to] !== 1 && of.breaks?.[to] !== 1) to++;
    const before = runs.get(slot);
    if (to - from >= RUN_ROWS_MIN && (before === undefined || to - from > before.to - before.from)) runs.set(slot, { slot, of, from, to });
  }
  return [...runs.values()];
}

/** Kept runs beside the calm ones of what raw samples give, which win: of a time that is strange now nothing is learned any more. Where raw samples begin, the longer one. */
function merged(retained: readonly Run[], calm: readonly Run[], newest: TimedRows, slotMs: number): Run[] {
  const firstSlot = Math.floor((newest.times[0] ?? Number.POSITIVE_INFINITY) / slotMs);
  const first = calm.find(({ slot }) => slot === firstSlot);
  const before = retained.filter(({ slot }) => slot <= firstSlot);
  const isWhole = (run: Run | undefined) => run !== undefined && (first === undefined || run.to - run.from >= first.to - first.from);
  return isWhole(before.find(({ slot }) => slot === firstSlot))
    ? [...before, ...calm.filter((run) => run !== first)]
    : [...before.filter(({ slot }) => slot < firstSlot), ...calm];
}

/** As many runs as the rows hold, spread evenly over those that there are. */
function spread(runs: readonly Run[], rowsMax: number): Run[] {
  if (count(runs) <= rowsMax) return [...runs];
  const chosen: Run[] = [];
  let rows = 0;
  for (const run of runs.toSorted((a, b) => rank(a.slot) - rank(b.slot))) {
    rows += run.to - run.from;
    if (rows > rowsMax) break;
    chosen.push(run);
  }
  return chosen.sort((a, b) => a.slot - b.slot);
}

function rank(slot: number): number {
  return (slot * GOLDEN) % 1;
}

function count(runs: readonly Run[]): number {
  return runs.reduce((sum, { from, to }) => sum + to - from, 0);
}

/** The runs' vectors as one, with a break wherever one does not follow the one before. */
function joined(runs: readonly Run[], width: number, intervalMs: number): TimedRows {
  const length = count(runs);
  const rows = { times: new Float64Array(length), values: new Float64Array(length * width), width, breaks: new Uint8Array(length) };
  let at = 0;
  for (const { of, from, to } of runs) {
    rows.times.set(of.times.subarray(from, to), at);
    rows.values.set(of.values.subarray(from * width, to * width), at * width);
    const apartMs = at === 0 ? 0 : (rows.times[at] as number) - (rows.times[at - 1] as number);
    if (apartMs > FOLLOWS_INTERVALS * intervalMs) rows.breaks[at] = 1;
    at += to - from;
  }
  return rows;
}
