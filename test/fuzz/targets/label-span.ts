// Label bytes of a new stream, as the parser of first sight reads them. What the strict twin takes as the labels of a series must be the same labels;
// what it refuses never gets here in production, and may be anything but an exception.
import { parseLabelSpan } from "../../../src/domain/kernel/ingest-kernel.ts";
import { strictDecode } from "../../support/remote-write-decoder.ts";
import { InputWriter } from "../input/input-writer.ts";
import type { Random } from "../input/random.ts";
import { type FuzzTarget, magnitude, must } from "../target.ts";

const BYTES_MAX = 512;

export function labelSpanTarget(): FuzzTarget {
  const wrapped = new InputWriter(BYTES_MAX + 8);
  const check = (input: Uint8Array): number => {
    const labels = parseLabelSpan(input);
    for (const [name, value] of labels ?? []) must(typeof name === "string" && typeof value === "string", "a label is no text");
    const series = strictDecode(
      wrapped
        .clear()
        .u8(0x0a)
        .prefixed(() => wrapped.raw(input)).bytes,
    )?.[0];
    if (series === undefined) return -1;
    must(JSON.stringify(labels) === JSON.stringify(series.labels), `${JSON.stringify(labels)} instead of ${JSON.stringify(series.labels)}`);
    return labels === undefined ? -2 : magnitude(labels.length) * 16 + magnitude(input.length);
  };
  return {
    name: "label-span",
    bytesMax: BYTES_MAX,
    tokens: [Uint8Array.from([0x0a, 0x04, 0x0a, 0, 0x12, 0]), Uint8Array.from([0xc3, 0x28])],
    write,
    check,
  };
}

const TEXTS = ["", "a", "__name__", "ü", "日本", "\ufeff", "\0", "🙂", "z".repeat(128)];

function write(out: InputWriter, random: Random): void {
  for (let labels = random.between(0, 6); labels > 0; labels--) {
    out.u8(0x0a).prefixed(() => {
      for (let fields = random.oneIn(4) ? random.below(4) : 2; fields > 0; fields--) {
        out.u8(fields === 2 ? 0x0a : 0x12).prefixed(() => out.text(random.pick(TEXTS)));
      }
      if (random.oneIn(8)) out.u8(0x18).varint(random.next());
    });
    if (random.oneIn(8)) out.u8(random.pick([0x28, 0x2d, 0x29])).u32(random.next());
  }
}
