import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  compileMatchers,
  type LabelMatcher,
  type Labels,
  type MatchOperator,
  matcherProblem,
} from "../../../../src/domain/alerting/label-matcher.ts";
import { occurrenceAt, type RecurringWindow, WindowWatch, windowProblem } from "../../../../src/domain/alerting/maintenance-window.ts";
import { PatternCache } from "../../../../src/domain/alerting/pattern/pattern-cache.ts";
import type { Silence } from "../../../../src/domain/alerting/silence.ts";
import { SilenceIndex } from "../../../../src/domain/alerting/silence-index.ts";

const MINUTE = 60_000;
const utc = (text: string): number => Date.parse(text);
const patterns = new PatternCache();
const matchesAll = (matchers: readonly LabelMatcher[], labels: Labels): boolean => compileMatchers(matchers, patterns)(labels);
function silenceFor(silences: readonly Silence[], labels: Labels, nowMs: number): Silence | null {
  const index = new SilenceIndex(patterns);
  for (const silence of silences) index.put(silence);
  return index.find(labels, nowMs) ?? null;
}

describe("label matchers", () => {
  const matches = (operator: MatchOperator, value: string, label?: string): boolean =>
    matchesAll([{ name: "service_id", operator, value }], label === undefined ? {} : { service_id: label });
  it("compare whole values, and an absent label is empty", () => {
    expect([matches("=", "api", "api"), matches("=", "api", "api2"), matches("=", "", undefined), matches("=", "api", undefined)]).toEqual([
      true,
      false,
      true,
      false,
    ]);
    expect([matches("!=", "api", "api"), matches("!=", "api", "api2"), matches("!=", "api", undefined)]).toEqual([false, true, true]);
    expect(matchesAll([{ name: "constructor", operator: "=", value: "" }], {})).toBe(true);
  });
  it.each([
    ["api|web-.*", "api", true],
    ["api|web-.*", "web-1", true],
    ["api|web-.*", "my-api", false],
    ["api|web-.*", "api-1", false],
    [".*", "", true],
    [".+", "", false],
    [".+", "x", true],
    ["a.c", "abc", true],
    ["a.c", "ac", false],
    ["a\\.c", "abc", false],
    ["a\\.c", "a.c", true],
    [".*-prod-.+", "eu-prod-1", true],
    [".*-prod-.+", "eu-prod-", false],
    ["", "", true],
  ])("pattern %s and %s: %s", (pattern, label, expected) => {
    expect(matches("=~", pattern, label)).toBe(expected);
    expect(matches("!~", pattern, label)).toBe(!expected);
    expect(new RegExp(`^(?:${pattern})$`).test(label)).toBe(expected);
  });
  it("agree with the regular expression of the same pattern, and take no longer for a wild one", () => {
    const piece = fc.constantFrom("a", "b", ".", ".*", ".+", "|", "\\.", "-");
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), fc.stringMatching(/^[ab.-]{0,8}$/), (pieces, label) => {
        expect(matches("=~", pieces.join(""), label)).toBe(new RegExp(`^(?:${pieces.join("")})$`).test(label));
      }),
    );
    expect(matches("=~", `${".*".repeat(400)}b`, "a".repeat(2000))).toBe(false);
  });
  it("say what is wrong with a pattern", () => {
    const problem = (value: string): string | null => matcherProblem({ name: "service_id", operator: "=~", value }, patterns);
    for (const bad of ["(a", "a)", "[a", "*a", "(?=a)", "(a)\\1", "a\\", "a".repeat(257), "é".repeat(129)])
      expect(problem(bad)).toMatch(/pattern/);
    for (const good of ["(a+)+", "a{3}", "[ab]", "a*", "^a", "a$", "\\d", "a".repeat(256)]) expect(problem(good)).toBeNull();
    expect(matcherProblem({ name: "", operator: "=", value: "x" }, patterns)).toMatch(/no label/);
    expect(matcherProblem({ name: "a", operator: "=", value: "(" }, patterns)).toBeNull();
  });
});

