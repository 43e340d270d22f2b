import { describe, expect, it } from "vitest";
import { COLD_BATCH_BYTES } from "../../../../src/core/config/limits.ts";
import { ByteWriter } from "../../../../src/domain/codec/byte-writer.ts";
import { readColdEntries, writeColdEntry } from "../../../../src/domain/kernel/cold-entry.ts";
import { partitionOf } from "../../../../src/domain/placement/partition.ts";
import { identityText } from "../../../../src/domain/series/stream-identity.ts";
import { checkpoint, Rig, START_MS, stream } from "../../../support/coordinator-rig.ts";
import { ShardRig } from "../../../support/shard-rig.ts";

const P = partitionOf("default", "checkout");
const shard = new ShardRig({ window: 120 });

interface Leaving {
  readonly serial: number;
  readonly metricName: string;
  readonly samples?: number;
  readonly padding?: number;
}

/** What a checkpoint says of streams that are back and of those that left. */
function changes(back: readonly number[], left: readonly Leaving[]): Uint8Array {
  const sink = new ByteWriter();
  sink.u32(back.length);
  for (const serial of back) sink.u32(serial);
  for (const { serial, metricName, samples = 3, padding = 0 } of left) {
    const name = {
      tenant: "default",
      environment: "prod",
      serviceId: "checkout",
      metricName,
      attributes: padding > 0 ? { pad: "x".repeat(padding) } : {},
    };
    const slot = shard.stream(0, BigInt(serial + 1) * 977n);
    for (let i = 0; i < samples; i++) shard.apply(slot, START_MS + 1000 * i, serial * 100 + i);
    const hash = new Uint8Array(16).fill(serial + 1);
    writeColdEntry(sink, { serial, hash, identity: new TextEncoder().encode(identityText(name)) }, () => shard.shard.pack(slot, sink));
  }
  return sink.bytes.slice(0, sink.at);
}

const take = (rig: Rig, generation: number, back: readonly number[], left: readonly Leaving[]) =>
  rig.take(checkpoint(P, 1, [], 0, "end", { generation, changes: changes(back, left) }));

const rows = (rig: Rig, table: string) => rig.series.contents.get(table)?.size ?? 0;

function delivered(rig: Rig): number[] {
  return rig.engines
    .flatMap((engine) => engine.delivered.splice(0))
    .flatMap(({ entries }) => [...readColdEntries(entries)].map(({ serial }) => serial));
}

describe("streams that left memory", () => {
  it("are given back to the engine that asks, those that are not stored yet once they are", async () => {
    const rig = await Rig.open();
    await take(
      rig,
      1,
      [],
      [
        { serial: 0, metricName: "a" },
        { serial: 1, metricName: "b" },
      ],
    );
    rig.coordinator.returnStreams(0, { type: "streams-wanted", wanted: Uint32Array.of(P, 1, P, 5, P, 0) });
    expect(delivered(rig)).toEqual([0, 1]);
    await take(rig, 2, [1], [{ serial: 4, metricName: "d" }]);
    expect(delivered(rig)).toEqual([]);
    await take(rig, 3, [], [{ serial: 5, metricName: "e" }]);
    expect(delivered(rig)).toEqual([5]);
  });

  it("lie in batches of bounded size, which go when their last stream is back", async () => {
    const rig = await Rig.open();
    const left = Array.from({ length: 60 }, (_, serial) => ({ serial, metricName: `m${serial}`, padding: 3000 }));
    await take(rig, 1, [], left.slice(0, 45));
    await take(rig, 2, [], left.slice(45));
    expect(rows(rig, "cold_streams")).toBe(3);
    for (const value of rig.series.contents.get("cold_streams")?.values() ?? []) expect(value.length).toBeLessThan(COLD_BATCH_BYTES + 4096);
    rig.coordinator.returnStreams(0, { type: "streams-wanted", wanted: Uint32Array.from(left.flatMap(({ serial }) => [P, serial])) });
    expect(delivered(rig)).toEqual(left.map(({ serial }) => serial));
    await take(
      rig,
      3,
      left.slice(0, 59).map(({ serial }) => serial),
      [],
    );
    expect([rows(rig, "cold_streams"), rows(rig, "cold_services")]).toEqual([1, 1]);
    await take(rig, 4, [59, 59, 7], []);
    expect([rows(rig, "cold_streams"), rows(rig, "cold_services")]).toEqual([0, 0]);
  });

  it("change with two checkpoints in one transaction as with two", async () => {
    const rig = await Rig.open();
    const first = checkpoint(P, 1, [], 0, "end", {
      generation: 1,
      changes: changes(
        [],
        [
          { serial: 0, metricName: "a" },
          { serial: 1, metricName: "b" },
        ],
      ),
    });
    const second = checkpoint(P, 1, [], 0, "end", { generation: 2, changes: changes([0], [{ serial: 2, metricName: "a" }]) });
    await rig.take(first, second);
    expect((await rig.ask("series")).body.series.map((each: { metric_name: string }) => each.metric_name)).toEqual(["a", "b"]);
    rig.coordinator.returnStreams(0, { type: "streams-wanted", wanted: Uint32Array.of(P, 0, P, 1, P, 2) });
    expect(delivered(rig)).toEqual([1, 2]);
  });

  it("are in lists among the others, page by page, also after a restart", async () => {
    const rig = await Rig.open();
    await take(
      rig,
      1,
      [],
      [
        { serial: 0, metricName: "b" },
        { serial: 1, metricName: "d" },
      ],
    );
    const next = await rig.restarted();
    next.engines[0]?.streams.push(stream({ metricName: "a" }), stream({ metricName: "c" }), stream({ metricName: "e" }));
    const names: string[] = [];
    for (let token = ""; ; ) {
      const { body } = await next.ask("series", { limit: "2", ...(token !== "" && { page_token: token }) });
      expect(body.total).toBe(5);
      names.push(...body.series.map((each: { metric_name: string }) => each.metric_name));
      token = body.page_token;
      if (token === "") break;
    }
    expect(names).toEqual(["a", "b", "c", "d", "e"]);
    const { body } = await next.ask("series", { metric_name: "d" });
    expect([body.total, body.series[0].samples, body.series[0].last_value]).toEqual([1, 3, 102]);
    expect((await next.ask("series", { service_id: "other" })).body.total).toBe(0);
  });

  it("have their values", async () => {
    const rig = await Rig.open();
    await take(rig, 1, [], [{ serial: 0, metricName: "b", samples: 130 }]);
    rig.engines[0]?.streams.push(stream({ metricName: "c" }));
    const { body } = await rig.ask("seriesData", { service_id: "checkout", metric_name: "b", limit: "1000" });
    expect([body.matches, body.points.length, body.points.at(-1).value, body.points[0].value]).toEqual([1, 120, 129, 10]);
    expect((await rig.ask("seriesData", { service_id: "checkout", metric_name: "zzz" })).status).toBe(404);
  });
});
