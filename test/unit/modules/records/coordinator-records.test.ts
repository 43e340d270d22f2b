import { describe, expect, it } from "vitest";
import type { AttributeValue } from "../../../../src/core/protocol/coordinator-frame.ts";
import { DAY_MS, deadLetter, Rig, record, START_MS, stream } from "../../../support/coordinator-rig.ts";

const at = (seconds: number) => new Date(START_MS + seconds * 1000).toISOString();

async function everyPage(rig: Rig, query: Record<string, string>): Promise<{ ids: string[]; totals: unknown[]; pages: number }> {
  const ids: string[] = [];
  const totals: unknown[] = [];
  let token = "";
  let pages = 0;
  do {
    const { body } = await rig.ask("records", { ...query, page_token: token });
    ids.push(...body.records.map((row: Record<string, AttributeValue>) => row.body ?? `${row.metric_name}@${row.timestamp}`));
    totals.push(body.total);
    token = body.page_token;
    pages++;
  } while (token !== "" && pages < 200);
  return { ids, totals, pages };
}

describe("records", () => {
  const filled = async () => {
    const rig = await Rig.open();
    const types = ["log", "trace", "event", "profile", "slo"];
    await rig.take(
      ...Array.from({ length: 20 }, (_, i) =>
        record({ timeMs: START_MS + i * 1000, record: { service_id: i % 2 ? "cart" : "checkout", type: types[i % 5], body: `b${i}` } }),
      ),
    );
    return rig;
  };
  const names = (numbers: readonly number[]) => numbers.map((i) => `b${i}`);

  it("come as they were stored, newest first", async () => {
    const rig = await Rig.open();
    await rig.take(record({ timeMs: START_MS, record: { attributes: { a: [1, null, { b: "ü" }] }, trace_id: "t" } }));
    const { body } = await rig.ask("records", { type: "log" });
    expect(body).toEqual({
      records: [
        {
          service_id: "checkout",
          type: "log",
          body: "hello",
          timestamp: at(0),
          attributes: { a: [1, null, { b: "ü" }] },
          trace_id: "t",
          environment: "prod",
          record_id: expect.stringMatching(/^[0-9a-f]{32}$/),
          received_at: "2026-01-31T12:00:00.005Z",
        },
      ],
      total: 1,
      total_relation: "eq",
      page_token: "",
    });
    expect((await rig.ask("records", {}, {}, "other")).body.records).toEqual([]);
  });

  const filters = (query: Record<string, string>, expected: readonly number[], total = expected.length) =>
    it(`with ${JSON.stringify(query)} are ${expected.length} of ${total}`, async () => {
      const { body } = await (await filled()).ask("records", query);
      expect(body.records.map((row: { body: string }) => row.body)).toEqual(names(expected));
      expect(body.total).toBe(total);
    });
  filters({}, [19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
  filters({ service_id: "cart", limit: "3" }, [19, 17, 15], 10);
  filters({ type: "trace" }, [16, 11, 6, 1]);
  filters({ type: "slo", service_id: "checkout" }, [14, 4]);
  filters({ since: at(17) }, [19, 18, 17]);
  filters({ until: at(2) }, [1, 0]);
  filters({ since: at(5), until: at(8) }, [7, 6, 5]);
  filters({ since: at(5), until: at(5) }, []);
  filters({ type: "metric" }, []);
  filters({ service_id: "car" }, []);

  it("are of one environment where it is asked for, the empty one too (A10)", async () => {
    const rig = await Rig.open();
    const of = (environment: string) => record({ environment, record: { body: environment } });
    await rig.take(of("prod"), of("staging"), of(""));
    const bodies = async (query: Record<string, string>) =>
      (await rig.ask("records", query)).body.records.map(({ body }: { body: string }) => body);
    expect([await bodies({ environment: "staging" }), await bodies({ environment: "" })]).toEqual([["staging"], [""]]);
    expect((await bodies({})).length).toBe(3);
  });

  it("have pages that neither repeat nor skip while rows arrive, with the first page's total", async () => {
    const rig = await filled();
    const seen: string[] = [];
    let token = "";
    let added = 0;
    do {
      const { body } = await rig.ask("records", { service_id: "checkout", limit: "3", page_token: token });
      seen.push(...body.records.map((row: { body: string }) => row.body));
      expect(body.total).toBe(10);
      token = body.page_token;
      await rig.take(record({ timeMs: START_MS + 100_000 + added++, record: { body: "new" } }));
    } while (token !== "");
    expect(seen).toEqual(names([18, 16, 14, 12, 10, 8, 6, 4, 2, 0]));
  });

  it("are stored once however often they come", async () => {
    const rig = await Rig.open();
    await rig.take(record(), record(), record());
    await rig.take(record());
    expect((await rig.ask("records")).body.total).toBe(1);
  });

  it("are deleted after their time, tenant by tenant, and refused when older", async () => {
    const rig = await Rig.open({ retentionMs: DAY_MS });
    await rig.take(record(), record({ tenant: "other" }), record({ timeMs: START_MS + 1000 }), record({ timeMs: START_MS - DAY_MS - 1 }));
    expect(rig.counter("recordsDropped")).toBe(1);
    rig.nowMs += DAY_MS + 500;
    rig.monotonicMs += DAY_MS;
    await rig.drain();
    expect((await rig.ask("records")).body.total).toBe(1);
    expect((await rig.ask("records", {}, {}, "other")).body.total).toBe(0);
  });

  it("are deleted a few at a time where the disk has no room for more, as many in one go", async () => {
    const rig = await Rig.open({ retentionMs: DAY_MS });
    for (const round of [0, 1]) {
      rig.series.limitCommits(Number.POSITIVE_INFINITY);
      await rig.take(...Array.from({ length: 600 }, (_, i) => record({ timeMs: rig.nowMs + i })));
      rig.nowMs += DAY_MS + 1000;
      rig.monotonicMs += DAY_MS;
      rig.series.limitCommits(5);
      for (const refusals of [1, 2]) {
        await rig.drain();
        expect([rig.counter("commitErrors"), rig.counter("recordsExpired")]).toEqual([2 * round + refusals, 600 * round]);
        rig.monotonicMs += 5000;
      }
      await rig.coordinator.step();
      expect(rig.counter("recordsExpired")).toBe(600 * round + 4 * 32);
      await rig.drain();
      expect([rig.counter("recordsExpired"), rig.counter("storeReadOnly")]).toEqual([600 * (round + 1), 0]);
    }
  });

  it("are deleted while engines still read their logs only where what these send has no room", async () => {
    const before = await Rig.open({ retentionMs: DAY_MS });
    const records = (rig: Rig) => Array.from({ length: 600 }, (_, i) => record({ timeMs: rig.nowMs + i }));
    await before.take(...records(before));
    const rig = await before.restarted({ retentionMs: DAY_MS, isStarting: true, nowMs: before.nowMs + DAY_MS + 1000 });
    rig.monotonicMs += DAY_MS;
    await rig.drain();
    expect(rig.counter("recordsExpired")).toBe(0);
    rig.series.limitCommits(40);
    rig.engines[0]?.frames.push(...records(rig));
    for (let attempt = 0; attempt < 20; attempt++) {
      await rig.coordinator.step();
      rig.monotonicMs += 5000;
    }
    expect(rig.counter("commitErrors")).toBeGreaterThan(0);
    expect(rig.counter("recordsExpired")).toBe(600);
  });
});

describe("metric samples among records", () => {
  const withStreams = async () => {
    const rig = await Rig.open({ engines: 2 });
    const times = Array.from({ length: 30 }, (_, i) => START_MS + i * 1000);
    for (const metricName of ["a", "b"]) {
      for (const engine of rig.engines)
        engine.streams.push(stream({ metricName, attributes: { zone: "x" } }, { times, values: times.map((_, i) => i) }));
    }
    rig.engines[0]?.streams.splice(0);
    await rig.take(...Array.from({ length: 10 }, (_, i) => record({ timeMs: START_MS + i * 3000 + 500, record: { body: `b${i}` } })));
    return rig;
  };

  it("with a service are its recent samples, in the same order as the stored ones", async () => {
    const rig = await withStreams();
    rig.engines[0]?.streams.push(...(rig.engines[1]?.streams ?? []));
    const { ids, totals, pages } = await everyPage(rig, { service_id: "checkout", limit: "7" });
    expect(new Set(ids).size).toBe(70);
    expect(totals).toEqual(Array.from({ length: 10 }, () => 70));
    expect(pages).toBe(10);
    const { body } = await rig.ask("records", { service_id: "checkout", type: "metric", since: at(28), until: at(29) });
    expect(body.records.map((row: { metric_name: string }) => row.metric_name).sort()).toEqual(["a", "b"]);
    expect(body.records[0]).toEqual({
      service_id: "checkout",
      type: "metric",
      metric_name: expect.any(String),
      value: 28,
      timestamp: at(28),
      attributes: { zone: "x" },
      environment: "prod",
    });
  });

  it("without a service are the newest of each series", async () => {
    const rig = await withStreams();
    const { body } = await rig.ask("records", { type: "metric" });
    expect(body.records.map((row: { value: number }) => row.value)).toEqual([29, 29]);
    expect((await rig.ask("records", {})).body.total).toBe(12);
  });
});

describe("dead letters", () => {
  it("are counted by reason and topic, per tenant, with null dates when there is none", async () => {
    const rig = await Rig.open();
    expect((await rig.ask("dlqStats")).body).toEqual({
      total_failed: 0,
      by_reason: {},
      oldest_entry: null,
      newest_entry: null,
      by_topic: {},
      bytes: 0,
      dropped: { by_age: 0, by_size: 0 },
      limits: { age_seconds: 7 * 24 * 3600, bytes: 1024 ** 3 },
    });
    await rig.take(
      deadLetter(),
      deadLetter({ receivedMs: START_MS + 2000, reason: "invalid_value" }),
      deadLetter({ receivedMs: START_MS + 1000, topic: "remote_write" }),
      deadLetter({ tenant: "other" }),
    );
    const expected = {
      total_failed: 3,
      by_reason: { missing_value: 2, invalid_value: 1 },
      oldest_entry: at(0),
      newest_entry: at(2),
      by_topic: { json: 2, remote_write: 1 },
    };
    expect((await rig.ask("dlqStats")).body).toMatchObject(expected);
    await rig.take(deadLetter(), deadLetter({ tenant: "other" }));
    expect((await rig.ask("dlqStats")).body).toMatchObject(expected);
    expect((await (await rig.restarted()).ask("dlqStats")).body).toMatchObject(expected);
    expect(rig.counter("deadLetters")).toBe(4);
  });

  it("go after seven days, and the counts with them", async () => {
    const rig = await Rig.open();
    await rig.take(deadLetter(), deadLetter({ receivedMs: START_MS + DAY_MS, reason: "invalid_value" }));
    rig.nowMs += 7 * DAY_MS + 1;
    rig.monotonicMs += DAY_MS;
    await rig.drain();
    expect((await rig.ask("dlqStats")).body).toMatchObject({
      total_failed: 1,
      by_reason: { invalid_value: 1 },
      dropped: { by_age: 1, by_size: 0 },
    });
    expect(rig.counter("deadLettersDropped")).toBe(0);
  });

  it("are dropped beyond their bytes, oldest first, of the tenant with most, and counted", async () => {
    const rig = await Rig.open({ deadLetterBytesMax: 5000 });
    const big = "x".repeat(1000);
    await rig.take(
      ...Array.from({ length: 8 }, (_, i) => deadLetter({ receivedMs: START_MS + i, payload: big })),
      deadLetter({ tenant: "other", receivedMs: 0 }),
    );
    rig.monotonicMs += 120_000;
    await rig.drain();
    const { body } = await rig.ask("dlqStats");
    expect(body.total_failed).toBeLessThan(5);
    expect(body.newest_entry).toBe("2026-01-31T12:00:00.007Z");
    expect(rig.counter("deadLettersDropped")).toBe(8 - body.total_failed);
    expect(body.dropped).toEqual({ by_age: 0, by_size: 8 - body.total_failed });
    const lines = rig.messages.filter((message) => message.type === "log").map(({ msg }) => msg);
    expect(lines).toEqual([expect.stringMatching(/^dead letters of tenant "default" passed 5000 bytes: the oldest \d were dropped/)]);
    expect((await rig.ask("dlqStats", {}, {}, "other")).body.total_failed).toBe(0);
  });

  it("without a credential go before others, wherever they lie and however much others take", async () => {
    const rig = await Rig.open({ deadLetterBytesMax: 5000 });
    const big = "x".repeat(1000);
    await rig.take(
      ...Array.from({ length: 3 }, (_, i) => deadLetter({ tenant: "other", receivedMs: START_MS + i, payload: big })),
      ...Array.from({ length: 6 }, (_, i) => deadLetter({ receivedMs: START_MS + i, payload: big, anonymous: i % 2 === 1 })),
    );
    rig.monotonicMs += 120_000;
    await rig.drain();
    // 5 KB hold four letters of 1.2 KB: the three anonymous ones go, then the oldest of those of which a tenant has most or as many.
    const { body } = await rig.ask("deadLetters");
    const { body: others } = await rig.ask("deadLetters", {}, {}, "other");
    expect(body.total + others.total).toBe(4);
    const anonymous = [1, 3, 5].map((i) => at(i / 1000));
    expect(body.entries.filter(({ received_at }: { received_at: string }) => anonymous.includes(received_at))).toEqual([]);
  });

  it("that stand for several records count for each of them", async () => {
    const rig = await Rig.open();
    const places: Array<[number, number]> = [[0, 9_999]];
    await rig.take(deadLetter({ count: 10_000, places }));
    expect((await rig.ask("dlqStats")).body).toMatchObject({ total_failed: 10_000, by_reason: { missing_value: 10_000 } });
    expect((await rig.ask("deadLetters")).body).toMatchObject({ total: 1, entries: [{ count: 10_000, places }] });
    expect((await (await rig.restarted()).ask("dlqStats")).body.total_failed).toBe(10_000);
  });

  it("of many reasons are counted as other beyond the maximum of groups", async () => {
    const rig = await Rig.open();
    await rig.take(...Array.from({ length: 70 }, (_, i) => deadLetter({ receivedMs: START_MS + i, reason: `r${i}` })));
    const { body } = await rig.ask("dlqStats");
    expect(body.total_failed).toBe(70);
    expect(Object.keys(body.by_reason)).toHaveLength(65);
    expect(body.by_reason.other).toBe(6);
  });
});
