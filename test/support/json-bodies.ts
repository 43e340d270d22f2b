// Generated JSON bodies as text: records of every spelling, right and wrong, and damage to their bytes.
import fc from "fast-check";
import { NOW_MS } from "./json-rig.ts";

const pad = (value: number, digits: number) => String(value).padStart(digits, "0");

/** White space between two tokens: mostly none. */
const space = fc.oneof({ weight: 8, arbitrary: fc.constant("") }, fc.stringMatching(/^[ \t\r\n]{1,3}$/));

/** The text of a number, in all forms that JSON has and from all parts of the range of doubles. */
export const numberText: fc.Arbitrary<string> = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (Object.is(value, -0) ? "-0" : String(value).replace("e+", "e"))),
  fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e6, max: 1e6 }).map((value) => value.toFixed(3)),
  fc.tuple(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.nat(20)).map(([value, digits]) => value.toExponential(digits)),
  fc
    .tuple(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer({ min: 1, max: 21 }))
    .map(([value, digits]) => value.toPrecision(digits)),
  fc.maxSafeInteger().map(String),
  fc.bigInt({ min: -(10n ** 21n), max: 10n ** 21n }).map(String),
  // Halfway between two doubles, and next to it.
  fc
    .tuple(fc.bigInt({ min: 2n ** 52n, max: 2n ** 53n - 1n }), fc.bigInt({ min: 0n, max: 10n }), fc.integer({ min: -1, max: 1 }))
    .map(([mantissa, shift, off]) => String((mantissa * 2n + 1n) * 2n ** shift + BigInt(off))),
  fc
    .tuple(
      fc.stringMatching(/^-?(?:0|[1-9][0-9]{0,24})$/),
      fc.stringMatching(/^(?:\.[0-9]{1,24})?$/),
      fc.stringMatching(/^(?:[eE][+-]?[0-9]{1,3})?$/),
    )
    .map((parts) => parts.join("")),
  fc.constantFrom(
    "0",
    "-0",
    "0.0",
    "-0e5",
    "0e999999999",
    "1e308",
    "1.7976931348623157e308",
    "1.7976931348623159e308",
    "1e309",
    "-1e999",
    "5e-324",
  ),
  fc.constantFrom(
    "2.2250738585072014e-308",
    "2.2250738585072011e-308",
    "4.9406564584124654e-324",
    "2e-324",
    "1e-400",
    "9007199254740993",
    "1e22",
    "1e23",
  ),
  fc.constantFrom("0.000000000000000000000001", "123456789012345678901234567890", "0.1e-6", "1e0000000001", `0.${"0".repeat(400)}1e400`),
);

/** A date-time of RFC 3339 in one of its spellings, or one that is nearly one. Times lie around the window of admission. */
export const timeText: fc.Arbitrary<string> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(
        fc.integer({ min: NOW_MS - 25 * 3_600_000, max: NOW_MS + 11 * 60_000 }),
        fc.constantFrom("T", "t", " "),
        fc.stringMatching(/^(?:\.[0-9]{1,21})?$/),
        fc.constantFrom(0, 0, 330, -150, 1439, -1439),
        fc.constantFrom("Z", "z"),
      )
      .map(([ms, separator, fraction, offset, zulu]) => {
        const text = new Date(ms + offset * 60_000).toISOString();
        const sign = offset < 0 ? "-" : "+";
        const zone = `${sign}${pad(Math.floor(Math.abs(offset) / 60), 2)}:${pad(Math.abs(offset) % 60, 2)}`;
        return `${text.slice(0, 10)}${separator}${text.slice(11, 19)}${fraction}${offset === 0 ? zulu : zone}`;
      }),
  },
  fc
    .tuple(
      fc.nat(9999),
      fc.nat(14),
      fc.nat(33),
      fc.nat(25),
      fc.nat(61),
      fc.nat(62),
      fc.constantFrom("Z", "+00:00", "-00:60", "+24:00", "", "X"),
    )
    .map(([y, m, d, h, i, s, zone]) => `${pad(y, 4)}-${pad(m, 2)}-${pad(d, 2)}T${pad(h, 2)}:${pad(i, 2)}:${pad(s, 2)}${zone}`),
  fc.constantFrom(
    "2026-11-21T11:59:60Z",
    "2026-11-21T11:59:00.Z",
    "2026-11-21T11:59:00,5Z",
    "2026-02-29T00:00:00Z",
    "2024-02-29T00:00:00Z",
    "2000-02-29t00:00:00z",
  ),
  fc.constantFrom(
    "2026-11-21",
    "2026-11-21T11:59Z",
    "20261121T115900Z",
    "2026-11-21T11:59:00+0100",
    "",
    "now",
    "２026-11-21T11:59:00Z",
    "2026-11-21T11:59:00ZZ",
  ),
);

