import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { STATUS_BAD_PROTOBUF, STATUS_ROWS_FULL } from "../../../../src/core/layout/kernel-status.ts";
import { DECOMPRESSED, DECOMPRESSED_BYTES, LARGE_BODY } from "../../../../src/core/layout/memory-map.ts";
import { BASE_MS, byStream, IngestHarness, type Staged, WINDOW_MS } from "../../../support/ingest-harness.ts";
import {
  bytesField,
  decodeBody,
  encodeBody,
  fixed64Field,
  labelField,
  type Series,
  sampleField,
  varint,
  varintField,
} from "../../../support/remote-write-body.ts";
import { expectedOf, fieldsOf, NOT_A_NUMBER, strictDecode } from "../../../support/remote-write-decoder.ts";

/** Smaller bodies tried at most after a failure, at 1 to 10 ms each: without a bound fast-check goes on for hours, letter by letter. */
const SHRINKS_MAX = 2000;

// A long text is made short at once or stays.
const text = fc.oneof(
  { withCrossShrink: true },
  fc.string({ maxLength: 12 }),
  fc.string({ unit: "grapheme", maxLength: 12 }),
  fc.noShrink(fc.string({ minLength: 120, maxLength: 300 })),
);
const label = fc.tuple(text, text);
const time = fc.oneof(
  fc.integer({ min: BASE_MS, max: BASE_MS + WINDOW_MS }),
  fc.integer({ min: BASE_MS, max: BASE_MS + 100_000 }),
  fc.constantFrom(
    0,
    1,
    -1,
    -62_135_596_800_000,
    BASE_MS - 1,
    BASE_MS + WINDOW_MS,
    BASE_MS + WINDOW_MS + 1,
    2 ** 35 - 1,
    2 ** 35,
    2 ** 42 - 1,
    2 ** 42,
    2 ** 52,
  ),
);
const value = fc.oneof(
  fc.double(),
  fc.double({ noDefaultInfinity: true, noNaN: true }),
  fc.constantFrom(0, -0, 1, Number.NaN, Infinity, -Infinity),
);
const sample = fc.record({ value, time });
const series: fc.Arbitrary<Series> = fc.record({
  labels: fc.array(label, { minLength: 1, maxLength: 12 }),
  samples: fc.array(sample, { maxLength: 6 }),
});
const request = fc.limitShrink(fc.array(series, { maxLength: 8 }), SHRINKS_MAX);

/** Fields that a decoder must pass over, at any level. */
const unknownField = fc.oneof(
  fc
    .tuple(fc.integer({ min: 5, max: 1000 }), fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }))
    .map(([number, content]) => varintField(number, content)),
  fc.tuple(fc.integer({ min: 5, max: 1000 }), fc.uint8Array({ maxLength: 30 })).map(([number, content]) => bytesField(number, content)),
  fc.tuple(fc.integer({ min: 5, max: 1000 }), fc.double()).map(([number, content]) => fixed64Field(number, content)),
  fc.integer({ min: 5, max: 2 ** 29 - 1 }).map((number) => [...varint(number * 8 + 5), 1, 2, 3, 4]),
);

/** Parts shuffled by given numbers. */
function shuffled<T>(parts: T[], keys: readonly number[]): T[] {
  return parts
    .map((part, i) => [keys[i % keys.length] ?? 0, part] as const)
    .sort(([a], [b]) => a - b)
    .map(([, part]) => part);
}

/** A body with fields in any order and unknown fields, exemplars, histograms and metadata between them. */
const disorderly = fc
  .limitShrink(
    fc.tuple(request, fc.array(unknownField, { minLength: 1, maxLength: 6 }), fc.array(fc.nat(1000), { minLength: 1, maxLength: 20 })),
    SHRINKS_MAX,
  )
  .map(([all, unknown, keys]) =>
    Uint8Array.from(
      shuffled(
        [
          ...all.map(({ labels, samples }) =>
            bytesField(
              1,
              shuffled(
                [
                  ...labels.map(([name, content]) => labelField(name, content)),
                  ...samples.map(sampleField),
                  ...unknown.slice(0, 2),
                  bytesField(3, fixed64Field(2, 1)),
                  bytesField(4, []),
                ],
                keys,
              ).flat(),
            ),
          ),
          ...unknown,
          bytesField(3, bytesField(2, [65])),
        ],
        keys,
      ).flat(),
    ),
  );

