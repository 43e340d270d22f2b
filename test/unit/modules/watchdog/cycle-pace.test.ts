// The pace of the Watchdog's cycles on a virtual clock: an engine that works as asked, beside a stream that takes a share of it.
import { describe, expect, it } from "vitest";
import {
  WATCHDOG_ANSWER_MS,
  WATCHDOG_CYCLE_MS_GOAL,
  WATCHDOG_QUESTION_MS_MAX,
  WATCHDOG_QUESTION_MS_MIN,
  WATCHDOG_REST_MS_MAX,
  WATCHDOG_SLICE_MS_MAX,
  WATCHDOG_SLICE_MS_MIN,
} from "../../../../src/core/config/pace-limits.ts";
import { CyclePace } from "../../../../src/modules/watchdog/cycle-pace.ts";

const MINUTE_MS = 60_000;

interface Load {
  /** Work of a whole scan by pass, ms. */
  readonly passes: Readonly<Record<string, number>>;
  /** Ms that bodies take of the engine beside each ms of scan. */
  readonly bodies: number;
  /** There are always bodies that wait: where they come first, a question is a slice when its answer is due. */
  readonly bodiesWait?: boolean;
}

interface Walked {
  readonly durationMs: number;
  readonly restMs: number;
  readonly slices: readonly number[];
  readonly questions: readonly number[];
  readonly yields: readonly boolean[];
}

/** One cycle of one engine. */
function cycle(pace: CyclePace, number: number, { passes, bodies, bodiesWait = false }: Load): Walked {
  const clock = { ms: 1_000 * MINUTE_MS * number };
  const startMs = clock.ms;
  let restMs = 0;
  const slices: number[] = [];
  const questions: number[] = [];
  const yields: boolean[] = [];
  pace.begin(number, clock.ms);
  for (const [name, wholeMs] of Object.entries(passes)) {
    const scan = pace.paceOf(name, 0);
    let doneMs = 0;
    for (let turn = scan.first(clock.ms); ; ) {
      slices.push(turn.sliceMs);
      questions.push(turn.workMs);
      yields.push(turn.yields);
      const isHeld = bodiesWait && turn.yields;
      const tookMs = Math.min(isHeld ? turn.sliceMs : turn.workMs, wholeMs - doneMs);
      const elapsedMs = isHeld ? WATCHDOG_ANSWER_MS : tookMs * (1 + bodies);
      clock.ms += elapsedMs;
      doneMs += tookMs;
      if (doneMs >= wholeMs) {
        scan.end(tookMs);
        break;
      }
      turn = scan.next({ tookMs, elapsedMs, share: doneMs / wholeMs, wasBusy: bodies > 0, waits: false }, clock.ms);
      restMs += turn.restMs;
      clock.ms += turn.restMs;
    }
  }
  return { durationMs: clock.ms - startMs, restMs, slices, questions, yields };
}

function paceOf(intervalMs: number, ...passes: string[]): CyclePace {
  const pace = new CyclePace(intervalMs);
  for (const name of passes) pace.add(name, 1);
  return pace;
}

