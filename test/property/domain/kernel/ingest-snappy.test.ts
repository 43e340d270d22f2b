import fc from "fast-check";
import snappy from "snappy";
import { describe, expect, it } from "vitest";
import { STATUS_BAD_SNAPPY, STATUS_TOO_LARGE } from "../../../../src/core/layout/kernel-status.ts";
import { BODY_PADDING_BYTES, DECOMPRESSED } from "../../../../src/core/layout/memory-map.ts";
import type { IngestExports } from "../../../../src/domain/kernel/ingest-kernel.ts";
import { loadKernel } from "../../../support/kernel.ts";
import { varint } from "../../../support/remote-write-body.ts";

const { kernel, bytes: memory } = loadKernel<IngestExports>();
const GUARD = 0xa5;
const GUARD_BYTES = 256;
const OUT = DECOMPRESSED + GUARD_BYTES;

/**
 * Decompresses a body that ends, with its padding, where the memory ends (a read behind that traps), into
 * `capacity` bytes, and checks that nothing around them and their padding was written.
 */
function decompress(body: Uint8Array, capacity: number): Uint8Array | number {
  const pointer = memory.length - BODY_PADDING_BYTES - body.length;
  memory.set(body, pointer);
  const behind = OUT + capacity + BODY_PADDING_BYTES;
  memory.fill(GUARD, DECOMPRESSED, OUT);
  memory.fill(GUARD, behind, behind + GUARD_BYTES);
  const status = kernel.snappyDecompress(pointer, body.length, OUT, capacity);
  const around = [...memory.subarray(DECOMPRESSED, OUT), ...memory.subarray(behind, behind + GUARD_BYTES)];
  if (around.some((byte) => byte !== GUARD)) throw new Error("wrote outside the output");
  return status < 0 ? status : memory.slice(OUT, OUT + status);
}

/** What the npm package makes of a body; undefined where it throws. */
function reference(body: Uint8Array): Uint8Array | undefined {
  try {
    return new Uint8Array(snappy.uncompressSync(Buffer.from(body), { asBuffer: true }) as Buffer);
  } catch {
    return undefined;
  }
}

const literal = (bytes: readonly number[]): number[] => [(bytes.length - 1) << 2, ...bytes];
const longLiteral = (bytes: readonly number[], lengthBytes: number): number[] => [
  (59 + lengthBytes) << 2,
  ...Array.from({ length: lengthBytes }, (_, i) => ((bytes.length - 1) / 256 ** i) & 255),
  ...bytes,
];
const copy1 = (offset: number, length: number): number[] => [((offset >> 8) << 5) | ((length - 4) << 2) | 1, offset & 255];
const copy2 = (offset: number, length: number): number[] => [((length - 1) << 2) | 2, offset & 255, offset >> 8];
const copy4 = (offset: number, length: number): number[] => [((length - 1) << 2) | 3, ...new Uint8Array(new Uint32Array([offset]).buffer)];

/** Text with repetitions near and far. */
const repetitive = fc
  .array(fc.tuple(fc.uint8Array({ minLength: 1, maxLength: 40 }), fc.integer({ min: 1, max: 30 })), { maxLength: 40 })
  .map((parts) => Uint8Array.from(parts.flatMap(([bytes, times]) => Array.from({ length: times }, () => [...bytes]).flat())));

