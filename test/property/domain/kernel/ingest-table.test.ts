import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { STATUS_OK, STATUS_TABLE_FULL } from "../../../../src/core/layout/kernel-status.ts";
import { KEY_TABLE, KEY_TABLE_BYTES, SCRATCH } from "../../../../src/core/layout/memory-map.ts";
import type { IngestExports } from "../../../../src/domain/kernel/ingest-kernel.ts";
import { loadKernel } from "../../../support/kernel.ts";

const text = new TextEncoder();

/** A kernel and a way to hash and look up keys that lie in its memory. */
function setUp() {
  const { kernel, bytes, view } = loadKernel<IngestExports>();
  kernel.setSeeds(0x0123456789abcdefn, 0xfedcba9876543210n, 0x5555aaaa5555aaaan, 0x1234123412341234n);
  const put = (key: string | Uint8Array): number => {
    const encoded = typeof key === "string" ? text.encode(key) : key;
    bytes.set(encoded, SCRATCH);
    return encoded.length;
  };
  return { kernel, bytes, view, put };
}

describe("ingest table", () => {
  it("finds every stream through all growth, and keeps tenants apart", () => {
    const { kernel, put } = setUp();
    const keys = 300_000;
    for (let i = 0; i < keys; i++) {
      const bytes = put(`{__name__="metric_${i % 40}",instance="10.0.0.${i}"}`);
      expect(kernel.keyLookup(SCRATCH, bytes, 1)).toBe(0);
      if (kernel.keyInsert(i, i % 64, i % 256) !== STATUS_OK) throw new Error("full");
    }
    expect(kernel.keyTableEntries()).toBe(keys);
    let wrong = 0;
    for (let i = 0; i < keys; i++) {
      const bytes = put(`{__name__="metric_${i % 40}",instance="10.0.0.${i}"}`);
      const found =
        kernel.keyLookup(SCRATCH, bytes, 1) === 1 &&
        kernel.foundRef() === i &&
        kernel.foundDestination() === i % 64 &&
        kernel.foundPartition() === i % 256;
      if (!found || kernel.keyLookup(SCRATCH, bytes, 2) === 1 || kernel.keyLookup(SCRATCH, bytes - 1, 1) === 1) wrong++;
    }
    expect(wrong).toBe(0);
  });

  it("changes an entry that is inserted again, and forgets all when cleared", () => {
    const { kernel, put } = setUp();
    const bytes = put("a stream");
    expect(kernel.keyLookup(SCRATCH, bytes, 0)).toBe(0);
    kernel.keyInsert(7, 3, 255);
    kernel.keyInsert(8, 63, 0);
    expect([kernel.keyLookup(SCRATCH, bytes, 0), kernel.foundRef(), kernel.foundDestination(), kernel.foundPartition()]).toEqual([
      1, 8, 63, 0,
    ]);
    expect(kernel.keyTableEntries()).toBe(1);
    kernel.keyTableClear();
    expect([kernel.keyLookup(SCRATCH, bytes, 0), kernel.keyTableEntries()]).toEqual([0, 0]);
    kernel.keyInsert(9, 1, 1);
    expect([kernel.keyLookup(SCRATCH, bytes, 0), kernel.foundRef()]).toEqual([1, 9]);
  });

  it("says when it is full, stays inside its arena, and works again when cleared", () => {
    const { kernel, bytes, view } = setUp();
    let entries = 0;
    const lookup = (i: number): number => {
      view.setUint32(SCRATCH, i, true);
      return kernel.keyLookup(SCRATCH, 4, 1);
    };
    for (; entries < 2 ** 21; entries++) {
      lookup(entries);
      if (kernel.keyInsert(entries, 0, 0) === STATUS_TABLE_FULL) break;
    }
    expect(entries).toBe(2 ** 21);
    expect(kernel.keyTableEntries()).toBe(entries);
    expect(bytes.subarray(KEY_TABLE + KEY_TABLE_BYTES, KEY_TABLE + KEY_TABLE_BYTES + 4096).every((byte) => byte === 0)).toBe(true);
    expect([lookup(12_345), kernel.foundRef()]).toEqual([1, 12_345]);
    lookup(entries);
    kernel.keyTableClear();
    expect(kernel.keyInsert(entries, 0, 0)).toBe(STATUS_OK);
    expect([lookup(entries), lookup(12_345), kernel.keyTableEntries()]).toEqual([1, 0, 1]);
    for (let i = 0; i < 100_000; i++) if (lookup(i) === 0) kernel.keyInsert(i + 1, 0, 0);
    for (let i = 0; i < 100_000; i += 999) expect([lookup(i), kernel.foundRef()]).toEqual([1, i + 1]);
  });
});