/** The content of a JSON string: text as it stands between the quotes, some of it escaped. */
const stringContent: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom("checkout", "cart", "env", "region", "eu-west-1", "метрика", "a b", "x".repeat(40)) },
  fc.string({ unit: "binary", maxLength: 20 }).map((text) => JSON.stringify(text).slice(1, -1)),
  fc.constantFrom(
    "\\u0061b",
    "\\n",
    "\\/",
    '\\"',
    "\\\\",
    "\\ud83d\\ude00",
    "\\ud800",
    "\\udc00x",
    "😀",
    "",
    "__proto__",
    "\\u0000",
    "\u007f",
  ),
);
const stringText = stringContent.map((content) => `"${content}"`);

const spaced = (open: string, members: readonly string[], close: string, gap: string) =>
  `${open}${gap}${members.join(`${gap},${gap}`)}${gap}${close}`;

/** Any value, nested now and then. */
const valueText: fc.Arbitrary<string> = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthIdentifier: "value" },
    stringText,
    numberText,
    fc.constantFrom("true", "false", "null"),
    fc.tuple(fc.array(tie("value"), { maxLength: 3 }), space).map(([items, gap]) => spaced("[", items, "]", gap)),
    fc.tuple(fc.array(fc.tuple(stringText, tie("value")), { maxLength: 3 }), space).map(([members, gap]) =>
      spaced(
        "{",
        members.map(([name, value]) => `${name}${gap}:${value}`),
        "}",
        gap,
      ),
    ),
  ),
})).value;

const attributesText: fc.Arbitrary<string> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(fc.array(fc.tuple(stringText, fc.oneof(stringText, numberText, valueText)), { maxLength: 4 }), space)
      .map(([members, gap]) =>
        spaced(
          "{",
          members.map(([name, value]) => `${name}${gap}:${gap}${value}`),
          "}",
          gap,
        ),
      ),
  },
  fc.constantFrom(
    '{"metric_type":"counter"}',
    '{"metric_type" : "counter"}',
    '{"env":"prod","a":1}',
    '{"a":1,"env":"prod"}',
    '{"a":1.0,"env":"prod"}',
  ),
  fc.constantFrom(
    "null",
    "{}",
    "[]",
    '"x"',
    '{"a":1,"a":2}',
    '{"__proto__":{"a":1}}',
    `{${Array.from({ length: 65 }, (_, i) => `"a${i}":1`).join(",")}}`,
  ),
  fc.constantFrom(`{"a":"${"v".repeat(5000)}"}`, `{"a":"${"v".repeat(8193)}"}`, `{"${"n".repeat(1025)}":1}`),
);

const otherwise = (usual: fc.Arbitrary<string>) => fc.oneof({ weight: 12, arbitrary: usual }, valueText);

