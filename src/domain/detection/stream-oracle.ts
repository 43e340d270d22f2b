// The slow twin of the shard kernel's per-sample logic: one stream as plain objects, every statistic taken exactly from the window each time.
// Property tests compare the kernel with it event by event; tools that replay a stored series use it without a kernel.
import { ACCEPTED_VALUES, NOTHING_DIVISOR, SCATTER_BASELINE_VALUES, SCATTER_SHARE } from "../../core/layout/episode-ends.ts";
import {
  EVENT_ENDED,
  EVENT_FLAG_ACCEPTED,
  EVENT_FLAG_AFTER_GAP,
  EVENT_FLAG_CONSTANT,
  EVENT_FLAG_IMPLAUSIBLE,
  EVENT_FLAG_IRREGULAR,
  EVENT_FLAG_RESET,
  EVENT_LATE,
  EVENT_REPLACE,
  EVENT_RESET,
  TABLE_COLUMN_Z,
  TABLE_COLUMNS,
  TABLE_LEVEL_CLEAR,
  TABLE_LEVEL_OPEN,
  TABLE_LEVEL_STRONG,
} from "../../core/layout/kernel-event.ts";
import { SD_MIN, SD_RELATIVE_MIN } from "../../core/layout/sd-floors.ts";
import { beginningOf, countedAfterFall, startAfter } from "../distribution/counting-start.ts";
import { EpisodeOracle, type OracleEvent, type OracleSample, type OracleScore } from "./episode-oracle.ts";
import { type Fate, limited, OracleWindow } from "./oracle-window.ts";
import { isIrregular } from "./rolling/usual-deltas.ts";

export interface OracleOptions {
  /** 12 .. 120. */
  readonly window: number;
  /** As filled by fillThresholdTables(). */
  readonly tables: Float64Array;
  readonly counter: boolean;
  readonly operation: boolean;
}

/** How a value enters the ring. */
interface Entry {
  readonly fate: Fate;
  readonly masked: boolean;
}

export class StreamOracle {
  readonly #options: OracleOptions;
  #tables: Float64Array;
  readonly #episodes: readonly EpisodeOracle[];
  readonly #window: OracleWindow;
  #lastTime = 0;
  #lastRaw: number | null = null;
  #resolution = 0;
  #usual = 0;
  /** The window is of a level that was accepted; the newest value was what was usual before. */
  #isAccepted = false;
  #isOnWayBack = false;
  /** Somebody takes the level of the open episode for the usual one. */
  #isTaken = false;
  #suspect: 1 | -1 | 0 = 0;
  #ended = false;
  #pushes = 0;
  #start = 0;
  #startMoved = false;

  constructor(options: OracleOptions) {
    this.#options = options;
    this.#tables = options.tables;
    this.#window = new OracleWindow(options.window);
    const level = (which: number, column: number): number => this.#level(which, column);
    const beyond = { count: 0, since: 0 };
    this.#episodes = [new EpisodeOracle(1, level, beyond), new EpisodeOracle(-1, level, beyond)];
  }

  /** Whether an episode of either side goes on. */
  get isOpen(): boolean {
    return this.#episodes.some((episode) => episode.isOpen);
  }

  /** Mean and M2 of the window as they stand. */
  get statistics(): { count: number; mean: number; m2: number } {
    return this.#window.statistics;
  }

  /** Baseline of the next value: mean and sd of the window as it counts, floored, half the width of its bounds (infinite where too few values are known). */
  get baseline(): { readonly count: number; readonly mean: number; readonly sd: number; readonly openWidth: number } {
    const { count, mean, sd, constant } = this.#score(0);
    const openWidth = constant ? Math.max(sd, 0.01 * Math.abs(mean)) : sd * this.#level(TABLE_LEVEL_OPEN, count);
    return { count, mean, sd, openWidth };
  }

  /** From the next value on other tables hold. */
  judgeBy(tables: Float64Array): void {
    this.#tables = tables;
  }

  /** Usual interval in ms. */
  get usualInterval(): number {
    return this.#usual;
  }