const LIKELY_BYTES = [0x0a, 0x12, 0x09, 0x10, 0x80, 0xff, 0x00, 0x0b, 0x7f, 0x22, 0x1a];
const place = fc.noBias(fc.nat());
const change = fc.tuple(place, fc.oneof(fc.nat(255), fc.constantFrom(...LIKELY_BYTES)));
const damage = fc.tuple(
  fc.array(change, { minLength: 1, maxLength: 4, size: "max" }),
  fc.oneof({ withCrossShrink: true }, { arbitrary: fc.constant(undefined), weight: 7 }, { arbitrary: place, weight: 1 }),
);

/** A copy with one to four bytes changed, perhaps cut off; places count modulo the length. */
function damaged(
  original: Uint8Array,
  changes: ReadonlyArray<readonly [place: number, byte: number]>,
  cutAt: number | undefined,
): Uint8Array {
  const body = Uint8Array.from(original);
  if (body.length === 0) return body;
  for (const [at, byte] of changes) body[at % body.length] = byte;
  return cutAt === undefined ? body : body.slice(0, cutAt % body.length);
}

/** Only what lies inside the window is compared with protobufjs, whose times are rounded to doubles. */
function protobufjsExpected(all: readonly Series[]): Staged[] {
  const view = new DataView(new ArrayBuffer(8));
  return all.flatMap(({ labels, samples }) =>
    samples
      .filter((each) => labels.length > 0 && each.time >= BASE_MS && each.time <= BASE_MS + WINDOW_MS)
      .map((each) => {
        view.setFloat64(0, each.value);
        const bits = Number.isNaN(each.value) ? NOT_A_NUMBER : view.getBigUint64(0);
        return { stream: JSON.stringify(labels), time: each.time, bits, code: 0 };
      }),
  );
}

function check(harness: IngestHarness, body: Uint8Array): void {
  const all = strictDecode(body);
  const { begun, staged } = harness.ingest(body);
  expect(begun).toBe(all === undefined ? STATUS_BAD_PROTOBUF : all.reduce((sum, each) => sum + each.samples.length, 0));
  if (all !== undefined) expect(byStream(staged)).toEqual(byStream(expectedOf(all)));
}

