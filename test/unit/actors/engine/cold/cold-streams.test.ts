import { describe, expect, it } from "vitest";
import { COLD, ColdStreams, DROPPED, FREE, RETURNED, WANTED } from "../../../../../src/actors/engine/cold/cold-streams.ts";
import { ParkedRows } from "../../../../../src/actors/engine/cold/parked-rows.ts";
import { COLD_FILTER, COLD_FILTER_BYTES } from "../../../../../src/core/layout/memory-map.ts";
import { generator } from "../../../../support/generator.ts";

const memory = new Uint8Array(COLD_FILTER + COLD_FILTER_BYTES);

/** Many hashes share their first word, by which the table is addressed. */
function hashOf(n: number): Uint8Array {
  return new Uint8Array(Uint32Array.of(n % 7, n, Math.imul(n, 0x9e3779b1), n ^ 0x5bd1e995).buffer);
}

describe("the index of streams that are not in memory", () => {
  it("knows what was entered and not taken out, whatever the order", () => {
    const streams = new ColdStreams({ bytes: memory });
    const { uniform } = generator(11);
    const entered = new Map<number, number>();
    for (let step = 0; step < 20_000; step++) {
      const n = Math.floor(uniform() * 3_000);
      const id = entered.get(n);
      if (streams.find(hashOf(n)) !== (id ?? -1)) expect.unreachable(`step ${step}: stream ${n}`);
      if (id === undefined) entered.set(n, streams.add({ hash: hashOf(n), partition: n % 256, serial: n, lastTimeMs: n }));
      else if (uniform() < 0.7) {
        if (uniform() < 0.5) streams.setReturned(id, n);
        else streams.forget(id);
        entered.delete(n);
        if (streams.find(hashOf(n)) !== -1) expect.unreachable(`step ${step}: stream ${n} is still found`);
        streams.remove(id);
      }
    }
    expect(streams.size).toBe(entered.size);
    for (const [n, id] of entered) {
      expect([streams.serial(id), streams.partition(id), streams.lastTimeMs(id), streams.state(id)]).toEqual([n, n % 256, n, COLD]);
      expect(streams.hash(id)).toEqual(hashOf(n));
    }
  });

  it("follows a stream to memory and out of it again under another number", () => {
    const streams = new ColdStreams({ bytes: memory });
    const stream = { hash: hashOf(5), partition: 1, serial: 9, lastTimeMs: 0 };
    const first = streams.add(stream);
    streams.setWanted(first, true);
    expect([streams.state(first), streams.find(stream.hash)]).toEqual([WANTED, first]);
    streams.setReturned(first, 77);
    expect([streams.state(first), streams.slot(first), streams.find(stream.hash), streams.size]).toEqual([RETURNED, 77, -1, 0]);
    streams.setReplaced(first);
    const second = streams.add({ ...stream, serial: 10 });
    expect([streams.state(first), streams.find(stream.hash), second === first]).toEqual([DROPPED, second, false]);
    streams.remove(first);
    expect(streams.state(first)).toBe(FREE);
    expect(streams.add({ ...stream, hash: hashOf(6) })).toBe(first);
    expect([streams.find(stream.hash), streams.find(hashOf(6))]).toEqual([second, first]);
  });
});

describe("rows that wait", () => {
  it("come out in order, with their frames, while others come in", () => {
    const rows = new ParkedRows();
    const { uniform } = generator(4);
    const words = new Uint32Array(4);
    let [into, out] = [0, 0];
    for (let step = 0; step < 30_000; step++) {
      if (uniform() < (step < 15_000 ? 0.6 : 0.4)) {
        if (into % 9 === 8) rows.pushKind(into, 3);
        else rows.push(into, into + 1, into + 2, into + 3, Math.floor(into / 5), Math.floor(into / 50));
        into++;
      } else if (!rows.isEmpty) {
        const isKind = out % 9 === 8;
        if (!isKind) rows.copyTo(words, 0);
        const isRow =
          words.every((word, at) => word === out + at) && rows.baseMs === Math.floor(out / 5) && rows.arrivalMs === Math.floor(out / 50);
        if (rows.target !== out || rows.isKind !== isKind || !(isKind ? rows.flags === 3 : isRow))
          expect.unreachable(`row ${out} is another`);
        rows.skip();
        out++;
        if (rows.isEmpty) rows.release();
      }
      if (rows.pushed !== into || rows.taken !== out || rows.isEmpty !== (into === out))
        expect.unreachable(`step ${step}: ${rows.pushed} rows`);
    }
    expect(out).toBeGreaterThan(5_000);
  });
});