const FIELDS = {
  service_id: otherwise(
    fc.oneof(fc.constantFrom('"checkout"', '"cart"', '"s\\u0041"', `"${"s".repeat(1024)}"`, `"${"é".repeat(513)}"`), stringText),
  ),
  metric_name: otherwise(fc.oneof(fc.constantFrom('"latency"', '"cpu_percent"', '"span.x"', '"requests_total"'), stringText)),
  value: otherwise(numberText),
  timestamp: otherwise(timeText.map((text) => JSON.stringify(text))),
  attributes: otherwise(attributesText),
  type: otherwise(
    fc.constantFrom(
      '"metric"',
      '"metric"',
      '"metric"',
      "null",
      '"trace"',
      '"log"',
      '"slo"',
      '"event"',
      '"profile"',
      '"Metric"',
      '"metrics"',
    ),
  ),
  trace_id: otherwise(fc.oneof(fc.constantFrom("null", `"${"t".repeat(1024)}"`, `"${"t".repeat(1025)}"`, '"ab\\u0063"'), stringText)),
  body: otherwise(stringText),
};
const NEEDED = ["service_id", "metric_name", "value", "timestamp"] as const;

const nameText: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...Object.keys(FIELDS)).map((name) => `"${name}"`) },
  fc.constantFrom(
    '"service\\u005fid"',
    '"__proto__"',
    '"constructor"',
    '"unit"',
    '"service_i"',
    '"values"',
    '"typ"',
    '"timestamps"',
    '"metric_nam"',
    '""',
  ),
  stringText,
);

function fieldText(name: string): fc.Arbitrary<string> {
  return Object.hasOwn(FIELDS, name) ? FIELDS[name as keyof typeof FIELDS] : valueText;
}

/** A member of a record that need not belong there. */
const strayMember = nameText.chain((name) => fc.tuple(fc.constant(name), fieldText(name.slice(1, -1))));

/** The text of one record: mostly whole, in any order, with repeated, foreign and wrong members now and then. */
export const recordText: fc.Arbitrary<string> = fc
  .tuple(
    fc.tuple(...NEEDED.map((name) => fc.tuple(fc.constant(`"${name}"`), FIELDS[name]))),
    fc.option(FIELDS.attributes),
    fc.option(FIELDS.type),
    fc.array(strayMember, { maxLength: 2 }),
    fc.oneof({ weight: 9, arbitrary: fc.constant(undefined) }, fc.nat(3)),
    fc.infiniteStream(fc.nat()),
    space,
  )
  .map(([needed, attributes, type, strays, dropped, shuffle, gap]) => {
    const members: Array<readonly [string, string]> = needed.filter((_, place) => place !== dropped);
    if (attributes !== null) members.push(['"attributes"', attributes]);
    if (type !== null) members.push(['"type"', type]);
    const placed = [...members, ...strays].map(([name, value]) => ({
      text: `${name}${gap}:${gap}${value}`,
      at: shuffle.next().value as number,
    }));
    return spaced(
      "{",
      placed.sort((a, b) => (a.at % 97) - (b.at % 97)).map(({ text }) => text),
      "}",
      gap,
    );
  });

/** A batch: records, and now and then something else in the place of one. */
export const batchText: fc.Arbitrary<string> = fc
  .tuple(fc.array(fc.oneof({ weight: 12, arbitrary: recordText }, valueText), { maxLength: 8 }), space)
  .map(([records, gap]) => `${gap}${spaced("[", records, "]", gap)}${gap}`);

/** Bytes of a text, some of them changed: cut, doubled, replaced. */
export function damaged(text: fc.Arbitrary<string>): fc.Arbitrary<Buffer> {
  const wound = fc.record({
    at: fc.nat(),
    kind: fc.constantFrom("cut", "replace", "insert", "drop"),
    byte: fc.oneof(fc.constantFrom(...Buffer.from('{}[]",:\\0.eE+-ntf \n\0')), fc.nat(255)),
  });
  return fc.tuple(text, fc.array(wound, { minLength: 1, maxLength: 3 })).map(([whole, wounds]) => {
    let bytes = Buffer.from(whole);
    for (const { at, kind, byte } of wounds) {
      const place = at % (bytes.length + 1);
      const behind = kind === "insert" ? place : place + 1;
      const filling = kind === "cut" || kind === "drop" ? [] : [byte];
      bytes = Buffer.concat([bytes.subarray(0, place), Buffer.from(filling), kind === "cut" ? Buffer.alloc(0) : bytes.subarray(behind)]);
    }
    return bytes;
  });
}