describe("snappyDecompress", () => {
  it("undoes what the snappy package did", () => {
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 3000 }), repetitive), (input) => {
        const body = snappy.compressSync(Buffer.from(input));
        expect(decompress(body, input.length)).toEqual(input);
      }),
      { numRuns: 400 },
    );
  });

  it("undoes large bodies", () => {
    for (const bytes of [65_535, 65_536, 65_537, 1 << 20, 5_000_001]) {
      const input = new Uint8Array(bytes);
      for (let i = 0, state = 1; i < bytes; i++) {
        state = (Math.imul(state, 1103515245) + 12345) >>> 0;
        input[i] = (i >> 12) % 3 === 0 ? state >>> 24 : (i % 700) ^ (state >>> 30);
      }
      const body = snappy.compressSync(Buffer.from(input));
      const result = decompress(body, bytes) as Uint8Array;
      expect(Buffer.compare(result, input)).toBe(0);
    }
  });

  it("takes every form of literal", () => {
    for (const lengthBytes of [1, 2, 3, 4]) {
      for (const length of [1, 15, 16, 17, 60, 61, 200, 256].concat(lengthBytes > 1 ? [257, 5000] : [])) {
        const bytes = Array.from({ length }, (_, i) => i & 255);
        expect(decompress(Uint8Array.from([...varint(length), ...longLiteral(bytes, lengthBytes)]), length)).toEqual(
          Uint8Array.from(bytes),
        );
      }
    }
    expect(decompress(Uint8Array.from([0]), 0)).toEqual(new Uint8Array());
  });

  it("takes every form of copy, overlapping ones too", () => {
    const start = Array.from({ length: 60 }, (_, i) => i + 1);
    for (let offset = 1; offset <= 60; offset++) {
      for (let length = 1; length <= 64; length++) {
        const output = [...start];
        for (let i = 0; i < length; i++) output.push(output[output.length - offset] as number);
        const forms = [copy2(offset, length), copy4(offset, length), ...(length >= 4 && length <= 11 ? [copy1(offset, length)] : [])];
        for (const form of forms) {
          const body = Uint8Array.from([...varint(output.length), ...literal(start), ...form]);
          expect(decompress(body, output.length)).toEqual(Uint8Array.from(output));
        }
      }
    }
  });

  it("refuses what is malformed", () => {
    const bad: Record<string, number[]> = {
      nothing: [],
      "a size that is cut off": [0x80],
      "a size of six bytes": [0x80, 0x80, 0x80, 0x80, 0x80, 0x00],
      "a size over 32 bits": [0xff, 0xff, 0xff, 0xff, 0x7f],
      "no content": [1],
      "content behind the end": [1, ...literal([1]), ...literal([2])],
      "a literal that is cut off": [4, ...literal([1, 2, 3, 4]).slice(0, 4)],
      "a literal over the stated size": [3, ...literal([1, 2, 3, 4])],
      "a literal of 2^32 bytes": [4, 63 << 2, 0xff, 0xff, 0xff, 0xff, 1, 2, 3, 4],
      "a literal length that is cut off": [4, 63 << 2, 1],
      "an offset of 0": [8, ...literal([1, 2, 3, 4]), ...copy2(0, 4)],
      "an offset before the start": [8, ...literal([1, 2, 3, 4]), ...copy2(5, 4)],
      "a far offset before the start": [8, ...literal([1, 2, 3, 4]), ...copy4(0xffffffff, 4)],
      "a copy over the stated size": [7, ...literal([1, 2, 3, 4]), ...copy2(4, 4)],
      "a copy that is cut off": [8, ...literal([1, 2, 3, 4]), ...copy2(4, 4).slice(0, 2)],
    };
    for (const [name, body] of Object.entries(bad))
      expect([name, decompress(Uint8Array.from(body), 64)]).toEqual([name, STATUS_BAD_SNAPPY]);
    expect(decompress(Uint8Array.from([65, ...literal([1])]), 64)).toBe(STATUS_TOO_LARGE);
    expect(decompress(Uint8Array.from([0xff, 0xff, 0xff, 0xff, 0x0f]), 64)).toBe(STATUS_TOO_LARGE);
  });

  it("agrees with the snappy package on damaged bodies and writes nowhere else", () => {
    let refused = 0;
    fc.assert(
      fc.property(
        fc.oneof(repetitive, fc.uint8Array({ maxLength: 300 })),
        fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { minLength: 1, maxLength: 4 }),
        fc.nat(),
        (input, changes, cut) => {
          let body = Uint8Array.from(snappy.compressSync(Buffer.from(input)));
          for (const [at, value] of changes) body[at % body.length] = value;
          if (cut % 3 === 0) body = body.slice(0, cut % (body.length + 1));
          const result = decompress(body, input.length);
          if (typeof result === "number") refused++;
          if (result === STATUS_TOO_LARGE) return;
          expect(typeof result === "number" ? undefined : result).toEqual(reference(body));
        },
      ),
      { numRuns: 8000 },
    );
    expect(refused).toBeGreaterThan(1000);
  });
});
