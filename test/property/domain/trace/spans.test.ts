// Spans in random order, split over requests, repeated, with checkpoints and restarts in between: the same series and the same call graph as plain counting gives.
import fc from "fast-check";
import { expect, it } from "vitest";
import { PARTITIONS } from "../../../../src/core/layout/memory-map.ts";
import type { OtlpSpan } from "../../../../src/domain/otlp/otlp-items.ts";
import { NO_LOSS } from "../../../../src/domain/series/retained-attributes.ts";
import { SpanRig } from "../../../support/span-rig.ts";

/** Buckets are 2^(1/16) wide, and a quantile is the middle of its bucket. */
const QUANTILE_ERROR_MAX = 2 ** (1 / 32) - 1;

const START = Date.UTC(2026, 0, 5, 12);
const WINDOW_MS = 10_000;
const hex = (value: number, digits: number) => value.toString(16).padStart(digits, "0");

/** A span of a trace, when it ends and when it is sent, in ms after the start. */
const spanArbitrary = fc.record({
  trace: fc.integer({ min: 1, max: 12 }),
  id: fc.integer({ min: 1, max: 8 }),
  parent: fc.option(fc.integer({ min: 1, max: 8 }), { nil: undefined }),
  service: fc.integer({ min: 0, max: 3 }),
  name: fc.integer({ min: 0, max: 2 }),
  kind: fc.integer({ min: 0, max: 5 }),
  endMs: fc.integer({ min: 0, max: 60_000 }),
  durationUs: fc.integer({ min: 2, max: 10_000_000 }),
  isError: fc.boolean(),
  delayMs: fc.oneof(fc.integer({ min: 0, max: 4_000 }), fc.integer({ min: 0, max: 40_000 })),
});
type Drawn = Readonly<{ sentMs: number; span: OtlpSpan }>;

function draw(span: typeof spanArbitrary extends fc.Arbitrary<infer T> ? T : never): Drawn {
  const endMs = START + span.endMs;
  return {
    sentMs: endMs + span.delayMs,
    span: {
      serviceId: `service-${span.service}`,
      environment: "",
      traceId: hex(span.trace, 32),
      spanId: hex(span.id, 16),
      parentSpanId: span.parent === undefined ? "" : hex(span.parent, 16),
      name: `operation-${span.name}`,
      kind: span.kind,
      startMs: endMs - span.durationUs / 1000,
      endMs,
      statusCode: span.isError ? 2 : 0,
      attributes: {},
      resourceAttributes: {},
      loss: NO_LOSS,
    },
  };
}

const closingOf = ({ sentMs, span }: Drawn) =>
  Math.max(Math.floor(span.endMs / WINDOW_MS) + 1, Math.floor((sentMs - 5_000) / WINDOW_MS) + 1);

/** Requests and quantiles by plain counting: of each window the spans of its first closing. */
function countPlainly(sent: readonly Drawn[]): Map<string, number[]> {
  const groups = new Map<string, { closing: number; spans: Map<string, OtlpSpan> }>();
  for (const drawn of sent) {
    const { span } = drawn;
    const window = `${span.serviceId} ${Math.floor(span.endMs / WINDOW_MS)}`;
    const closing = closingOf(drawn);
    const group = groups.get(window);
    if (group === undefined || closing < group.closing)
      groups.set(window, { closing, spans: new Map([[span.traceId + span.spanId, span]]) });
    else if (closing === group.closing && !group.spans.has(span.traceId + span.spanId)) group.spans.set(span.traceId + span.spanId, span);
  }
  const durations = new Map<string, number[]>();
  for (const { spans } of groups.values()) {
    for (const span of spans.values()) {
      const isRequest = span.kind === 2 || span.kind === 5 || (span.parentSpanId === "" && span.kind < 2);
      const time = (Math.floor(span.endMs / WINDOW_MS) + 1) * WINDOW_MS;
      const ms = Math.round((span.endMs - span.startMs) * 1000) / 1000;
      const names = [`span ${span.name}`, ...(isRequest ? ["service "] : [])].map((scope) => `${span.serviceId} ${scope} @${time}`);
      for (const name of names)
        durations.set(
          name,
          [...(durations.get(name) ?? []), ms].sort((a, b) => a - b),
        );
    }
  }
  return durations;
}

/** Pairs of different services, by the first that came of each span. */
function callsPlainly(sent: readonly Drawn[]): string[] {
  const spans = new Map<string, OtlpSpan>();
  for (const { span } of sent) if (!spans.has(span.traceId + span.spanId)) spans.set(span.traceId + span.spanId, span);
  const sums = new Map<string, [number, number, number]>();
  for (const span of spans.values()) {
    const parent = spans.get(span.traceId + span.parentSpanId);
    if (parent === undefined || parent.serviceId === span.serviceId) continue;
    const name = `${parent.serviceId} /${span.serviceId} ${Math.floor(span.endMs / 60_000)}`;
    const [calls, errors, us] = sums.get(name) ?? [0, 0, 0];
    sums.set(name, [calls + 1, errors + (span.statusCode === 2 ? 1 : 0), us + Math.round((span.endMs - span.startMs) * 1000)]);
  }
  return [...sums].map(([name, sum]) => `${name} ${sum.join(" ")}`).sort();
}

const arbitraries = [
  fc.array(spanArbitrary, { minLength: 1, maxLength: 120 }),
  /** What happens behind a request: nothing, checkpoints of one in so many partitions, a restart. */
  fc.array(
    fc.record({
      repeat: fc.boolean(),
      checkpoint: fc.integer({ min: 0, max: 4 }),
      behind: fc.integer({ min: 0, max: 3 }),
      restart: fc.boolean(),
    }),
    {
      minLength: 5,
      maxLength: 20,
    },
  ),
] as const;

it("come to the same, whatever comes between", () => {
  fc.assert(
    fc.property(...arbitraries, (drawn, events) => {
      const sent = drawn.map(draw).sort((a, b) => a.sentMs - b.sentMs);
      const rig = new SpanRig();
      sent.forEach(({ span, sentMs }, i) => {
        const { repeat, checkpoint, behind, restart } = events[i % events.length] as (typeof events)[number];
        rig.pass(sentMs - (sentMs % 3));
        rig.send(repeat ? [span, span] : [span], sentMs);
        if (checkpoint > 0) for (let p = i % checkpoint; p < PARTITIONS; p += checkpoint) rig.checkpoint(p, behind);
        if (restart) rig.restart();
      });
      rig.pass(START + 3_600_000);
      const expected = countPlainly(sent);
      for (const [name, durations] of expected) {
        const [service, rest, time] = [name.split(" ")[0], name.split(" ").slice(1, -1), name.split(" ").at(-1)];
        const value = (measure: string) =>
          rig.series.values.get(`default  ${service} ${rest[0]}.${measure}${rest[1] === "" ? "" : ` ${rest[1]}`} ${time}`);
        expect([name, value("requests")]).toEqual([name, durations.length]);
        const p95 = durations[Math.ceil(0.95 * durations.length) - 1] as number;
        expect(Math.abs((value("duration_ms.p95") as number) / p95 - 1)).toBeLessThan(QUANTILE_ERROR_MAX + 1e-6);
      }
      expect([...rig.series.values.keys()].filter((key) => key.includes(".requests")).length).toBe(expected.size);
      expect(rig.calls(START)).toEqual(callsPlainly(sent));
    }),
    { numRuns: 150 },
  );
});
