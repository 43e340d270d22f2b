/** Bodies of each kind that take more than a unit are overtaken by bodies of the same kind, which use the same kernel; the log then holds what it would had each come alone. */
import { compressSync } from "snappy";
import { describe, expect, it } from "vitest";
import { sectionsOf } from "../../src/actors/engine/unit/work-unit.ts";
import { mergeBlocks } from "../../src/adapters/log/log-merge.ts";
import { listSegments } from "../../src/adapters/log/log-segment.ts";
import { ASIDE_BYTES_MAX, BODIES_ASIDE_MAX } from "../../src/core/config/body-limits.ts";
import { SMALL_BODY_BYTES_MAX } from "../../src/core/config/limits.ts";
import {
  SECTION_DEAD_LETTER,
  SECTION_DEFINE,
  SECTION_DISTRIBUTION,
  SECTION_METADATA,
  SECTION_PACKED_ROWS,
  SECTION_RECORD,
  SECTION_SPANS,
} from "../../src/core/layout/row-frame.ts";
import { BODY_JSON_BATCH, BODY_REMOTE_WRITE_1, BODY_REMOTE_WRITE_2 } from "../../src/core/protocol/body-kind.ts";
import { otlpBodyKind } from "../../src/core/protocol/otlp-kind.ts";
import { messagesOf } from "../../src/domain/codec/shard-message.ts";
import { Cluster, VirtualClock } from "../support/cluster.ts";
import { decodeDefinitions } from "../support/encoded-definitions.ts";
import { MemoryDisk } from "../support/memory-log.ts";
import { bodyOf, counter, gauge, logsOf, metricsOf, ns, point, span, spansOf, text } from "../support/otlp-requests.ts";
import { OTLP_NOW_MS, spanLinesOf } from "../support/otlp-rig.ts";
import { encodeBody2 } from "../support/remote-write-2-body.ts";
import { encodeBody } from "../support/remote-write-body.ts";
import { unpackRowsSlowly } from "../support/row-packing.ts";

const KINDS_OF_JSON: ReadonlySet<number> = new Set([SECTION_RECORD, SECTION_DEAD_LETTER, SECTION_METADATA]);

interface Shape {
  readonly kind: number;
  /** A body of `count` items, other ones for each `seed`. */
  readonly body: (count: number, seed: string) => Uint8Array;
  /** Items of a body of the ring that takes several units, and of one above SMALL_BODY_BYTES_MAX. */
  readonly several: number;
  readonly large: number;
}

const times = <Item>(count: number, item: (i: number) => Item) => Array.from({ length: count }, (_, i) => item(i));
const labels = (i: number, seed: string) => [["__name__", `orders_${i % 7}`] as const, ["n", `${seed} ${i}`] as const];
const wordy = (i: number) => "wordy ".repeat(20) + i;