  /** Takes a sample and returns its events in the kernel's order. */
  apply(time: number, value: number): OracleEvent[] {
    if (time <= this.#lastTime) return this.#old(time, value);
    const elapsed = this.#lastTime > 0 ? time - this.#lastTime : 0;
    this.#ended = false;
    const events: OracleEvent[] = [];
    const sample = this.#options.counter ? this.#convert(time, value, elapsed, events) : this.#plain(value);
    if (sample !== null) this.#push(time, sample.stored, sample.scored, sample.flags, elapsed, events);
    this.#lastTime = time;
    return events;
  }

  /** A stale marker. */
  end(time: number): OracleEvent[] {
    if (time < this.#lastTime || this.#ended) return [];
    this.#ended = true;
    return [plain(EVENT_ENDED, time, 0, 0)];
  }

  /** A start marker: when the cumulative value that comes next, at `time`, began to be counted. */
  begin(time: number, startMs: number): void {
    if (time <= this.#lastTime || !this.#options.counter) return;
    const point = { timeMs: time, startMs };
    const known = { startMs: this.#start, lastMs: this.#lastRaw === null ? 0 : this.#lastTime, usualMs: this.#usual };
    const beginning = beginningOf(known, point);
    if (beginning === "young" || beginning === "restarted") this.#startMoved = true;
    this.#start = startAfter(this.#start, point);
  }

  /** Has the next value on the level of an open episode that began by then end it as the usual one. */
  accept(atMs: number): void {
    this.#isTaken ||= this.#episodes.some((episode) => episode.isOpenSince(atMs));
  }

  /** A restart marker: counting began anew in the interval of the value that comes next, at `time`. */
  restart(time: number): void {
    if (time > this.#lastTime && !this.#options.counter) this.#startMoved = true;
  }

  #old(time: number, value: number): OracleEvent[] {
    const newest = this.#options.counter ? this.#lastRaw : (this.#window.ring.at(-1)?.raw ?? null);
    if (time < this.#lastTime) return this.#options.counter ? [] : [plain(EVENT_LATE, time, value, 0)];
    return value === newest ? [] : [plain(EVENT_REPLACE, time, value, 0)];
  }

  #plain(value: number): { stored: number; scored: number; flags: number } {
    const flags = this.#startMoved ? EVENT_FLAG_RESET : 0;
    this.#startMoved = false;
    return { stored: value, scored: value, flags };
  }

  #convert(time: number, value: number, elapsed: number, events: OracleEvent[]): { stored: number; scored: number; flags: number } | null {
    const previous = this.#lastRaw;
    const moved = this.#startMoved;
    this.#lastRaw = value;
    this.#startMoved = false;
    if (previous === null && !moved) return null;
    let stored = Math.max(0, value - (previous ?? 0));
    let flags = 0;
    if (previous !== null && (moved || value < previous - 1e-9 * Math.abs(previous))) {
      const largest = this.#window.ring.reduce((max, value) => Math.max(max, value.raw), 0);
      stored = moved ? value : countedAfterFall(value, largest, this.#window.ring.length >= 12);
      flags = !moved && stored === 0 && value !== 0 ? EVENT_FLAG_RESET | EVENT_FLAG_IMPLAUSIBLE : EVENT_FLAG_RESET;
      events.push(plain(EVENT_RESET, time, value, flags));
    }
    const usual = this.#usual;
    const irregular = isIrregular(elapsed, usual);
    return {
      stored,
      scored: irregular ? stored * (usual / elapsed) : stored,
      flags: irregular ? flags | EVENT_FLAG_IRREGULAR : flags,
    };
  }

  #push(time: number, stored: number, scored: number, flags: number, elapsed: number, events: OracleEvent[]): void {
    let entry: Entry = { fate: this.isOpen ? "stays out" : "enters", masked: false };
    let learns = (flags & EVENT_FLAG_IRREGULAR) === 0;
    if (this.#level(TABLE_LEVEL_OPEN, this.#window.statistics.count) !== Number.POSITIVE_INFINITY) {
      const score = this.#score(scored);
      const gap = this.#usual > 0 && elapsed > 10 * this.#usual ? EVENT_FLAG_AFTER_GAP : 0;
      const constant = score.constant ? EVENT_FLAG_CONSTANT : 0;
      const before: readonly number[] = [this.#window.ring.at(-1)?.time ?? time, this.#window.ring.at(-2)?.time ?? time];
      const isUsualBefore = this.#isUsualBefore(score, limited(scored));
      const sample = { time, value: scored, score, flags: flags | gap | constant, suspect: this.#suspect, before, isUsualBefore };
      entry = this.#judge(sample, limited(stored), events);
      learns &&= !score.departs;
    }
    if (learns) this.#learnResolution(stored);
    this.#window.insert({ raw: stored, time, interval: Math.min(elapsed, 2 ** 32 - 1), masked: entry.masked }, entry.fate);
    this.#pushes++;
    this.#learnInterval();
  }

  /** Whether the value, which is far out, is what was usual before the level that was accepted. */
  #isUsualBefore(score: OracleScore, value: number): boolean {
    const [low, high] = this.#window.bounds;
    const column = score.constant ? TABLE_COLUMN_Z : score.count;
    return this.#isAccepted && Math.abs(score.ratio) > this.#level(TABLE_LEVEL_OPEN, column) && value >= low && value <= high;
  }

  /** Moves both episodes, and says how the value is entered. */
  #judge(sample: OracleSample, stored: number, events: OracleEvent[]): Entry {
    const wasOpen = this.isOpen;
    for (const episode of this.#episodes) episode.evaluate(sample, events);
    if (!this.isOpen) return wasOpen ? { fate: "goes on", masked: false } : this.#closedEntry(sample, stored);
    this.#suspect = 0;
    if (!wasOpen) {
      this.#window.freeze();
      this.#isOnWayBack = false;
      this.#isTaken = false;
    }
    return {
      fate: wasOpen && (this.#accepts(sample, events) || this.#widens(sample, events)) ? "begins anew" : "stays out",
      masked: false,
    };
  }

  /** Ends what is open as the new level, once it has lasted or somebody takes it for the usual one, and the value is not near what was usual. */
  #accepts({ time, score, flags }: OracleSample, events: OracleEvent[]): boolean {
    const column = score.constant ? TABLE_COLUMN_Z : score.count;
    if (Math.abs(score.ratio) < this.#level(TABLE_LEVEL_CLEAR, column)) return false;
    const to = this.#window.levelBehind(score.mean);
    if (!this.#isTaken && !this.#hasStayed(time, Math.abs(to) * NOTHING_DIVISOR <= Math.abs(score.mean))) return false;
    for (const episode of this.#episodes) episode.end({ time, to, score, flags: flags | EVENT_FLAG_ACCEPTED }, events);
    const width = score.constant ? this.#departureMin(score.mean) : this.#level(TABLE_LEVEL_STRONG, column) * score.sd;
    this.#window.keepUsual(score.mean - width, score.mean + width);
    this.#isAccepted = true;
    this.#isTaken = false;
    return true;
  }

  /** Ends what is open at a value near what was usual, where those since scatter about a window of few. */
  #widens({ time, value, score, flags }: OracleSample, events: OracleEvent[]): boolean {
    const column = score.constant ? TABLE_COLUMN_Z : score.count;
    if (!(Math.abs(score.ratio) < this.#level(TABLE_LEVEL_CLEAR, column)) || !this.#scatters(score)) return false;
    for (const episode of this.#episodes) episode.end({ time, to: value, score, flags }, events);
    return true;
  }

  #scatters({ constant, count, mean, sd }: OracleScore): boolean {
    const { behind, valuesBehind: values } = this.#window;
    if (constant || count >= SCATTER_BASELINE_VALUES || behind < Math.max(count, ACCEPTED_VALUES)) return false;
    const above = values.filter((value) => value - mean > sd / 2).length;
    const under = values.filter((value) => value - mean < -sd / 2).length;
    return Math.min(above, under) * SCATTER_SHARE >= values.length;
  }

  #hasStayed(time: number, isNothing: boolean): boolean {
    return this.#window.behind >= ACCEPTED_VALUES && this.#episodes.some((episode) => episode.hasLasted(time, isNothing));
  }

  #closedEntry({ score, flags, isUsualBefore }: OracleSample, stored: number): Entry {
    if (isUsualBefore) return { fate: this.#wayBack(score), masked: false };
    this.#isOnWayBack = false;
    const isSuspect = score.constant && Math.abs(score.ratio) > this.#level(TABLE_LEVEL_OPEN, TABLE_COLUMN_Z);
    this.#suspect = isSuspect ? (score.ratio > 0 ? 1 : -1) : 0;
    if (isSuspect || ((flags & EVENT_FLAG_IRREGULAR) !== 0 && Math.abs(stored - score.mean) > 6 * score.sd)) {
      this.#bound(score);
      const [low, high] = this.#window.bounds;
      return { fate: "enters", masked: stored < low || stored > high };
    }
    const waits = !score.constant && this.#episodes.some((episode) => episode.hasBeenOut) && this.#window.mayWait;
    return { fate: waits ? "waits" : "enters", masked: false };
  }

  /** Two in a row of what was usual before are the way back to it. */
  #wayBack(score: OracleScore): Fate {
    this.#suspect = 0;
    if (!this.#isOnWayBack) {
      this.#isOnWayBack = true;
      return this.#window.mayWait ? "waits" : "enters";
    }
    this.#window.goBack(this.#level(TABLE_LEVEL_STRONG, score.constant ? TABLE_COLUMN_Z : score.count));
    this.#isAccepted = false;
    this.#isOnWayBack = false;
    return "goes on";
  }

  /** The median of the window's intervals, after 2, 3, 5, 9, ... 65 values and then every 128. */
  #learnInterval(): void {
    const pushes = this.#pushes;
    const early = pushes >= 2 && pushes <= 65 && Number.isInteger(Math.log2(pushes - 1));
    if (!early && pushes % 128 !== 0) return;
    const known = this.#window.newest
      .map((value) => value.interval)
      .filter((interval) => interval > 0)
      .sort((a, b) => a - b);
    if (known.length > 0) this.#usual = known[(known.length - 1) >> 1] as number;
  }

  #score(value: number): OracleScore {
    const { count, mean, m2 } = this.#window.statistics;
    const floor = Math.max(SD_MIN, SD_RELATIVE_MIN * Math.abs(mean), this.#resolution / Math.sqrt(12));
    if (m2 !== 0) {
      const sd = Math.max(Math.sqrt(m2 / (count - 1)), floor);
      return { mean, sd, ratio: within((limited(value) - mean) / sd, 1e9), count, constant: false, departs: false };
    }
    const departure = limited(value) - mean;
    const departs = Math.abs(departure) > this.#departureMin(mean);
    return { mean, sd: floor, ratio: departs ? within(departure / floor, 10) : 0, count, constant: true, departs };
  }

  /** What a value has to leave a constant window by. */
  #departureMin(mean: number): number {
    return Math.max(1e-9, 0.01 * Math.abs(mean), this.#resolution);
  }

  #bound(score: OracleScore): void {
    this.#isAccepted = false;
    const width = score.constant ? 0 : 6 * score.sd;
    this.#window.bound(score.mean - width, score.mean + width);
  }

  #learnResolution(value: number): void {
    const last = this.#window.ring.at(-1);
    const step = last === undefined ? 0 : Math.abs(value - last.raw);
    if (step > 0 && (this.#resolution === 0 || step < this.#resolution)) this.#resolution = step;
  }

  #level(level: number, column: number): number {
    return this.#tables[((this.#options.operation ? 4 : 0) + level) * TABLE_COLUMNS + column] as number;
  }
}

function plain(kind: number, time: number, value: number, flags: number): OracleEvent {
  return { kind, time, value, mean: 0, sd: 0, ratio: 0, count: 0, flags, start: time, peak: 0 };
}

function within(value: number, bound: number): number {
  return Math.min(bound, Math.max(-bound, value));
}
