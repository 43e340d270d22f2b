// Snappy blocks: the kernel against a twin written from the format, and, now and then, the npm package. The block ends with its padding where the memory
// ends, so that a read behind that traps; canaries stand around the output.
import snappy from "snappy";
import { STATUS_BAD_SNAPPY, STATUS_TOO_LARGE } from "../../../src/core/layout/kernel-status.ts";
import { BODY_PADDING_BYTES, DECOMPRESSED } from "../../../src/core/layout/memory-map.ts";
import type { IngestExports } from "../../../src/domain/kernel/ingest-kernel.ts";
import { loadKernel } from "../../support/kernel.ts";
import { snappyDecode } from "../../support/snappy-decoder.ts";
import type { InputWriter } from "../input/input-writer.ts";
import type { Random } from "../input/random.ts";
import { type FuzzTarget, magnitude, must } from "../target.ts";

const CAPACITY = 4096;
const GUARD = 0xa5;
const GUARD_BYTES = 64;
const OUT = DECOMPRESSED + GUARD_BYTES;
/** The package makes objects for every answer; the twin of our own is asked each time. */
const PACKAGE_ASKED = 16;

export function snappyTarget(): FuzzTarget {
  const { kernel, bytes: memory } = loadKernel<IngestExports>();
  let calls = 0;
  const check = (input: Uint8Array): number => {
    const pointer = memory.length - BODY_PADDING_BYTES - input.length;
    memory.set(input, pointer);
    // Half of the outputs are no larger than the block says, so that bytes beyond that meet the canaries.
    const capacity = input.length % 2 === 0 ? Math.min(CAPACITY, statedBytes(input)) : CAPACITY;
    const behind = OUT + capacity + BODY_PADDING_BYTES;
    memory.fill(GUARD, DECOMPRESSED, OUT);
    memory.fill(GUARD, behind, behind + GUARD_BYTES);
    const status = kernel.snappyDecompress(pointer, input.length, OUT, capacity);
    for (let i = 0; i < GUARD_BYTES; i++)
      must(memory[DECOMPRESSED + i] === GUARD && memory[behind + i] === GUARD, "wrote outside the output");
    const expected = snappyDecode(input, capacity);
    if (expected === undefined) must(status === STATUS_BAD_SNAPPY, `status ${status} for a block that the twin refuses`);
    else if (expected === "too large") must(status === STATUS_TOO_LARGE, `status ${status} for a block that is too large`);
    else {
      must(status === expected.length, `status ${status} instead of ${expected.length} bytes`);
      must(Buffer.compare(memory.subarray(OUT, OUT + status), expected) === 0, "other bytes than the twin");
    }
    if (calls++ % PACKAGE_ASKED === 0 && expected !== "too large") agreesWithPackage(input, expected);
    return status < 0 ? status * 8 : magnitude(status) * 64 + magnitude(input.length);
  };
  return { name: "snappy", bytesMax: 1024, tokens: [], write, check };
}

/** The size at the start of a block, as far as it is one. */
function statedBytes(input: Uint8Array): number {
  let size = 0;
  for (let i = 0; i < 5; i++) {
    const byte = input[i] ?? 0;
    size += (byte & 127) * 2 ** (7 * i);
    if (byte < 128) break;
  }
  return size;
}

function agreesWithPackage(input: Uint8Array, expected: Uint8Array | undefined): void {
  let unpacked: Uint8Array | undefined;
  try {
    unpacked = snappy.uncompressSync(Buffer.from(input), { asBuffer: true }) as Buffer;
  } catch {
    unpacked = undefined;
  }
  must((unpacked === undefined) === (expected === undefined), "the npm package and the twin differ");
  if (unpacked !== undefined && expected !== undefined) must(Buffer.compare(unpacked, expected) === 0, "the npm package has other bytes");
}

/** A block of literals and copies of every form. */
function write(out: InputWriter, random: Random): void {
  const elements = random.between(0, 12);
  const plan: Array<readonly [kind: number, length: number, offset: number]> = [];
  let size = 0;
  for (let i = 0; i < elements; i++) {
    const kind = size === 0 ? 0 : random.below(4);
    const length =
      kind === 0 ? random.between(1, random.pick([8, 60, 70, 300])) : kind === 1 ? random.between(4, 11) : random.between(1, 64);
    const offset = kind === 0 ? 0 : random.between(1, Math.min(size, random.oneIn(2) ? 20 : 2047));
    plan.push([kind, length, offset]);
    size += length;
  }
  out.varint(size);
  for (const [kind, length, offset] of plan) {
    if (kind === 0) writeLiteral(out, length, random);
    else if (kind === 1) out.u8(((offset >> 8) << 5) | ((length - 4) << 2) | 1).u8(offset & 255);
    else if (kind === 2) out.u8(((length - 1) << 2) | 2).u16(offset);
    else out.u8(((length - 1) << 2) | 3).u32(offset);
  }
}

function writeLiteral(out: InputWriter, length: number, random: Random): void {
  const lengthBytes = length <= 60 && !random.oneIn(4) ? 0 : random.between(length > 256 ? 2 : 1, 4);
  if (lengthBytes === 0) out.u8((length - 1) << 2);
  else {
    out.u8((59 + lengthBytes) << 2);
    for (let i = 0; i < lengthBytes; i++) out.u8(((length - 1) >>> (8 * i)) & 255);
  }
  for (let i = 0; i < length; i++) out.u8(random.next() & 255);
}