const SHAPES: Readonly<Record<string, Shape>> = {
  "remote-write 1.0, series without a name": {
    kind: BODY_REMOTE_WRITE_1,
    several: 6_000,
    large: 30_000,
    body: (count, seed) =>
      compressSync(
        Buffer.from(
          encodeBody(
            times(count, (i) => ({
              labels: i % 3 === 0 ? labels(i, seed) : [["n", `${seed} ${Math.sin(i)} ${Math.cos(i)}`]],
              samples: times(1 + (i % 3), (at) => ({ value: i + at, time: OTLP_NOW_MS + at })),
            })),
          ),
        ),
      ),
  },
  "remote-write 1.0, samples too old": {
    kind: BODY_REMOTE_WRITE_1,
    several: 3_000,
    large: 70_000,
    body: (count, seed) =>
      compressSync(
        Buffer.from(
          encodeBody([
            {
              labels: [["__name__", "a"] as const, ["n", seed] as const],
              samples: times(count, (i) => ({ value: Math.sin(i), time: i % 2 === 0 ? OTLP_NOW_MS + i : i })),
            },
            { labels: labels(1, seed), samples: [{ value: 1, time: OTLP_NOW_MS }] },
          ]),
        ),
      ),
  },
  "remote-write 2.0, starts and metadata": {
    kind: BODY_REMOTE_WRITE_2,
    several: 9_000,
    large: 16_000,
    body: (count, seed) =>
      compressSync(
        Buffer.from(
          encodeBody2(
            times(count, (i) => ({
              labels:
                i % 5 === 0 ? [["n", `${seed} ${i} ${Math.sin(i)}`] as const] : [...labels(i, seed), ["m", String(Math.sin(i))] as const],
              samples: times(2, (at) => ({ value: i + at, time: OTLP_NOW_MS + at, start: OTLP_NOW_MS - 60_000 - (i % 11) })),
              metadata: { type: 1, help: `help of ${i % 7}`, unit: "1" },
            })),
          ),
        ),
      ),
  },
  "points in protobuf": {
    kind: otlpBodyKind("metrics", "protobuf"),
    several: 3_000,
    large: 14_000,
    body: (count, seed) => {
      const points = (part: number) =>
        times(count / 2, (i) =>
          point({ attributes: [text("n", `${seed} ${part} ${i}`)], asDouble: i, startTimeUnixNano: ns(OTLP_NOW_MS - 5_000) }),
        );
      return bodyOf(
        "metrics",
        "protobuf",
        metricsOf([{ ...gauge(points(0)), unit: "items" }, counter(points(1))], [text("service.name", seed)]),
      );
    },
  },
  "points in JSON": {
    kind: otlpBodyKind("metrics", "json"),
    several: 3_000,
    large: 8_000,
    body: (count, seed) =>
      bodyOf(
        "metrics",
        "json",
        metricsOf(
          [gauge(times(count, (i) => point({ attributes: [text("n", `${seed} ${i}`)], asDouble: i })))],
          [text("service.name", seed)],
        ),
      ),
  },
  "histograms in protobuf": {
    kind: otlpBodyKind("metrics", "protobuf"),
    several: 2_000,
    large: 9_000,
    body: (count, seed) => {
      const dataPoints = times(count, (i) => ({
        attributes: [text("n", `${seed} ${i % 50}`)],
        startTimeUnixNano: ns(OTLP_NOW_MS - 9_000),
        timeUnixNano: ns(OTLP_NOW_MS + i),
        count: 6,
        sum: 9,
        bucketCounts: [1, 2, 3],
        explicitBounds: [1, 2],
      }));
      return bodyOf(
        "metrics",
        "protobuf",
        metricsOf([{ name: "took", histogram: { aggregationTemporality: 2, dataPoints } }, gauge([point()])]),
      );
    },
  },
  "spans in protobuf, odd ones among them": {
    kind: otlpBodyKind("traces", "protobuf"),
    several: 3_500,
    large: 9_000,
    body: (count, seed) => {
      const many = times(count, (i) =>
        span({
          name: `GET /${i % 900}`,
          spanId: (0x1000000 + i).toString(16).padStart(16, "0"),
          attributes: i % 4 === 0 ? [{ key: "list", value: { arrayValue: { values: [{ intValue: i }] } } }] : [text("seed", seed)],
        }),
      );
      return bodyOf("traces", "protobuf", spansOf(many));
    },
  },
  "logs in protobuf": {
    kind: otlpBodyKind("logs", "protobuf"),
    several: 2_500,
    large: 6_000,
    body: (count, seed) =>
      bodyOf(
        "logs",
        "protobuf",
        logsOf(times(count, (i) => ({ timeUnixNano: ns(i % 5 === 0 ? 1 : OTLP_NOW_MS), body: { stringValue: `${seed} ${wordy(i)}` } }))),
      ),
  },
  "logs in JSON": {
    kind: otlpBodyKind("logs", "json"),
    several: 2_000,
    large: 6_000,
    body: (count, seed) =>
      bodyOf(
        "logs",
        "json",
        logsOf(times(count, (i) => ({ timeUnixNano: ns(OTLP_NOW_MS), body: { stringValue: `${seed} ${wordy(i)}` } }))),
      ),
  },
  "records, bad ones among them": {
    kind: BODY_JSON_BATCH,
    several: 3_000,
    large: 9_000,
    body: (count, seed) =>
      Buffer.from(
        JSON.stringify(
          times(count, (i) =>
            i % 3 === 0
              ? { service_id: seed, n: i }
              : {
                  service_id: seed,
                  type: "log",
                  body: wordy(i).slice(0, count > 4_000 ? 200 : 60),
                  timestamp: new Date(OTLP_NOW_MS).toISOString(),
                },
          ),
        ),
      ),
  },
};

function start(disk = new MemoryDisk()) {
  const cluster = new Cluster({ engines: 1, epoch: 1 }, { clock: new VirtualClock(OTLP_NOW_MS), disk });
  cluster.run(() => undefined);
  return { cluster, disk };
}

