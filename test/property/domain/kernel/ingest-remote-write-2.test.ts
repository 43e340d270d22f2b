import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { STATUS_BAD_PROTOBUF } from "../../../../src/core/layout/kernel-status.ts";
import { START_MARKER_HIGH } from "../../../../src/core/layout/row-frame.ts";
import { BASE_MS, byStream, IngestHarness, type Staged, WINDOW_MS } from "../../../support/ingest-harness.ts";
import {
  encodeBody2,
  expectedOf2,
  expectedStarts,
  type RawSeries2,
  type Series2,
  strictDecode2,
} from "../../../support/remote-write-2-body.ts";
import { bytesField, encodeBody, fixed64Field, sampleField, varint, varintField } from "../../../support/remote-write-body.ts";

/** Smaller bodies tried at most after a failure. */
const SHRINKS_MAX = 2000;
const VERSION = { version: 2 } as const;

const text = fc.oneof(
  fc.constantFrom("", "a", "b", "up", "job", "__name__"),
  fc.string({ unit: "grapheme", maxLength: 12 }),
  fc.noShrink(fc.string({ minLength: 120, maxLength: 300 })),
);
const time = fc.oneof(
  fc.integer({ min: BASE_MS, max: BASE_MS + 100_000 }),
  fc.constantFrom(0, -1, BASE_MS - 1, BASE_MS + WINDOW_MS, BASE_MS + WINDOW_MS + 1, 2 ** 35 - 1, 2 ** 42),
);
const value = fc.oneof(fc.double(), fc.constantFrom(0, -0, 1, Number.NaN, Infinity, -Infinity));
const start = fc.option(fc.oneof(fc.constantFrom(BASE_MS - 5, BASE_MS, BASE_MS + 1000), fc.integer({ min: -3, max: 5 })), {
  nil: undefined,
  freq: 2,
});
const sample = fc
  .record({ value, time, start })
  .map(({ start: reported, ...rest }) => (reported === undefined ? rest : { ...rest, start: reported }));
const metadata = fc.record({ type: fc.integer({ min: 0, max: 9 }), help: text, unit: text });
const series: fc.Arbitrary<Series2> = fc
  .record({
    labels: fc.array(fc.tuple(text, text), { minLength: 1, maxLength: 10 }),
    samples: fc.array(sample, { maxLength: 5 }),
    metadata: fc.option(metadata, { nil: undefined }),
    created: start,
    exemplars: fc.nat(1),
    histograms: fc.array(fc.constant({ countInt: 3, sum: 1, timestamp: BASE_MS }), { maxLength: 1 }),
  })
  .map(({ metadata: reported, created, ...rest }) => ({
    ...rest,
    ...(reported && { metadata: reported }),
    ...(created !== undefined && { created }),
  }));
const request = fc.limitShrink(fc.array(series, { maxLength: 8 }), SHRINKS_MAX);

/** Fields in any order, single references, unknown fields between them, references beyond the symbols. */
const disorderly = fc
  .limitShrink(
    fc.tuple(
      fc.array(text, { maxLength: 8 }),
      fc.array(
        fc.record({
          refs: fc.array(fc.oneof({ weight: 9, arbitrary: fc.nat(8) }, { weight: 1, arbitrary: fc.constantFrom(300, 2 ** 32, 2 ** 40) }), {
            maxLength: 8,
          }),
          packed: fc.boolean(),
          samples: fc.array(fc.record({ value, time }), { maxLength: 3 }),
          type: fc.nat(300),
        }),
        { maxLength: 5 },
      ),
      fc.array(fc.nat(1000), { minLength: 1, maxLength: 20 }),
    ),
    SHRINKS_MAX,
  )
  .map(([symbols, all, keys]) => {
    const shuffled = (parts: number[][]): number[][] =>
      parts
        .map((part, i) => [keys[i % keys.length] ?? 0, part] as const)
        .sort(([a], [b]) => a - b)
        .map(([, part]) => part);
    const bodies = all.map(({ refs, packed, samples, type }) => {
      const fields = packed
        ? [
            bytesField(
              1,
              refs.slice(0, 3).flatMap((ref) => varint(ref)),
            ),
            bytesField(
              1,
              refs.slice(3).flatMap((ref) => varint(ref)),
            ),
          ]
        : refs.map((ref) => varintField(1, ref));
      const extra = [
        bytesField(5, [...varintField(1, type), ...varintField(7, 1), ...varintField(4, 1)]),
        fixed64Field(9, 1),
        varintField(6, BASE_MS),
      ];
      return bytesField(5, shuffled([...fields, ...samples.map(sampleField), ...extra]).flat());
    });
    const encoder = new TextEncoder();
    return Uint8Array.from(
      shuffled([...symbols.map((symbol) => bytesField(4, encoder.encode(symbol))), ...bodies, varintField(1, 7)]).flat(),
    );
  });