describe("remote-write walk", () => {
  it("stages the samples that protobufjs decodes, in the same order", () => {
    const harness = new IngestHarness();
    fc.assert(
      fc.property(request, fc.nat(3), (all, metadata) => {
        const body = encodeBody(all, metadata);
        const { staged } = harness.ingest(body);
        expect(harness.kernel.metadataCount()).toBe(metadata);
        expect(byStream(staged.filter(({ code }) => code === 0))).toEqual(byStream(protobufjsExpected(decodeBody(body))));
        check(harness, body);
      }),
      { numRuns: 1500 },
    );
  });

  it("takes fields in any order and passes over unknown ones", () => {
    const harness = new IngestHarness();
    fc.assert(
      fc.property(disorderly, (body) => {
        const { staged, begun } = harness.ingest(body);
        expect(begun).toBeGreaterThanOrEqual(0);
        expect(byStream(staged.filter(({ code }) => code === 0))).toEqual(byStream(protobufjsExpected(decodeBody(body))));
        check(harness, body);
      }),
      { numRuns: 1500 },
    );
  });

  it("knows a stream whose labels stand scattered by the labels alone", () => {
    const harness = new IngestHarness();
    const [a, b] = [labelField("__name__", "up"), labelField("job", "node")];
    const samples = [1, 2, 3].map((each) => sampleField({ value: each, time: BASE_MS + each }));
    harness.ingest(Uint8Array.from(bytesField(1, [...a, ...b, ...(samples[0] ?? [])])));
    const { statuses, staged } = harness.ingest(
      Uint8Array.from(bytesField(1, [...(samples[0] ?? []), ...a, ...(samples[1] ?? []), ...b, ...(samples[2] ?? [])])),
    );
    expect(statuses).toHaveLength(1);
    expect(staged.map(({ time: at }) => at - BASE_MS)).toEqual([1, 2, 3]);
  });

  it("goes on where it stopped, whatever a unit may hold", () => {
    const harness = new IngestHarness();
    fc.assert(
      fc.property(request, fc.integer({ min: 1, max: 5 }), (all, maxRows) => {
        const body = encodeBody(all);
        const [whole, parts] = [harness.ingest(body), harness.ingest(body, { maxRows })];
        expect(byStream(parts.staged)).toEqual(byStream(whole.staged));
        expect(parts.statuses.filter((status) => status === STATUS_ROWS_FULL).length).toBe(
          Math.max(0, Math.ceil(whole.staged.filter(({ code }) => code === 0).length / maxRows) - 1),
        );
      }),
      { numRuns: 500 },
    );
  });

  it("reads what Prometheus sent", () => {
    const harness = new IngestHarness();
    const compressed = readFileSync("test/golden/prometheus-remote-write.bin");
    harness.place(LARGE_BODY, compressed);
    const bytes = harness.kernel.snappyDecompress(LARGE_BODY, compressed.length, DECOMPRESSED, DECOMPRESSED_BYTES);
    const { begun, staged } = harness.ingest(harness.loaded.bytes.slice(DECOMPRESSED, DECOMPRESSED + bytes));
    const golden = JSON.parse(readFileSync("test/golden/prometheus-remote-write.decoded.json", "utf8")) as {
      seriesTotal: number;
      timeseries: Array<{ labels: Array<{ name: string; value: string }>; samples: Array<{ value?: number; timestamp: string }> }>;
    };
    expect(begun).toBe(golden.seriesTotal);
    const expected = protobufjsExpected(
      golden.timeseries.map(({ labels, samples }) => ({
        labels: labels.map((each) => [each.name, each.value] as const),
        samples: samples.map((each) => ({ value: Number(each.value ?? 0), time: Number(each.timestamp) })),
      })),
    );
    expect(expected.length).toBeGreaterThan(10);
    const all = byStream(staged);
    for (const [stream, samples] of Object.entries(byStream(expected))) expect(all[stream]).toEqual(samples);
  });

  // protobufjs passes over groups and over known fields of another wire type; Prometheus' decoder, the strict twin and the kernel refuse them.
  // What the kernel takes, protobufjs takes too, but for texts that are not UTF-8, which cost their series only, when its labels are parsed, and for tags
  // and lengths of more than five bytes, which it refuses.
  it("refuses damaged bodies exactly when the strict decoder does", () => {
    const harness = new IngestHarness();
    const counts = { refused: 0, taken: 0, onlyProtobufjsTakes: 0 };
    fc.assert(
      fc.property(
        fc.array(damage, { minLength: 1, maxLength: 40, size: "max" }), // before the body: shrinks to one damage first
        fc.oneof(
          request.map((all) => encodeBody(all, 1)),
          disorderly,
        ),
        (damages, original) => {
          for (const [changes, cutAt] of damages) {
            const body = damaged(original, changes, cutAt);
            const decoded = strictDecode(body);
            const { begun, staged } = harness.ingest(body);
            expect(begun < 0).toBe(decoded === undefined);
            counts[decoded === undefined ? "refused" : "taken"]++;
            if (decoded !== undefined) expect(byStream(staged)).toEqual(byStream(expectedOf(decoded)));
            const taken = protobufjsAccepts(body);
            if (decoded !== undefined) expect(taken || decoded.some(({ labels }) => labels === undefined) || hasLongHead(body)).toBe(true);
            else if (taken) counts.onlyProtobufjsTakes++;
          }
        },
      ),
      { numRuns: 1000 },
    );
    expect(counts.refused).toBeGreaterThan(3000);
    expect(counts.taken).toBeGreaterThan(3000);
  });

  it("takes a tag of six bytes as Prometheus does, which protobufjs does not", () => {
    const series = bytesField(1, [...labelField("__name__", "up"), ...sampleField({ value: 1, time: BASE_MS })]);
    const body = Uint8Array.from([128, 128, 129, 128, 128, 0, 5, ...series]);
    expect(protobufjsAccepts(body)).toBe(false);
    expect(strictDecode(body)).toHaveLength(1);
    expect(new IngestHarness().ingest(body).staged).toMatchObject([{ code: 0, time: BASE_MS }]);
  });

  it("refuses a series for a text that is not UTF-8, even one that another replaces", () => {
    const label = bytesField(1, [...bytesField(1, [0xff]), ...bytesField(1, [0x61])]);
    const body = Uint8Array.from(bytesField(1, [...label, ...sampleField({ value: 1, time: BASE_MS })]));
    expect(protobufjsAccepts(body)).toBe(false);
    check(new IngestHarness(), body);
    expect(new IngestHarness().ingest(body)).toMatchObject({ begun: 1, staged: [], skippedSamples: 1 });
  });
});

/** Whether a tag or a length of a body, of its series, or of their labels and samples takes more than five bytes. */
function hasLongHead(bytes: Uint8Array, depth = 0): boolean {
  return fieldsOf(bytes).some(
    ({ isLong, number, content }) => isLong || (depth < 2 && number <= depth + 1 && hasLongHead(content, depth + 1)),
  );
}

function protobufjsAccepts(body: Uint8Array): boolean {
  try {
    decodeBody(body);
    return true;
  } catch {
    return false;
  }
}
