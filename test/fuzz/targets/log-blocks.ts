// Log segments as a crash or a bad disk leaves them, then the sections and definitions of the blocks that pass their checksum. The reader's twin walks the
// bytes itself. Sections and definitions may refuse by an exception, which ends the process, but must come to an end and stay inside their block.
import { sectionsOf } from "../../../src/actors/engine/unit/work-unit.ts";
import { BLOCK_HEADER_BYTES, blockBytes, writeBlockHeader } from "../../../src/adapters/log/block-format.ts";
import { type LogBlock, readBlocks } from "../../../src/adapters/log/log-reader.ts";
import { crc32 } from "../../../src/core/hashing/crc32.ts";
import {
  DEFINE_HEADER_BYTES,
  SECTION_DEAD_LETTER,
  SECTION_DEFINE,
  SECTION_HEADER_BYTES,
  SECTION_ROWS,
} from "../../../src/core/layout/row-frame.ts";
import { decodeDefinitions } from "../../support/encoded-definitions.ts";
import { MemoryDisk } from "../../support/memory-log.ts";
import { InputWriter } from "../input/input-writer.ts";
import type { Random } from "../input/random.ts";
import { attempt, type FuzzTarget, magnitude, must, textTokens } from "../target.ts";

const PATH = "log/e0000000001-0000-00000000.log";
/** Of the two versions of a block. */
const MAGIC = 0x33424c56;
const MAGIC_BEFORE = 0x32424c56;
const BYTES_MAX = 1024;

/** The magic, and sizes that are small negative numbers when taken for signed. */
const TOKENS = [...textTokens("VLB2", "VLB3"), ...[0xd0, 0xd8, 0xe0, 0xf8].map((byte) => Uint8Array.of(byte, 0xff, 0xff, 0xff))];

/** Payload places [from, to) of the blocks that are whole, one after another from the start. */
function wholeBlocks(bytes: Uint8Array, isWhole: (view: DataView, at: number, end: number) => boolean): Array<readonly [number, number]> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const blocks: Array<readonly [number, number]> = [];
  for (let at = 0; at + 32 <= bytes.length; ) {
    const magic = view.getUint32(at, true);
    if (magic !== MAGIC && magic !== MAGIC_BEFORE) break;
    const payloadAt = at + (magic === MAGIC ? 48 : 32);
    const payloadEnd = payloadAt + view.getUint32(at + 8, true);
    const end = Math.ceil(payloadEnd / 8) * 8;
    if (end > bytes.length || !isWhole(view, at, payloadEnd)) break;
    blocks.push([payloadAt, payloadEnd]);
    at = end;
  }
  return blocks;
}

export function logBlocksTarget(): FuzzTarget {
  const disk = new MemoryDisk();
  const check = (input: Uint8Array): number => {
    disk.overwrite(PATH, input);
    const expected = wholeBlocks(input, (view, at, end) => view.getUint32(at + 4, true) === crc32(input.subarray(at + 8, end)));
    const reader = readBlocks(PATH, 0, disk);
    let blocks = 0;
    let reached = 0;
    let step = reader.next();
    for (; !step.done; step = reader.next()) {
      const block = expected[blocks++];
      must(block !== undefined, `block ${blocks} is none by the twin`);
      const { payload } = step.value as LogBlock;
      must(Buffer.compare(payload, input.subarray(block[0], block[1])) === 0, `block ${blocks} has another payload`);
      reached |= checkSections(payload);
    }
    must(blocks === expected.length, `${blocks} blocks instead of ${expected.length}`);
    const { endOffset, cutBytes } = step.value;
    must(endOffset + cutBytes === input.length, `ends at ${endOffset}, cuts ${cutBytes}, of ${input.length} bytes`);
    must(disk.openDescriptors === 0, "a descriptor is left open");
    return blocks === 0 ? -1 - magnitude(cutBytes) : (reached * 16 + magnitude(blocks)) * 2 + Math.sign(cutBytes);
  };
  return { name: "log-blocks", bytesMax: BYTES_MAX, tokens: TOKENS, write, repair, check };
}

/** Bits of what was reached: kinds of sections, definitions, refusals. */
function checkSections(payload: Uint8Array): number {
  let reached = 0;
  const whole = attempt(() => {
    for (const section of sectionsOf(payload)) {
      must(section.payload.byteOffset + section.payload.length <= payload.byteOffset + payload.length, "a section beyond its block");
      reached |= 1 << Math.min(section.kind, 5);
      if (section.kind === SECTION_DEFINE) reached |= checkDefinitions(section.payload);
    }
    return true;
  }, Error);
  return reached | (whole === undefined ? 64 : 0);
}

function checkDefinitions(payload: Uint8Array): number {
  let definitions = 0;
  for (const { hash, identity } of decodeDefinitions(payload)) {
    must(hash.length === 16 && identity.length <= payload.length, "a definition beyond its section");
    must(++definitions <= payload.length / DEFINE_HEADER_BYTES, "more definitions than the section has room for");
  }
  return definitions > 0 ? 128 : 0;
}

/** Sets the checksums of all blocks right, as far as there are blocks. */
function repair(input: Uint8Array): void {
  wholeBlocks(input, (view, at, end) => {
    view.setUint32(at + 4, crc32(input.subarray(at + 8, end)), true);
    return true;
  });
}

const header = new Uint8Array(BLOCK_HEADER_BYTES);
const payload = new InputWriter(BYTES_MAX);

function write(out: InputWriter, random: Random): void {
  for (let blocks = random.between(0, 4); blocks > 0; blocks--) {
    payload.clear();
    for (let sections = random.between(0, 3); sections > 0; sections--) writeSection(payload, random);
    const { bytes } = payload;
    const place = { number: random.below(4), rowsBefore: random.below(100) };
    writeBlockHeader(header, { admission: random.below(1000), baseMs: 1_795_220_000_000, kinds: random.below(8), rows: 2, ...place }, [
      bytes,
    ]);
    out.raw(header).raw(bytes);
    for (let padding = blockBytes(bytes.length) - BLOCK_HEADER_BYTES - bytes.length; padding > 0; padding--) out.u8(0);
  }
}

function writeSection(out: InputWriter, random: Random): void {
  const kind = random.between(SECTION_DEFINE, SECTION_DEAD_LETTER);
  const start = out.length;
  const contentBytes = kind === SECTION_ROWS ? 16 * random.below(4) : random.below(40);
  const definitions = kind === SECTION_DEFINE ? random.between(1, 2) : 0;
  const identityBytes = 8 * random.below(4);
  out.u32(kind).u32(definitions > 0 ? definitions * (DEFINE_HEADER_BYTES + identityBytes) : contentBytes);
  for (let i = 0; i < definitions; i++) {
    for (let word = 0; word < 8; word++) out.u32(random.below(300));
    out.u32(identityBytes - (identityBytes > 0 ? random.below(8) : 0)).u32(0);
    for (let byte = 0; byte < identityBytes; byte++) out.u8(random.between(32, 126));
  }
  if (definitions === 0) for (let byte = 0; byte < contentBytes; byte++) out.u8(random.below(256));
  while ((out.length - start - SECTION_HEADER_BYTES) % 8 !== 0 && out.length < BYTES_MAX) out.u8(0);
}
