// Decompressed remote-write bodies: the kernel's check and walk against the strict twin. Once over an ingest table that is emptied for each input, once over
// one that knows the streams of the inputs before: labels of known streams are not checked again (remote-write-index.ts), so that is another path.
import { BASE_MS, type Staged, WINDOW_MS } from "../../support/ingest-harness.ts";
import { expectedOf, type RawSeries, strictDecode } from "../../support/remote-write-decoder.ts";
import type { InputWriter } from "../input/input-writer.ts";
import type { Random } from "../input/random.ts";
import { type FuzzTarget, magnitude, must, textTokens } from "../target.ts";
import { type WalkProtocol, walkTarget } from "./walk-target.ts";

/** Over an empty table. */
export function remoteWriteTarget(): FuzzTarget {
  return walkTarget("remote-write", true, PROTOCOL);
}

/** Over a table that knows the streams of earlier inputs. */
export function warmRemoteWriteTarget(): FuzzTarget {
  return walkTarget("remote-write-warm", false, PROTOCOL);
}

/** Compares rows and rejects by stream; the order inside a stream counts, rejects stand apart. */
export function sameRows(staged: readonly Staged[], expected: readonly Staged[]): void {
  must(staged.length === expected.length, `${staged.length} rows and rejects instead of ${expected.length}`);
  const places = new Map<string, Staged[]>();
  for (const row of expected) {
    const key = `${row.code === 0} ${row.stream}`;
    const rows = places.get(key);
    if (rows === undefined) places.set(key, [row]);
    else rows.push(row);
  }
  for (const rows of places.values()) rows.reverse();
  for (const { stream, time, bits, code } of staged) {
    const row = places.get(`${code === 0} ${stream}`)?.pop();
    must(row !== undefined, `a row of ${stream} that the twin has not`);
    must(
      row.time === time && row.bits === bits && row.code === code,
      `${stream} at ${time}: ${bits} ${code}, the twin has ${row.time}: ${row.bits} ${row.code}`,
    );
  }
}

const NAMES = ["__name__", "job", "instance", "le", "env", "ü", "x".repeat(130)];
const VALUES = ["up", "node", "a", "", "0.5", "prod", "日本", "y".repeat(140)];
const TOKENS = [
  ...textTokens("\n\x08\n\x02up\x12\x02ab", "\x12\x10\t"),
  Uint8Array.from([0x12, 0x10, 0x09, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0x10, 0xa0, 0xd1, 0xff, 0x9a, 0x9f, 0x34]),
  Uint8Array.from([0x1a, 0x02, 0x08, 0x01]),
  Uint8Array.from([0x22, 0x00]),
  Uint8Array.from([0x0b]),
  Uint8Array.from([0x0d, 1, 2, 3, 4]),
  Uint8Array.from([0xff, 0xfe]),
];

const PROTOCOL: WalkProtocol<RawSeries> = {
  version: 1,
  tokens: TOKENS,
  write,
  decode: strictDecode,
  judge: ({ staged }, decoded, samples, seen) => {
    sameRows(staged, expectedOf(decoded));
    return (((magnitude(samples) * 8 + magnitude(decoded.length)) * 8 + magnitude(samples - staged.length)) << 8) | (seen & 255);
  },
};

/** A WriteRequest as senders write it, with now and then a field out of its usual place. */
function write(out: InputWriter, random: Random): void {
  const series = random.oneIn(8) ? random.between(15, 40) : random.between(1, 5);
  for (let i = 0; i < series; i++) out.u8(0x0a).prefixed(() => writeSeries(out, random, series > 10));
  if (random.oneIn(4)) out.u8(0x1a).prefixed(() => out.varint(8).varint(random.below(300)));
}

function writeSeries(out: InputWriter, random: Random, short: boolean): void {
  const orderly = !random.oneIn(6);
  const labels = short ? 1 : random.between(1, 4);
  for (let i = 0; i < labels; i++) {
    if (!orderly && random.oneIn(3)) writeSample(out, random);
    writeLabel(out, random);
  }
  const samples = random.oneIn(4) ? random.between(0, 6) : 1;
  for (let i = 0; i < samples; i++) writeSample(out, random);
  if (orderly) return;
  if (random.oneIn(2)) out.u8(random.pick([0x1a, 0x22])).prefixed(() => out.u8(random.below(256)));
  if (random.oneIn(2)) writeLabel(out, random);
}

function writeLabel(out: InputWriter, random: Random): void {
  out.u8(0x0a).prefixed(() => {
    out.u8(0x0a).prefixed(() => out.text(random.pick(NAMES)));
    out.u8(0x12).prefixed(() => out.text(random.pick(VALUES)));
  });
}

/** Edges of the admitted times, of the varint's six bytes, and of what a double holds. */
const TIMES = [
  BASE_MS - 1,
  BASE_MS,
  BASE_MS + WINDOW_MS,
  BASE_MS + WINDOW_MS + 1,
  0,
  1,
  2 ** 35 - 1,
  2 ** 35,
  2 ** 42 - 1,
  2 ** 42,
  2 ** 53,
];
const SAMPLE_VALUES = [0, -0, 1, Number.NaN, Number.POSITIVE_INFINITY, 5e-324, 1.7e308];

function writeSample(out: InputWriter, random: Random): void {
  const time = random.oneIn(6) ? random.pick(TIMES) : BASE_MS + random.below(100_000);
  out.u8(0x12).prefixed(() => {
    if (!random.oneIn(12)) out.u8(9).f64(random.oneIn(6) ? random.pick(SAMPLE_VALUES) : random.below(1000) / 8);
    if (!random.oneIn(12)) out.u8(16).varint(time);
  });
}
