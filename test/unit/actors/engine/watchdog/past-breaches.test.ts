// Breaches that samples no longer show: past by partition, and given to series whose past was read again.
import { describe, expect, it } from "vitest";
import { PastBreaches } from "../../../../../src/actors/engine/watchdog/passes/past-breaches.ts";
import { SATURATION_BREACHED_MAX } from "../../../../../src/core/config/limits.ts";
import { DAY_MS, MINUTE_MS, WEEK_MS } from "../../../../../src/core/time/durations.ts";
import { BREACH_HABITS_NUMBERS, BreachHabits } from "../../../../../src/domain/saturation/breach-habits.ts";

const NOW = Date.UTC(2026, 0, 30, 12);
const WEEK = WEEK_MS / MINUTE_MS;
const shareOf = (level: number) => level / 100;

/** Habits of a series that was at 95 for ten minutes from each of these minutes on. */
function habitsOf(minutes: readonly number[]): BreachHabits {
  const habits = new BreachHabits(new Float64Array(BREACH_HABITS_NUMBERS));
  for (const minute of minutes) {
    habits.take(minute, 95, shareOf);
    habits.take(minute + 10, 30, shareOf);
  }
  return habits;
}

describe("past breaches", () => {
  const now = NOW / MINUTE_MS;
  const weekly = [now - 2 * WEEK, now - WEEK];

  it("are those older than a day, through a checkpoint, until they are no longer remembered", () => {
    const past = new PastBreaches(1);
    past.keep("k", 7, habitsOf([...weekly, now - 60]), NOW);
    const restored = new PastBreaches(1);
    expect([...past.save(6)]).toEqual([]);
    for (const piece of past.save(7)) restored.restore(7, piece);
    expect(restored.of("k")).toEqual(weekly.map((minute) => ({ minute, minutes: 10, level: 95 })));
    restored.expire(NOW + 2 * WEEK_MS);
    expect(restored.of("k")).toHaveLength(2);
    restored.expire(NOW + 3 * WEEK_MS);
    expect([restored.of("k"), [...restored.save(7)]]).toEqual([[], []]);
  });

  it("come back beside what samples show, each once", () => {
    const past = new PastBreaches(1);
    past.keep("k", 7, habitsOf(weekly), NOW);
    const folded = habitsOf([now - WEEK + 2, now - 60]);
    expect(folded.isKnown(now, 95, shareOf, MINUTE_MS)).toBe(false);
    folded.recall(past.of("k"));
    expect(folded.before(now).map(({ minute }) => minute)).toEqual([now - 2 * WEEK, now - WEEK + 2, now - 60]);
    expect(folded.isKnown(now, 95, shareOf, MINUTE_MS)).toBe(true);
    const open = habitsOf([]);
    open.take(now - WEEK + 3, 95, shareOf);
    open.recall(past.of("k"));
    expect(open.before(now).map(({ minute }) => minute)).toEqual([now - 2 * WEEK]);
  });

  it("forget the series that had its breach longest ago", () => {
    const engines = SATURATION_BREACHED_MAX / 2;
    const past = new PastBreaches(engines);
    for (const key of ["a", "b", "a", "c"]) past.keep(key, 0, habitsOf(weekly.slice(0, key === "a" ? 1 : 2)), NOW);
    expect(["a", "b", "c"].map((key) => past.of(key).length)).toEqual([0, 2, 2]);
    past.keep("b", 0, habitsOf([...weekly, now - 2 * DAY_MS]), NOW);
    past.keep("d", 0, habitsOf(weekly), NOW);
    expect(["b", "c", "d"].map((key) => past.of(key).length)).toEqual([3, 0, 2]);
  });
});
