// Decompressed remote-write 2.0 bodies: the kernel's check and walk against the strict twin, over an ingest table that is emptied for each input and over one that
// knows the streams of the inputs before; and native histograms, whose decoder is TypeScript, against protobufjs.
import { START_MARKER_HIGH } from "../../../src/core/layout/row-frame.ts";
import { metadataMessages } from "../../../src/domain/remote-write/metadata-messages.ts";
import { decodeNativeHistogram, NATIVE_BUCKETS_MAX, NativeHistogramError } from "../../../src/domain/remote-write/native-histogram.ts";
import { BASE_MS, type Staged, WINDOW_MS } from "../../support/ingest-harness.ts";
import { bucketsOf, expectedOf2, type RawSeries2, strictDecode2 } from "../../support/remote-write-2-body.ts";
import type { InputWriter } from "../input/input-writer.ts";
import type { Random } from "../input/random.ts";
import { attempt, type FuzzTarget, magnitude, must, textTokens } from "../target.ts";
import { sameRows } from "./remote-write.ts";
import { type WalkProtocol, walkTarget } from "./walk-target.ts";

/** Over an empty table. */
export function remoteWrite2Target(): FuzzTarget {
  return walkTarget("remote-write-2", true, PROTOCOL);
}

/** Over a table that knows the streams of earlier inputs. */
export function warmRemoteWrite2Target(): FuzzTarget {
  return walkTarget("remote-write-2-warm", false, PROTOCOL);
}

function isMarker({ bits, code }: Staged): boolean {
  return code === 0 && bits >> 48n === BigInt(START_MARKER_HIGH);
}

const SYMBOLS = ["", "__name__", "up", "job", "node", "instance", "a", "le", "0.5", "ü", "x".repeat(130), "Help.", "seconds"];
const TOKENS = [
  ...textTokens("\x22\x02up", "\x0a\x04\x01\x02\x03\x04"),
  Uint8Array.from([0x12, 0x10, 0x09, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0x10, 0xa0, 0xd1, 0xff, 0x9a, 0x9f, 0x34]),
  Uint8Array.from([0x2a, 0x06, 0x08, 0x01, 0x18, 0x0b, 0x20, 0x0c]),
  Uint8Array.from([0x30, 0xa0, 0xd1, 0xff, 0x9a, 0x9f, 0x34]),
  Uint8Array.from([0x08, 0x01, 0x08, 0x02]),
  Uint8Array.from([0x1a, 0x00]),
  Uint8Array.from([0x0b]),
];

const PROTOCOL: WalkProtocol<RawSeries2> = {
  version: 2,
  tokens: TOKENS,
  write,
  decode: strictDecode2,
  judge: ({ staged, metadata }, decoded, samples, seen) => {
    const values = staged.filter((row) => !isMarker(row));
    sameRows(values, expectedOf2(decoded));
    const extra = magnitude(metadata.length) * 4 + magnitude(staged.length - values.length);
    return (((magnitude(samples) * 8 + magnitude(decoded.length)) * 32 + extra) << 12) | (seen & 4095);
  },
};

/** A Request as senders write it, with now and then a field out of its usual place. */
function write(out: InputWriter, random: Random): void {
  const symbols = random.between(3, SYMBOLS.length);
  const late = random.oneIn(10);
  const writeSymbols = () => {
    for (let i = 0; i < symbols; i++) out.u8(0x22).prefixed(() => out.text(SYMBOLS[i] as string));
  };
  if (!late) writeSymbols();
  for (let i = random.between(1, random.oneIn(8) ? 30 : 5); i > 0; i--) out.u8(0x2a).prefixed(() => writeSeries(out, random, symbols));
  if (late) writeSymbols();
}

function writeSeries(out: InputWriter, random: Random, symbols: number): void {
  const refs = 2 * random.between(1, 4) + (random.oneIn(12) ? 1 : 0);
  const ref = () => random.below(random.oneIn(30) ? 400 : symbols);
  if (random.oneIn(8)) for (let i = 0; i < refs; i++) out.u8(0x08).varint(ref());
  else
    out.u8(0x0a).prefixed(() => {
      for (let i = 0; i < refs; i++) out.varint(ref());
    });
  const samples = random.oneIn(4) ? random.between(0, 5) : 1;
  for (let i = 0; i < samples; i++) writeSample(out, random);
  if (random.oneIn(8)) out.u8(0x1a).prefixed(() => out.u8(random.below(256)));
  if (random.oneIn(2)) {
    out.u8(0x2a).prefixed(() => {
      out.u8(0x08).varint(random.below(10));
      if (random.oneIn(2)) out.u8(0x18).varint(ref());
      if (random.oneIn(2)) out.u8(0x20).varint(ref());
    });
  }
  if (random.oneIn(3)) out.u8(0x30).varint(BASE_MS - random.below(1000));
}