describe("identity hash", () => {
  const { kernel, bytes, view, put } = setUp();
  const hash = (pointer: number, length: number): [bigint, bigint] => {
    const at = kernel.identityHash(pointer, length);
    return [view.getBigUint64(at, true), view.getBigUint64(at + 8, true)];
  };

  it("has no collision in a million keys, not even in 64 bits", () => {
    const count = 1_000_000;
    const low = new BigUint64Array(count);
    const high = new BigUint64Array(count);
    for (let i = 0; i < count; i++) {
      [low[i], high[i]] = hash(
        SCRATCH,
        put(`\n\x1a\n\b__name__\x12\x0ecpu_usage_total\n\x14\n\binstance\x12\b${i % 1000}:${Math.floor(i / 1000)}`),
      );
    }
    expect(duplicates(low)).toBe(0);
    expect(duplicates(high)).toBe(0);
  });

  it("tells apart all keys that differ in one or two bits", () => {
    for (const length of [7, 12, 31, 32, 40, 64, 71]) {
      const bits = length * 8;
      const base = Uint8Array.from({ length }, (_, i) => 97 + ((i * 7) % 26));
      const low = new BigUint64Array((bits * (bits - 1)) / 2);
      const high = new BigUint64Array(low.length);
      let n = 0;
      bytes.set(base, SCRATCH);
      for (let i = 0; i < bits; i++) {
        flip(bytes, i);
        for (let j = i + 1; j < bits; j++, n++) {
          flip(bytes, j);
          [low[n], high[n]] = hash(SCRATCH, length);
          flip(bytes, j);
        }
        flip(bytes, i);
      }
      expect([length, duplicates(low), duplicates(high)]).toEqual([length, 0, 0]);
      // 32 of the bits: as many collisions as chance gives, n^2 / 2^33, within six standard deviations.
      const chance = n ** 2 / 2 ** 33;
      for (const [half, shift] of [
        [low, 0n],
        [low, 32n],
        [high, 0n],
        [high, 32n],
      ] as const) {
        expect(duplicates(half.map((each) => (each >> shift) & 0xffffffffn))).toBeLessThan(chance + 6 * Math.sqrt(chance) + 3);
      }
    }
  });

  it("changes about half of its bits with each bit of the key", () => {
    for (const length of [3, 8, 20, 32, 33, 64, 200]) {
      const flips = new Array<number>(128).fill(0);
      const rounds = Math.ceil(4000 / (length * 8));
      for (let round = 0; round < rounds; round++) {
        bytes.set(
          Uint8Array.from({ length }, (_, i) => (i * 31 + round * 17) & 127),
          SCRATCH,
        );
        const [low, high] = hash(SCRATCH, length);
        for (let bit = 0; bit < length * 8; bit++) {
          flip(bytes, bit);
          const [otherLow, otherHigh] = hash(SCRATCH, length);
          flip(bytes, bit);
          const changed = (low ^ otherLow) | ((high ^ otherHigh) << 64n);
          for (let i = 0; i < 128; i++) if ((changed >> BigInt(i)) & 1n) flips[i] = (flips[i] as number) + 1;
        }
      }
      const shares = flips.map((each) => each / (rounds * length * 8));
      expect(Math.min(...shares)).toBeGreaterThan(0.44);
      expect(Math.max(...shares)).toBeLessThan(0.56);
    }
  });

  it("does not depend on what lies behind the span or where it lies", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.uint8Array({ minLength: 64, maxLength: 64 }), fc.nat(63), (key, behind, shift) => {
        bytes.set(key, SCRATCH);
        bytes.fill(0, SCRATCH + key.length, SCRATCH + key.length + 64);
        const first = hash(SCRATCH, key.length);
        bytes.set(key, SCRATCH + 4096 + shift);
        bytes.set(behind, SCRATCH + 4096 + shift + key.length);
        expect(hash(SCRATCH + 4096 + shift, key.length)).toEqual(first);
      }),
      { numRuns: 2000 },
    );
  });

  it("depends on both halves of its seed, and on no ingest seed", () => {
    const length = put("checkout|p99|eu-1");
    const of = (...seeds: [bigint, bigint, bigint, bigint]): string => {
      kernel.setSeeds(...seeds);
      return hash(SCRATCH, length).join();
    };
    expect(of(1n, 2n, 3n, 4n)).toBe(of(5n, 6n, 3n, 4n));
    expect(new Set([of(1n, 2n, 3n, 4n), of(1n, 2n, 3n, 5n), of(1n, 2n, 4n, 4n)]).size).toBe(3);
  });
});

function flip(bytes: Uint8Array, bit: number): void {
  const at = SCRATCH + (bit >> 3);
  bytes[at] = (bytes[at] as number) ^ (1 << (bit & 7));
}

function duplicates(hashes: BigUint64Array): number {
  const sorted = hashes.slice().sort();
  let count = 0;
  for (let i = 1; i < sorted.length; i++) if (sorted[i] === sorted[i - 1]) count++;
  return count;
}