const isMarker = ({ bits, code }: Staged): boolean => code === 0 && bits >> 48n === BigInt(START_MARKER_HIGH);

function startsOf(staged: readonly Staged[]): Record<string, string[]> {
  const reported: Record<string, string[]> = {};
  for (const { stream, time: at, bits } of staged.filter(isMarker)) {
    const lines = reported[stream] ?? [];
    lines.push(`${at} ${bits & 0xffffffffffffn}`);
    reported[stream] = lines;
  }
  return reported;
}

/** Every marker stands straight ahead of a row of its stream and time. */
function expectMarkersAhead(staged: readonly Staged[]): void {
  const rows = staged.filter(({ code }) => code === 0);
  rows.forEach((row, i) => {
    if (isMarker(row)) expect([rows[i + 1]?.stream, rows[i + 1]?.time]).toEqual([row.stream, row.time]);
  });
}

function check(harness: IngestHarness, body: Uint8Array, options: { maxRows?: number } = {}): Staged[] {
  const all = strictDecode2(body);
  const { begun, staged } = harness.ingest(body, { ...VERSION, ...options });
  expect(begun).toBe(all === undefined ? STATUS_BAD_PROTOBUF : all.reduce((sum, each) => sum + each.samples.length, 0));
  if (all === undefined) return [];
  expect(byStream(staged.filter((row) => !isMarker(row)))).toEqual(byStream(expectedOf2(all)));
  expect([harness.kernel.histogramCount2(), harness.kernel.exemplarCount2()]).toEqual([
    all.reduce((sum, each) => sum + each.histograms, 0),
    all.reduce((sum, each) => sum + each.exemplars, 0),
  ]);
  return staged;
}

/** Each stream once, with one start for all its samples: then the ingest remembers exactly what it told. */
function isPlain(all: readonly RawSeries2[]): boolean {
  const streams = all.map(({ labels }) => JSON.stringify(labels));
  const isAlike = ({ samples, created }: RawSeries2): boolean => {
    const starts = new Set(samples.map(({ start: reported }) => reported));
    return starts.size < 2 && [...starts].every((reported) => reported >= 0n && (reported === 0n || created === 0n)) && created >= 0n;
  };
  return new Set(streams).size === streams.length && all.every(isAlike);
}