const TIMES = [BASE_MS - 1, BASE_MS, BASE_MS + WINDOW_MS, BASE_MS + WINDOW_MS + 1, 0, 1, 2 ** 35, 2 ** 42, 2 ** 53];
const VALUES = [0, -0, 1, Number.NaN, Number.POSITIVE_INFINITY, 5e-324];

function writeSample(out: InputWriter, random: Random): void {
  out.u8(0x12).prefixed(() => {
    if (!random.oneIn(12)) out.u8(9).f64(random.oneIn(6) ? random.pick(VALUES) : random.below(1000) / 8);
    if (!random.oneIn(12)) out.u8(16).varint(random.oneIn(6) ? random.pick(TIMES) : BASE_MS + random.below(100_000));
    if (random.oneIn(4)) out.u8(24).varint(BASE_MS - random.below(3));
  });
}

/** Histogram messages; and the same bytes as metadata of a 1.0 body, which may be anything but an exception. */
export function nativeHistogramTarget(): FuzzTarget {
  const check = (input: Uint8Array): number => {
    const messages = [...metadataMessages(input)].length;
    const histogram = attempt(() => decodeNativeHistogram(input, 0), NativeHistogramError);
    if (histogram === undefined) return -1 - magnitude(messages);
    const { positive, negative, bucketCounts, bounds, isStale } = histogram;
    for (const counts of [positive.counts, negative.counts, bucketCounts]) {
      must(counts.length <= NATIVE_BUCKETS_MAX, `${counts.length} buckets`);
      must(
        counts.every((count) => count >= 0 && Number.isFinite(count)),
        "a count is no number from 0 up",
      );
    }
    if (isStale) return 1;
    for (const [sign, buckets] of [
      ["positive", histogram.kind === "explicit" ? { offset: -1, counts: bucketCounts } : positive],
      ["negative", negative],
    ] as const) {
      const expected = bucketsOf(input, sign);
      if (expected === undefined || (histogram.kind === "explicit" && sign === "negative")) continue;
      const actual = buckets.counts.flatMap((count, i) => (count === 0 ? [] : [[buckets.offset + 1 + i, count]]));
      must(JSON.stringify(actual) === JSON.stringify(expected), `${sign} ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`);
    }
    return 2 + magnitude(positive.counts.length) * 64 + magnitude(negative.counts.length) * 8 + magnitude(bounds.length);
  };
  return {
    name: "native-histogram",
    bytesMax: 512,
    tokens: [Uint8Array.from([0x5a, 0x04, 0x08, 0x02, 0x10, 0x02])],
    write: writeHistogram,
    check,
  };
}

const zigzag = (value: number) => (value < 0 ? -2 * value - 1 : 2 * value);

function writeHistogram(out: InputWriter, random: Random): void {
  const isFloat = random.oneIn(3);
  const isCustom = random.oneIn(4);
  if (isFloat) out.u8(0x11).f64(random.below(100));
  else out.u8(0x08).varint(random.below(100));
  out.u8(0x19).f64(random.below(1000) / 8);
  out.u8(0x20).varint(zigzag(isCustom ? -53 : random.between(-4, 8)));
  for (const side of isCustom ? [1] : [0, 1]) {
    let buckets = 0;
    for (let spans = random.between(0, 3); spans > 0; spans--) {
      const length = random.between(0, 4);
      buckets += length;
      const offset = isCustom || spans > 0 ? random.below(5) : random.between(-9, 9);
      out.u8(side === 0 ? 0x42 : 0x5a).prefixed(() => out.u8(0x08).varint(zigzag(offset)).u8(0x10).varint(length));
    }
    out.u8(isFloat ? (side === 0 ? 0x52 : 0x6a) : side === 0 ? 0x4a : 0x62).prefixed(() => {
      for (let i = 0; i < buckets; i++) {
        if (isFloat) out.f64(random.below(10));
        else out.varint(zigzag(i === 0 ? random.below(20) : random.between(-1, 3)));
      }
    });
  }
  out.u8(0x78).varint(BASE_MS);
  if (isCustom)
    out
      .u8(0x82)
      .u8(0x01)
      .prefixed(() => {
        for (let i = 0; i < 16; i++) out.f64(i);
      });
}