/** What a log holds, whatever units it came in and whatever numbers streams, bodies and names have there. */
function contents(disk: MemoryDisk): string[] {
  const streams = new Map<number, string>();
  const lines: string[] = [];
  for (const { payload, header } of mergeBlocks(listSegments("log", disk), new Map(), disk)) {
    for (const { kind, payload: section } of sectionsOf(payload)) {
      if (kind === SECTION_DEFINE) {
        for (const { ref, flags, identity } of decodeDefinitions(section)) streams.set(ref, `${flags} ${Buffer.from(identity).toString()}`);
      } else if (kind === SECTION_PACKED_ROWS) {
        for (const { ref, offset, bits } of unpackRowsSlowly(section, 1_000_000) ?? [])
          lines.push(`${streams.get(ref)} ${header.baseMs + offset} ${bits}`);
      } else if (KINDS_OF_JSON.has(kind))
        lines.push(
          Buffer.from(section)
            .toString()
            .replace(/"id":"\w{20}(\w{12})"/, '"id":"$1"'),
        );
      else if (kind === SECTION_SPANS || kind === SECTION_DISTRIBUTION) {
        for (const { partition, payload: message } of messagesOf(section))
          lines.push(
            ...(kind === SECTION_SPANS ? spanLinesOf(message) : [Buffer.from(message).toString("hex")]).map(
              (line) => `${partition} ${line}`,
            ),
          );
      }
    }
  }
  return lines.sort();
}

describe.each(Object.entries(SHAPES))("%s", (_name, { kind, body, several, large }) => {
  it.each([
    ["of the ring", several],
    ["in the place for large ones", large],
  ])("%s: bodies of the same kind overtake it, and nothing of any is lost or mixed up", (_where, count) => {
    const bodies = [body(count, "long"), ...times(6, (i) => body(20, `short ${i}`))];
    const alone = start();
    const expected: string[] = [];
    for (const bytes of bodies) {
      alone.cluster.submit(0, kind, bytes, (answer) => expected.push(`${answer.status} ${answer.body} ${answer.written}`));
      alone.cluster.run(() => undefined);
    }
    const { cluster, disk } = start();
    const answers: string[] = [];
    const order: number[] = [];
    let sent = 0;
    const submit = () => {
      const number = sent++;
      const taken = cluster.submit(0, kind, bodies[number] as Uint8Array, (answer) => {
        answers[number] = `${answer.status} ${answer.body} ${answer.written}`;
        order.push(number);
      });
      expect(taken).toBe(true);
    };
    submit();
    for (let steps = 0; order.length < bodies.length; steps++) {
      if (steps > 20_000) throw new Error("it does not come to its end");
      if (steps % 2 === 0 && sent < bodies.length) submit();
      cluster.step(0);
      cluster.link(0).takeFrames(10_000);
    }
    cluster.run(() => undefined);
    const withoutIds = (answer: string) => answer.replace(/"request_id":"[^"]*"/, "");
    expect(answers.map(withoutIds)).toEqual(expected.map(withoutIds));
    expect(order.indexOf(0), "bodies that were answered before").toBeGreaterThan(0);
    expect(order.filter((number) => number !== 0)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(bodies[0]!.length > SMALL_BODY_BYTES_MAX).toBe(count === large);
    const [logged, loggedAlone] = [contents(disk), contents(alone.disk)];
    expect(logged.length).toBeGreaterThan(10);
    expect(logged).toEqual(loggedAlone);
  });
});

it("many at a time: a tenant has half of the places, what goes beyond is refused with its rest, and others have theirs", () => {
  const { cluster } = start();
  cluster.announce(1, "other");
  const { kind, body } = SHAPES["records, bad ones among them"] as Shape;
  const statuses: number[] = [];
  const bytes = body(2_000, "many");
  for (let i = 0; i < BODIES_ASIDE_MAX / 2 + 8; i++) {
    cluster.submit(0, kind, bytes, ({ status }) => statuses.push(status));
    cluster.step(0);
  }
  let other = 0;
  cluster.submit(
    0,
    kind,
    bytes,
    ({ status }) => {
      other = status;
    },
    "",
    1,
  );
  cluster.run(() => undefined);
  expect(bytes.length * BODIES_ASIDE_MAX).toBeLessThan(ASIDE_BYTES_MAX / 2);
  expect(new Set(statuses)).toEqual(new Set([200, 503]));
  expect(statuses).toHaveLength(BODIES_ASIDE_MAX / 2 + 8);
  expect(other).toBe(200);
});

it("a log that cannot be written: all that has begun is refused, each once, and the next bodies are taken", () => {
  const { cluster, disk } = start();
  const { kind, body, several, large } = SHAPES["points in protobuf"] as Shape;
  const statuses: string[] = [];
  const submit = (name: string, count: number) =>
    cluster.submit(0, kind, body(count, name), ({ status }) => void statuses.push(`${name} ${status}`));
  submit("large", large);
  for (const name of ["first", "second"]) submit(name, several);
  for (let i = 0; i < 6; i++) cluster.step(0);
  expect(statuses).toEqual([]);
  disk.failNext("writevSync", "ENOSPC");
  cluster.run(() => undefined);
  expect(statuses.sort()).toEqual(["first 503", "large 503", "second 503"]);
  for (const name of ["again", "more"]) submit(name, several);
  submit("large again", large);
  cluster.run(() => undefined);
  expect(statuses.slice(3).sort()).toEqual(["again 200", "large again 200", "more 200"]);
});