describe("the pace of a cycle", () => {
  it("spreads what it knows of over the goal, and is over before it", () => {
    const pace = paceOf(MINUTE_MS, "pairs", "services");
    const load = { passes: { pairs: 600, services: 300 }, bodies: 1 };
    cycle(pace, 1, load);
    const { durationMs, restMs, slices } = cycle(pace, 2, load);
    expect(durationMs).toBeLessThanOrEqual(WATCHDOG_CYCLE_MS_GOAL);
    expect(durationMs).toBeGreaterThan(WATCHDOG_CYCLE_MS_GOAL / 2);
    expect(restMs).toBeGreaterThan(0);
    expect(Math.max(...slices)).toBeLessThan(WATCHDOG_SLICE_MS_MAX);
  });

  it("takes a fifth of a short interval", () => {
    const pace = paceOf(5_000, "pairs");
    const load = { passes: { pairs: 300 }, bodies: 1 };
    cycle(pace, 1, load);
    const { durationMs } = cycle(pace, 2, load);
    expect(durationMs).toBeLessThanOrEqual(1_000);
    expect(durationMs).toBeGreaterThan(500);
  });

  it("learns from its share of the scan that a pass takes longer than the one before", () => {
    const pace = paceOf(MINUTE_MS, "pairs");
    cycle(pace, 1, { passes: { pairs: 20 }, bodies: 1 });
    const { durationMs } = cycle(pace, 2, { passes: { pairs: 1_200 }, bodies: 1 });
    expect(durationMs).toBeLessThanOrEqual(WATCHDOG_CYCLE_MS_GOAL);
  });

  it("a small cycle is over soon: rests have a bound", () => {
    const pace = paceOf(MINUTE_MS, "pairs");
    const load = { passes: { pairs: 10 }, bodies: 1 };
    cycle(pace, 1, load);
    const { durationMs, questions } = cycle(pace, 2, load);
    expect(questions).toEqual(Array(5).fill(WATCHDOG_QUESTION_MS_MIN));
    expect(durationMs).toBeLessThanOrEqual(5 * (2 * WATCHDOG_QUESTION_MS_MIN + WATCHDOG_REST_MS_MAX));
  });

  it("behind, it neither rests nor holds an engine for longer than its bounds", () => {
    const pace = paceOf(MINUTE_MS, "pairs");
    const load = { passes: { pairs: 10_000 }, bodies: 1 };
    cycle(pace, 1, load);
    const { durationMs, restMs, slices, questions } = cycle(pace, 2, load);
    expect(restMs).toBe(0);
    expect(durationMs).toBe(20_000);
    expect(Math.min(...slices)).toBeGreaterThan(WATCHDOG_SLICE_MS_MIN);
    expect(Math.max(...slices)).toBe(WATCHDOG_SLICE_MS_MAX);
    expect(Math.max(...questions)).toBe(WATCHDOG_QUESTION_MS_MAX);
    expect(WATCHDOG_QUESTION_MS_MAX).toBeLessThan(WATCHDOG_ANSWER_MS);
  });

  it("lets bodies that wait come first, until it would not be over in time", () => {
    const pace = paceOf(MINUTE_MS, "pairs");
    const load = { passes: { pairs: 600 }, bodies: 1 };
    const { yields } = cycle(pace, 1, load);
    expect(new Set(yields)).toEqual(new Set([true]));
    const held = cycle(pace, 2, { ...load, bodiesWait: true });
    const heldMs = held.yields.indexOf(false) * WATCHDOG_ANSWER_MS;
    expect(heldMs).toBeGreaterThan(0.5 * WATCHDOG_CYCLE_MS_GOAL);
    expect(held.yields.slice(0, held.yields.indexOf(false))).not.toContain(false);
    expect(held.durationMs).toBeLessThanOrEqual(5_000); // what a cycle may take
    // Much work leaves no time for that.
    const much = { passes: { pairs: 1_800 }, bodies: 1, bodiesWait: true };
    cycle(pace, 3, { ...much, bodiesWait: false });
    expect(cycle(pace, 4, much).yields[0]).toBe(false);
  });

  it("does not rest on an engine without bodies", () => {
    const pace = paceOf(MINUTE_MS, "pairs");
    const load = { passes: { pairs: 600 }, bodies: 0 };
    cycle(pace, 1, load);
    expect(cycle(pace, 2, load)).toMatchObject({ restMs: 0, durationMs: 600 });
  });

  it("leaves an engine alone for a while that could do nothing yet", () => {
    const pace = paceOf(MINUTE_MS, "pairs");
    pace.begin(1, 0);
    const scan = pace.paceOf("pairs", 0);
    expect(scan.first(0).restMs).toBe(0);
    const nothing = { tookMs: 0, elapsedMs: 1, share: 0, wasBusy: false, waits: true };
    expect(scan.next(nothing, 1).restMs).toBe(WATCHDOG_REST_MS_MAX);
    expect(scan.next({ ...nothing, tookMs: 2, share: 0.5, waits: false }, 3).restMs).toBe(0);
  });

  it("keeps room for the passes behind, but for those that are not made in this cycle", () => {
    const pace = new CyclePace(MINUTE_MS);
    pace.add("pairs", 1);
    pace.add("saturation", 2);
    const load = { passes: { pairs: 1_000, saturation: 1_000 }, bodies: 0.2 };
    cycle(pace, 1, load);
    const whole = cycle(pace, 3, load);
    const pairsAlone = cycle(pace, 2, { ...load, passes: { pairs: 1_000 } });
    expect(whole.durationMs).toBeLessThanOrEqual(WATCHDOG_CYCLE_MS_GOAL);
    expect(pairsAlone.durationMs).toBeGreaterThan(0.75 * WATCHDOG_CYCLE_MS_GOAL);
    expect(pairsAlone.durationMs).toBeLessThanOrEqual(WATCHDOG_CYCLE_MS_GOAL);
  });
});
