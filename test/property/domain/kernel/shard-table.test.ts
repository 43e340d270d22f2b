// Streams come and go: the shard's table against a map, the memory of identities, and the look of another thread.
import fc from "fast-check";
import { expect, it } from "vitest";
import { SCRATCH } from "../../../../src/core/layout/memory-map.ts";
import { type ShardExports, ShardKernel } from "../../../../src/domain/kernel/shard-kernel.ts";
import { shardHolds } from "../../../../src/domain/kernel/shard-lookup.ts";
import { loadKernel } from "../../../support/kernel.ts";

interface Held {
  readonly slot: number;
  readonly identity: string;
}

it("finds the streams that are there, and no others, and keeps each identity apart", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(400), fc.nat(120)), { minLength: 200, maxLength: 1500 }), (steps) => {
      const { kernel, memory, view, bytes } = loadKernel<ShardExports>();
      const shard = new ShardKernel({ window: 120 }, { kernel, buffer: memory.buffer });
      const held = new Map<number, Held>();
      let most = 0;
      const hash = (n: number) => {
        view.setUint32(SCRATCH, n % 5, true);
        [n, n * 3, n ^ 77].forEach((word, i) => view.setUint32(SCRATCH + 4 + 4 * i, word, true));
      };
      for (const [n, length] of steps) {
        hash(n);
        const known = held.get(n);
        expect(shard.findSlot(SCRATCH, 0)).toBe(known?.slot ?? -1);
        expect(shardHolds(view, shard.tableBits, view, SCRATCH, 0)).toBe(known !== undefined);
        if (known === undefined) {
          const identity = `${n} `.repeat(40).slice(0, 8 + length);
          bytes.set(new TextEncoder().encode(identity), SCRATCH + 16);
          held.set(n, { slot: shard.createStream(SCRATCH, 0, n % 256, 0, SCRATCH + 16, identity.length), identity });
        } else {
          shard.removeStream(known.slot);
          held.delete(n);
        }
        most = Math.max(most, held.size);
      }
      expect([shard.streams, shard.slots]).toEqual([held.size, most]);
      expect(new Set([...held.values()].map(({ slot }) => slot)).size).toBe(held.size);
      for (const [n, { slot, identity }] of held) {
        const at = shard.records.identityAddress(slot);
        expect(Buffer.from(bytes.slice(at, at + shard.records.identityBytes(slot))).toString()).toBe(identity);
        expect([shard.records.partition(slot), shard.records.count(slot), shard.records.lastTimeMs(slot)]).toEqual([n % 256, 0, 0]);
      }
      const kept = [...held.values()].reduce((sum, { identity }) => sum + Math.ceil(identity.length / 8) * 8, 0);
      expect(shard.identitiesBytes).toBe(kept);
    }),
    { numRuns: 12 },
  );
});
