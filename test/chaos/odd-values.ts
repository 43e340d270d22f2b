// Names and values that no sender should send: half characters, NULs, controls, bytes that are no UTF-8, members of every object, lengths around each bound.
import type { Random } from "../fuzz/input/random.ts";

const PROTOTYPE_NAMES = ["constructor", "toString", "__proto__", "hasOwnProperty", "valueOf", "prototype", "__defineGetter__"];
const PIECES = [
  "\u0000",
  "\ud800",
  "\udc00",
  "\r\n",
  "\u001b[2J",
  "\u202e",
  "\ufeff",
  "\u{10ffff}",
  "\u00e4",
  "e\u0301",
  "'\"`<script>",
  "../..%2f",
  "{{service_id}}",
  "%00",
  "=cmd",
  "m",
  "\u007f",
  "\uffff",
];
const LENGTHS = [0, 1, 2, 63, 64, 127, 128, 199, 200, 255, 256, 257, 511, 512, 989, 990, 1_023, 1_024, 1_025, 2_048, 5_000];
/** Byte sequences that are no text: surrogates as three bytes, overlong and cut forms, bytes that never stand in UTF-8. */
const NO_TEXT = [[0xed, 0xa0, 0x80], [0xff, 0xfe], [0xc0, 0x80], [0xe2, 0x82], [0xf5, 0x80, 0x80, 0x80], [0x80], [0x00]];

/** A text as odd as JSON can say it. */
export function oddText(random: Random): string {
  if (random.oneIn(4)) return random.pick(PROTOTYPE_NAMES);
  const piece = random.pick(PIECES);
  if (random.oneIn(2)) return `${piece}${random.pick(PIECES)}`;
  return piece.repeat(Math.ceil(random.pick(LENGTHS) / piece.length));
}

/** Bytes of a name: a text, or what is none. */
export function oddBytes(random: Random): Buffer {
  if (random.oneIn(2)) return Buffer.from(oddText(random));
  const piece = Buffer.from(random.pick(NO_TEXT));
  if (random.oneIn(2)) return Buffer.concat([Buffer.from("m"), piece]);
  if (random.oneIn(3)) return Buffer.from(Array.from({ length: random.between(1, 64) }, () => random.below(256)));
  return Buffer.alloc(Math.max(1, random.pick(LENGTHS)), piece);
}

/** A value that a member of a body may have, as JSON text: of another kind, of another size, nested deeply. */
export function oddJson(random: Random): string {
  const kinds: ReadonlyArray<() => string> = [
    () => JSON.stringify(oddText(random)),
    () => random.pick(["null", "true", "0", "-0", "1e309", "-1e308", "123456789012345678901234567890", "0.1e-400", '""', "[]", "{}"]),
    () => `{${JSON.stringify(oddText(random))}:${random.pick(["null", '"***"', "{}", "1"])}}`,
    () => `{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}`,
    () => "[".repeat(random.pick([10, 100, 5_000])) + "]".repeat(random.pick([10, 100, 5_000])),
    () => repeated(random, "[", "{}", "]"),
    () => repeated(random, "[", "[]", "]"),
    () => repeated(random, "[", "0", "]"),
    () => `{${Array.from({ length: random.pick([2, 300, 5_000]) }, (_, index) => `"k${index}":"v"`).join(",")}}`,
    () => JSON.stringify("(a+)+$".repeat(random.pick([1, 40, 4_000]))),
  ];
  return random.pick(kinds)();
}

function repeated(random: Random, open: string, element: string, close: string): string {
  return open + `${element},`.repeat(random.pick([9, 999, 9_999, 59_999])) + element + close;
}