describe("maintenance windows", () => {
  const nightly: RecurringWindow = {
    timeZone: "Europe/Berlin",
    weekdays: [],
    startMinute: 2 * 60,
    durationMinutes: 60,
    fromMs: null,
    untilMs: null,
  };
  const starts = (window: RecurringWindow, at: string): string | null => {
    const found = occurrenceAt(window, utc(at));
    return found === null ? null : new Date(found.startMs).toISOString();
  };
  it.each([
    ["2026-01-05T00:59:59.999Z", null],
    ["2026-01-05T01:00:00Z", "2026-01-05T01:00:00.000Z"],
    ["2026-01-05T01:59:59.999Z", "2026-01-05T01:00:00.000Z"],
    ["2026-01-05T02:00:00Z", null],
    // An hour earlier in summer.
    ["2026-07-05T00:00:00Z", "2026-07-05T00:00:00.000Z"],
    ["2026-07-05T01:00:00Z", null],
  ])("2 to 3 in Berlin at %s: %s", (at, start) => expect(starts(nightly, at)).toBe(start));
  it("begin when the clock jumps where their time is skipped, and at the first of two", () => {
    // 29 March 2026: from 02:00 to 03:00 at 01:00 UTC. 25 October: from 03:00 to 02:00 at 01:00 UTC, so 02:30 is 00:30 and 01:30 UTC.
    const halfPast = { ...nightly, startMinute: 150 };
    expect(starts(halfPast, "2026-03-29T00:59:59Z")).toBeNull();
    expect(starts(halfPast, "2026-03-29T01:00:00Z")).toBe("2026-03-29T01:00:00.000Z");
    expect(starts(halfPast, "2026-10-25T00:29:59Z")).toBeNull();
    expect(starts(halfPast, "2026-10-25T00:30:00Z")).toBe("2026-10-25T00:30:00.000Z");
  });
  it.each([
    // 22:00 to 06:00, in spring and in autumn.
    [22 * 60, 480, "2026-03-29T03:59:00Z", true],
    [22 * 60, 480, "2026-03-29T04:00:00Z", false],
    [22 * 60, 480, "2026-10-25T04:59:00Z", true],
    [22 * 60, 480, "2026-10-25T05:00:00Z", false],
    // The hour that comes twice counts twice.
    [120, 60, "2026-10-25T00:30:00Z", true],
    [120, 60, "2026-10-25T01:30:00Z", true],
    [120, 60, "2026-10-25T02:00:00Z", false],
    // 02:30 to 03:30 in spring is half an hour from 03:00 on; an hour that is skipped is no window.
    [150, 60, "2026-03-29T01:29:00Z", true],
    [150, 60, "2026-03-29T01:30:00Z", false],
    [120, 60, "2026-03-29T01:30:00Z", false],
    // A day from midnight ends at midnight.
    [0, 1440, "2026-10-25T22:59:00Z", true],
  ])("end by the clock on the wall in the nights of a change: from minute %d for %d, at %s", (startMinute, durationMinutes, at, isOpen) => {
    const weekdays = durationMinutes === 1440 ? [0] : [];
    expect(occurrenceAt({ ...nightly, startMinute, durationMinutes, weekdays }, utc(at)) !== null).toBe(isOpen);
  });
  it("are on the weekdays of the zone, and run over midnight", () => {
    // Saturday 23:30 in Tokyo is Saturday 14:30 UTC; Sunday 08:00 in Tokyo is Saturday 23:00 UTC.
    const late = { ...nightly, timeZone: "Asia/Tokyo", weekdays: [6], startMinute: 23 * 60 + 30, durationMinutes: 120 };
    expect(starts(late, "2026-01-10T14:30:00Z")).toBe("2026-01-10T14:30:00.000Z");
    expect(starts(late, "2026-01-10T16:29:59Z")).toBe("2026-01-10T14:30:00.000Z");
    expect(starts(late, "2026-01-10T16:30:00Z")).toBeNull();
    expect(starts(late, "2026-01-11T14:30:00Z")).toBeNull();
    expect(starts({ ...late, weekdays: [0], startMinute: 8 * 60 }, "2026-01-10T23:00:00Z")).toBe("2026-01-10T23:00:00.000Z");
  });
  it("may last a week, and begin between two dates only", () => {
    const week = { ...nightly, timeZone: "UTC", weekdays: [1], durationMinutes: 7 * 1440 };
    expect(starts(week, "2026-01-12T01:59:59Z")).toBe("2026-01-05T02:00:00.000Z");
    expect(starts(week, "2026-01-12T02:00:00Z")).toBe("2026-01-12T02:00:00.000Z");
    const bounded = { ...nightly, timeZone: "UTC", fromMs: utc("2026-01-05T02:00:00Z"), untilMs: utc("2026-01-06T02:00:00Z") };
    const days = ["04", "05", "06", "07"].map((day) => starts(bounded, `2026-01-${day}T02:10:00Z`) !== null);
    expect(days).toEqual([false, true, true, false]);
  });
  it("are open while the clock on the wall shows a time in them, whatever the zone and the night", () => {
    const zones = fc.constantFrom("UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "America/St_Johns");
    const changes = fc.constantFrom("2026-03-08", "2026-03-29", "2026-04-05", "2026-06-01", "2026-10-04", "2026-10-25", "2026-11-01");
    const minute = fc.integer({ min: 0, max: 1439 });
    fc.assert(
      fc.property(zones, changes, minute, fc.integer({ min: 1, max: 1440 }), (timeZone, day, startMinute, durationMinutes) => {
        const window = { ...nightly, timeZone, startMinute, durationMinutes };
        const clock = new Intl.DateTimeFormat("en-GB", { timeZone, hour: "2-digit", minute: "2-digit" });
        const from = utc(`${day}T00:00:00Z`) - 86_400_000;
        for (let at = from; at < from + 3 * 86_400_000; at += 7 * MINUTE) {
          const [hour, past] = clock.format(at).split(":").map(Number) as [number, number];
          const shows = (((60 * hour + past - startMinute) % 1440) + 1440) % 1440 < durationMinutes;
          const one = occurrenceAt(window, at);
          const isWithin = one === null || (at >= one.startMs && at < one.endMs);
          if ((one !== null) !== shows || !isWithin) expect.unreachable(`at ${at} the clock shows ${hour}:${past}`);
        }
      }),
      { numRuns: 60 },
    );
  });
  it("are watched as they are, with the calendar asked when they open or close alone", () => {
    const zone = fc.constantFrom("UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "Pacific/Apia");
    const time = fc.integer({ min: utc("2026-01-01T00:00:00Z"), max: utc("2027-01-01T00:00:00Z") });
    const bound = fc.option(time, { nil: null });
    const window = fc.record({
      timeZone: zone,
      weekdays: fc.uniqueArray(fc.integer({ min: 0, max: 6 }), { maxLength: 3 }),
      startMinute: fc.integer({ min: 0, max: 1439 }),
      durationMinutes: fc.constantFrom(1, 30, 600, 1440, 3000, 10_080),
      fromMs: bound,
      untilMs: bound,
    });
    fc.assert(
      fc.property(window, time, (given, from) => {
        const watch = new WindowWatch(given);
        for (let at = from; at < from + 15 * 86_400_000; at += 37 * MINUTE) {
          if (watch.isOpen(at) !== (occurrenceAt(given, at) !== null)) expect.unreachable(`at ${at}`);
        }
        // Each day it opens and closes once at most, and once more where an hour comes twice.
        expect(watch.inspected).toBeLessThanOrEqual(2 * 17 + 1);
        // And back, as a backtest may go.
        expect(watch.isOpen(from)).toBe(occurrenceAt(given, from) !== null);
      }),
      { numRuns: 60 },
    );
  });
  it.each([
    [{ timeZone: "Mars/Olympus" }, /time zone/],
    [{ weekdays: [7] }, /weekdays/],
    [{ startMinute: 1440 }, /minute of the day/],
    [{ durationMinutes: 0 }, /duration/],
    [{ durationMinutes: 10_081 }, /duration/],
  ])("say what is wrong with %o", (change, problem) => {
    expect(windowProblem(nightly)).toBeNull();
    expect(windowProblem({ ...nightly, durationMinutes: 10_080, startMinute: 1439, weekdays: [0, 6] })).toBeNull();
    expect(windowProblem({ ...nightly, ...change })).toMatch(problem);
  });
});

describe("silences", () => {
  const start = utc("2026-01-05T00:00:00Z");
  const matcher: LabelMatcher = { name: "service_id", operator: "=~", value: "check.*" };
  const once: Silence = {
    id: "s1",
    tenant: "t",
    matchers: [matcher, { name: "severity", operator: "!=", value: "high" }],
    when: { kind: "once", startsAtMs: start, endsAtMs: start + 60 * MINUTE },
    comment: "",
  };
  const labels = { service_id: "checkout", severity: "medium" };
  it("hold from start to before end, for all their matchers", () => {
    const at = (ms: number): boolean => silenceFor([once], labels, start + ms) !== null;
    expect([-1, 0, 60 * MINUTE - 1, 60 * MINUTE].map(at)).toEqual([false, true, true, false]);
    expect(silenceFor([once], { ...labels, severity: "high" }, start)).toBeNull();
    expect(silenceFor([{ ...once, matchers: [] }], labels, start)).toBeNull();
  });
  it("come again in a window", () => {
    const window = { timeZone: "UTC", weekdays: [1], startMinute: 0, durationMinutes: 60, fromMs: null, untilMs: null };
    const weekly: Silence = { ...once, id: "s2", when: { kind: "recurring", window } };
    const week = 7 * 1440 * MINUTE;
    expect(
      [0, 59 * MINUTE, 60 * MINUTE, week, 2 * week - 1].map((ms) => silenceFor([once, weekly], labels, start + ms)?.id ?? null),
    ).toEqual(["s1", "s1", null, "s2", null]);
  });
});