describe("remote-write 2.0 walk", () => {
  it("stages the samples that the strict decoder reads", () => {
    const harness = new IngestHarness();
    fc.assert(
      fc.property(request, (all) => {
        check(harness, encodeBody2(all));
      }),
      { numRuns: 1500 },
    );
  });

  it("takes fields in any order, single references and symbols behind their series", () => {
    const harness = new IngestHarness();
    fc.assert(
      fc.property(disorderly, (body) => {
        check(harness, body);
      }),
      { numRuns: 1500 },
    );
  });

  it("knows a stream whatever its symbols are numbered, and apart from 1.0 and from other tenants", () => {
    const harness = new IngestHarness();
    const labels = [
      ["__name__", "up"],
      ["job", "node"],
    ] as const;
    const samples = [{ value: 1, time: BASE_MS }];
    const first = harness.ingest(encodeBody2([{ labels, samples }]), VERSION);
    const renumbered = harness.ingest(encodeBody2([{ labels, samples }], ["x", "job", "y", "node"]), VERSION);
    const older = harness.ingest(encodeBody([{ labels, samples }]));
    expect([first, renumbered, older].map(({ statuses }) => statuses.length)).toEqual([2, 1, 2]);
    expect(harness.ingest(encodeBody2([{ labels, samples }]), { ...VERSION, tenant: 2 }).statuses).toHaveLength(2);
    expect([renumbered, older].map(({ staged }) => staged)).toEqual([first.staged, first.staged]);
    const swapped = encodeBody2([
      {
        labels: [
          ["__name__", "node"],
          ["job", "up"],
        ],
        samples,
      },
    ]);
    expect(harness.ingest(swapped, VERSION).statuses).toHaveLength(2);
  });

  it("goes on where it stopped, whatever a unit may hold", () => {
    const harness = new IngestHarness();
    fc.assert(
      fc.property(request, fc.integer({ min: 1, max: 5 }), (all, maxRows) => {
        const body = encodeBody2(all);
        const whole = check(harness, body).filter((row) => !isMarker(row));
        const parts = check(harness, body, { maxRows }).filter((row) => !isMarker(row));
        expect(byStream(parts)).toEqual(byStream(whole));
      }),
      { numRuns: 500 },
    );
  });

  const plainRequest = fc.array(
    fc
      .record({
        labels: fc.array(fc.tuple(text, text), { minLength: 1, maxLength: 2 }),
        times: fc.array(fc.oneof({ weight: 4, arbitrary: fc.nat(1000) }, fc.constant(-1)), { maxLength: 3 }),
        reported: start,
        own: fc.boolean(),
      })
      .map(({ labels, times, reported, own }): Series2 => {
        const samples = times.map((at) => ({
          value: 1,
          time: BASE_MS + at,
          ...(own && reported !== undefined && reported > 0 && { start: reported }),
        }));
        return { labels, samples, ...(!own && reported !== undefined && reported > 0 && { created: reported }) };
      }),
    { maxLength: 4 },
  );

  it("tells a start ahead of its sample, when it differs from the one told before", () => {
    const harness = new IngestHarness();
    let markers = 0;
    fc.assert(
      fc.property(fc.array(plainRequest, { minLength: 1, maxLength: 3 }), (bodies) => {
        harness.kernel.keyTableClear();
        const known = new Map<string, bigint>();
        for (const body of bodies.map((each) => encodeBody2(each))) {
          const all = strictDecode2(body) as RawSeries2[];
          fc.pre(isPlain(all));
          const { staged } = harness.ingest(body, VERSION);
          expectMarkersAhead(staged);
          const reported = expectedStarts(all, known);
          for (const [stream, lines] of Object.entries(startsOf(staged))) expect([stream, lines]).toEqual([stream, reported[stream]]);
          markers += staged.filter(isMarker).length;
          for (const stream of Object.keys(reported)) expect(startsOf(staged)[stream], stream).toBeDefined();
        }
      }),
      { numRuns: 300 },
    );
    expect(markers).toBeGreaterThan(50);
  });

  it("tells a start again when no sample of its series was taken", () => {
    const harness = new IngestHarness();
    const labels = [["__name__", "up"]] as const;
    const send = (value: number, at: number) =>
      startsOf(harness.ingest(encodeBody2([{ labels, samples: [{ value, time: at }], created: BASE_MS - 5 }]), VERSION).staged);
    expect([send(1, BASE_MS - 1), send(1, BASE_MS + WINDOW_MS + 1)]).toEqual([{}, {}]);
    expect([send(1, BASE_MS + 1), send(1, BASE_MS + 2)]).toEqual([{ '[["__name__","up"]]': [`${BASE_MS + 1} ${BASE_MS - 5}`] }, {}]);
  });

  it("stops for metadata of a series when they are new or other than before, and not for the same", () => {
    const harness = new IngestHarness();
    const labels = [["__name__", "up"]] as const;
    const samples = [{ value: 1, time: BASE_MS }];
    const tell = (type: number, help: string, unit: string, symbols: string[] = []) =>
      harness.ingest(encodeBody2([{ labels, samples, metadata: { type, help, unit } }], symbols), VERSION).metadata;
    expect(tell(1, "Help.", "")).toEqual([JSON.stringify([labels, 1, "Help.", ""])]);
    expect(tell(1, "Help.", "", ["z", "Help."])).toEqual([]);
    expect(tell(2, "Help.", "")).toEqual([JSON.stringify([labels, 2, "Help.", ""])]);
    expect(tell(2, "Other.", "")).toHaveLength(1);
    expect(tell(2, "Other.", "seconds")).toEqual([JSON.stringify([labels, 2, "Other.", "seconds"])]);
    expect(tell(2, "Other.", "seconds")).toEqual([]);
  });

  it("refuses damaged bodies exactly when the strict decoder does", () => {
    const harness = new IngestHarness();
    const counts = { refused: 0, taken: 0 };
    const change = fc.tuple(fc.noBias(fc.nat()), fc.oneof(fc.nat(255), fc.constantFrom(0x0a, 0x12, 0x22, 0x2a, 0x30, 0x80, 0xff, 0)));
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.array(change, { minLength: 1, maxLength: 4 }), fc.option(fc.nat(), { freq: 7 })), {
          minLength: 1,
          maxLength: 40,
          size: "max",
        }),
        fc.oneof(
          request.map((all) => encodeBody2(all)),
          disorderly,
        ),
        (damages, original) => {
          if (original.length === 0) return;
          for (const [changes, cutAt] of damages) {
            const body = Uint8Array.from(original);
            for (const [at, byte] of changes) body[at % body.length] = byte;
            const cut = cutAt === null ? body : body.slice(0, cutAt % body.length);
            check(harness, cut);
            counts[strictDecode2(cut) === undefined ? "refused" : "taken"]++;
          }
        },
      ),
      { numRuns: 700 },
    );
    expect(counts.refused).toBeGreaterThan(1000);
    expect(counts.taken).toBeGreaterThan(1000);
  });
});
