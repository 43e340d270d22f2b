// A steady sender that stops and starts at any moments, sends late, with checkpoints and restarts in between: no value is of a window that was cut, none that
// is whole is missing, and a restart changes none.
import fc from "fast-check";
import { expect, it } from "vitest";
import { SpanRig, SPANS_START as START, spanOf } from "../../../support/span-rig.ts";
import { extent } from "../../../support/test-extent.ts";

const WINDOW_MS = 10_000;
/** A window's spans, one a second. */
const FULL = WINDOW_MS / 1_000;

const plan = fc.record({
  /** Seconds that it sends, and is silent, in turns. */
  stretches: fc.array(fc.record({ sends: fc.integer({ min: 150, max: 260 }), silent: fc.integer({ min: 25, max: 90 }) }), {
    minLength: 1,
    maxLength: 3,
  }),
  delayMs: fc.integer({ min: 0, max: 4_000 }),
  events: fc.array(fc.record({ checkpoint: fc.boolean(), restart: fc.boolean() }), { minLength: 7, maxLength: 40 }),
});
type Plan = typeof plan extends fc.Arbitrary<infer T> ? T : never;

function secondsSent({ stretches }: Plan): number[] {
  let second = 0;
  return stretches.flatMap(({ sends, silent }) => {
    const from = second;
    second += sends + silent;
    return Array.from({ length: sends }, (_, i) => from + i);
  });
}

function run(drawn: Plan, isDisturbed: boolean): string[] {
  const rig = new SpanRig();
  const seconds = secondsSent(drawn);
  seconds.forEach((second, i) => {
    const endMs = START + second * 1_000;
    rig.pass(endMs + drawn.delayMs);
    rig.send([spanOf({ id: second + 1, endMs })], endMs + drawn.delayMs);
    const event = drawn.events[i % drawn.events.length];
    if (!isDisturbed || i % 5 !== 0) return;
    if (event?.checkpoint === true) for (const partition of new Set(rig.log.map((message) => message.partition))) rig.checkpoint(partition);
    if (event?.restart === true) rig.restart();
  });
  rig.pass(START + 3_600_000);
  return rig.series.lines().filter((line) => line.includes(" service.requests "));
}

it("a window that was cut has no value, a whole one has, after restarts too", () => {
  fc.assert(
    fc.property(plan, (drawn) => {
      const counts = new Map<number, number>();
      for (const second of secondsSent(drawn)) {
        const end = START + (Math.floor(second / FULL) + 1) * WINDOW_MS;
        counts.set(end, (counts.get(end) ?? 0) + 1);
      }
      const whole = [...counts].filter(([end, count]) => count === FULL && counts.has(end - WINDOW_MS) && counts.has(end + WINDOW_MS));
      const values = run(drawn, false);
      expect(values.filter((line) => !line.endsWith(` = ${FULL}`))).toEqual([]);
      expect(values).toEqual(expect.arrayContaining(whole.map(([end]) => `default  shop service.requests @${end} = ${FULL}`)));
      expect(run(drawn, true)).toEqual(values);
    }),
    { numRuns: extent(40, 16) },
  );
});
