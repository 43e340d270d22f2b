// Dead letters as an operator works with them: found, corrected, deleted, replayed. Engines are played by test/support/replay-engine.ts.
import { describe, expect, it } from "vitest";
import { REPLAY_BODY_BYTES, REPLAY_BODY_DEAD_LETTERS, REPLAY_JOBS_MAX, REPLAY_SCAN_ROWS } from "../../../../src/core/config/limits.ts";
import { VALIDATION_REASONS } from "../../../../src/core/layout/counters.ts";
import type { ReplayBatch } from "../../../../src/core/protocol/query.ts";
import { DAY_MS, deadLetter, Rig, START_MS } from "../../../support/coordinator-rig.ts";
import { ReplayEngine } from "../../../support/replay-engine.ts";

const iso = (ms: number) => new Date(ms).toISOString();
const good = (n: number, change: object = {}) => ({
  service_id: "shop",
  metric_name: "m",
  value: n,
  timestamp: iso(START_MS - 1000 + n),
  ...change,
});

/** Letters n = 0, 1, ... whose payloads may be replayed, a second apart. */
const letters = (count: number, change: (n: number) => object = () => ({})) =>
  Array.from({ length: count }, (_, n) => deadLetter({ receivedMs: START_MS + n, payload: good(n), ...change(n) }));

const list = async (rig: Rig, query: Record<string, string> = {}) => (await rig.ask("deadLetters", query)).body;
const replay = (rig: Rig, content: unknown) => rig.ask("replayDeadLetters", {}, {}, "default", content);
const job = async (rig: Rig, id: string) => (await rig.ask("replayJob", {}, { id })).body;

describe("dead letters", () => {
  it("are listed newest first with their payload, by reason, service, topic and time", async () => {
    const rig = await Rig.open();
    await rig.take(
      deadLetter({ receivedMs: START_MS, payload: good(1), reason: "invalid_value" }),
      deadLetter({
        receivedMs: START_MS + 1,
        payload: { labels: { __name__: "up", job: "node" }, value: 1, timestamp: START_MS },
        topic: "remote_write",
      }),
      deadLetter({ receivedMs: START_MS + 2, payload: { service_id: "cart" } }),
      deadLetter({ receivedMs: START_MS + 3, tenant: "other" }),
    );
    const whole = await list(rig);
    expect(whole).toMatchObject({ total: 3, total_relation: "eq", page_token: "" });
    expect(whole.entries.map((entry: { received_at: string }) => entry.received_at)).toEqual([2, 1, 0].map((ms) => iso(START_MS + ms)));
    expect(whole.entries[2]).toMatchObject({ reason: "invalid_value", field: "value", topic: "json", payload: good(1) });
    const counts = async (query: Record<string, string>) => (await list(rig, query)).entries.length;
    expect(await counts({ reason: "invalid_value" })).toBe(1);
    expect(await counts({ service_id: "node" })).toBe(1);
    expect(await counts({ service_id: "cart" })).toBe(1);
    expect(await counts({ topic: "remote_write" })).toBe(1);
    expect(await counts({ since: iso(START_MS + 1) })).toBe(2);
    expect(await counts({ until: iso(START_MS + 1) })).toBe(1);
  });

  it("come in pages that neither repeat nor skip while letters arrive", async () => {
    const rig = await Rig.open();
    await rig.take(...letters(1_203, (n) => (n % 3 === 0 ? { reason: "invalid_value" } : {})));
    for (const query of [{}, { reason: "invalid_value" }] as Array<Record<string, string>>) {
      const seen: string[] = [];
      let page = await list(rig, { ...query, limit: "100" });
      const { total } = page;
      for (;;) {
        seen.push(...page.entries.map((entry: { dlq_id: string }) => entry.dlq_id));
        if (page.page_token === "") break;
        await rig.take(deadLetter({ receivedMs: START_MS + 5_000 + seen.length }));
        page = await list(rig, { ...query, limit: "100", page_token: page.page_token });
        expect(page.total).toBe(total);
      }
      expect(seen.length).toBe(total);
      expect(new Set(seen).size).toBe(total);
    }
    expect((await rig.ask("deadLetters", { reason: "a", page_token: "x" })).status).toBe(400);
  });

  it("are corrected, and say what is still wrong; the correction outlives a restart and a log that is read again", async () => {
    const rig = await Rig.open();
    const letter = deadLetter({ payload: good(1, { value: "x" }) });
    await rig.take(letter);
    const { dlq_id: id } = (await list(rig)).entries[0];
    const put = (content: unknown) => rig.ask("correctDeadLetter", {}, { id }, "default", content);
    expect((await put({ payload: good(1, { value: "y" }) })).body).toMatchObject({
      replayable: false,
      problem: { reason: "invalid_value", field: "value" },
    });
    expect((await put(good(1, { timestamp: iso(START_MS - 2 * DAY_MS) }))).body.problem.reason).toBe("timestamp_too_old");
    for (const content of ["", "[", "7", '{"payload":7}', `${'{"a":'.repeat(100)}1${"}".repeat(100)}`])
      expect((await put(content)).status).toBe(400);
    expect((await put({ payload: good(7) })).body).toMatchObject({
      replayable: true,
      problem: null,
      corrected_at: iso(START_MS),
      payload: good(7),
    });
    const again = await rig.restarted();
    await again.take(letter);
    expect((await again.ask("deadLetter", {}, { id })).body).toMatchObject({ payload: good(7), reason: "missing_value" });
    expect((await again.ask("dlqStats")).body).toMatchObject({ total_failed: 1 });
    expect((await again.ask("deadLetter", {}, { id: `${"0".repeat(43)}1` })).status).toBe(404);
    expect((await again.ask("deadLetter", {}, { id: "../x" })).status).toBe(404);
  });

  it("are deleted for good: a log that is read again does not bring them back", async () => {
    const rig = await Rig.open();
    const letter = deadLetter();
    await rig.take(letter, deadLetter({ receivedMs: START_MS + 1 }));
    const { dlq_id: id } = (await list(rig)).entries[1];
    expect(await rig.ask("deleteDeadLetter", {}, { id })).toEqual({ status: 204, body: null });
    expect((await rig.ask("deleteDeadLetter", {}, { id })).status).toBe(404);
    const again = await rig.restarted();
    await again.take(letter);
    expect((await again.ask("dlqStats")).body).toMatchObject({ total_failed: 1 });
    expect((await list(again)).total).toBe(1);
  });
});

describe("a replay", () => {
  it("says first what each letter would become, and changes nothing", async () => {
    const rig = await Rig.open();
    await rig.take(
      deadLetter({ payload: good(1) }),
      deadLetter({ receivedMs: START_MS + 1, payload: good(2, { value: null }) }),
      deadLetter({ receivedMs: START_MS - 3 * DAY_MS, payload: good(3, { timestamp: iso(START_MS - 3 * DAY_MS - 60_000) }) }),
    );
    const before = rig.durable();
    const { status, body } = await replay(rig, { filter: {}, dry_run: true });
    expect(status).toBe(200);
    expect(body).toMatchObject({ dry_run: true, complete: true, examined: 3, selected: 3, accepted: 2, refused: 1 });
    expect(body.entries).toMatchObject([
      { outcome: "accepted", taken_as: "history", becomes: { service_id: "shop", metric_name: "m", value: 3 } },
      { outcome: "accepted", taken_as: "live", becomes: good(1) },
      { outcome: "refused", problem: { reason: "invalid_value", field: "value" } },
    ]);
    expect(rig.durable()).toEqual(before);
  });

  it("takes every letter once that was in time when it came, the old ones as history, and leaves the others", async () => {
    const rig = await Rig.open();
    const engine = new ReplayEngine(rig);
    const count = 2 * REPLAY_SCAN_ROWS + 17;
    await rig.take(
      ...letters(count, (n) => (n % 10 === 0 ? { payload: good(n, { value: "x" }) } : {})),
      ...Array.from({ length: 30 }, (_, n) => {
        const receivedMs = START_MS - 5 * DAY_MS + n;
        return deadLetter({ receivedMs, payload: good(n, { timestamp: iso(receivedMs) }) });
      }),
    );
    rig.nowMs = START_MS + 5_000;
    const asked = await replay(rig, { filter: {} });
    expect(asked.status).toBe(202);
    expect(asked.body).toMatchObject({ state: "queued", candidates: count + 30 });
    expect((await replay(rig, { filter: {} })).body.job_id).toBe(asked.body.job_id);
    await engine.run();
    const bad = Math.ceil(count / 10);
    expect(await job(rig, asked.body.job_id)).toMatchObject({
      state: "done",
      progress: 1,
      examined: count + 30,
      replayed: count + 30 - bad,
      failed: bad,
      failed_by_reason: { invalid_value: bad },
    });
    expect(engine.entered.length).toBe(count + 30 - bad);
    expect(engine.histories.filter((history) => history).length).toBe(30);
    expect((await rig.ask("dlqStats")).body.total_failed).toBe(bad);
    expect(rig.counter("deadLettersReplayed")).toBe(count + 30 - bad);
    const again = await replay(rig, { filter: {} });
    await engine.run();
    expect(await job(rig, again.body.job_id)).toMatchObject({ state: "done", replayed: 0, failed: bad });
    expect(engine.entered.length).toBe(count + 30 - bad);
  });

  it("sends few letters at once, and waits as long as an engine took for them", async () => {
    const rig = await Rig.open();
    const engine = new ReplayEngine(rig);
    const wide = "x".repeat(REPLAY_BODY_BYTES / 3);
    await rig.take(
      ...letters(3 * REPLAY_BODY_DEAD_LETTERS + 1),
      ...Array.from({ length: 4 }, (_, n) => deadLetter({ receivedMs: START_MS + 900 + n, payload: good(n, { attributes: { wide } }) })),
    );
    rig.nowMs += 5_000;
    await replay(rig, { filter: {} });
    const sizes = () =>
      rig.messages
        .filter((message): message is ReplayBatch => message.type === "replay-batch")
        .map((batch) => JSON.parse(Buffer.from(batch.body).toString()).letters.length);
    await rig.drain();
    expect(sizes()).toEqual([REPLAY_BODY_DEAD_LETTERS]);
    const tookMs = 40;
    rig.monotonicMs += tookMs;
    const [first] = rig.messages.filter((message): message is ReplayBatch => message.type === "replay-batch");
    const answer = { batch: first?.batch ?? 0, status: 200, body: JSON.stringify({ replayed: 0, failures: [] }) };
    await rig.coordinator.handle({ type: "replay-answer", ...answer });
    await rig.drain();
    rig.monotonicMs += tookMs - 1;
    await rig.drain();
    expect(sizes().length).toBe(1);
    rig.monotonicMs += 1;
    await rig.drain();
    expect(sizes()).toEqual([REPLAY_BODY_DEAD_LETTERS, REPLAY_BODY_DEAD_LETTERS]);
    await engine.run();
    expect(sizes().every((size: number) => size <= REPLAY_BODY_DEAD_LETTERS)).toBe(true);
    expect(sizes().at(-1)).toBeLessThan(4);
  });

  it("of ids tells which were replayed before and which never were", async () => {
    const rig = await Rig.open();
    const engine = new ReplayEngine(rig);
    await rig.take(...letters(3));
    rig.nowMs += 1_000;
    const ids: string[] = (await list(rig)).entries.map((entry: { dlq_id: string }) => entry.dlq_id);
    const first = await replay(rig, { ids: [ids[0]] });
    await engine.run();
    expect(await job(rig, first.body.job_id)).toMatchObject({ state: "done", replayed: 1 });
    const absent = `${"0".repeat(43)}1`;
    const second = await replay(rig, { ids: [...ids, absent, ids[1]] });
    await engine.run();
    expect(await job(rig, second.body.job_id)).toMatchObject({
      state: "done",
      examined: 4,
      replayed: 2,
      already_replayed: 1,
      not_found: 1,
    });
    expect(engine.entered.length).toBe(3);
    expect((await replay(rig, { ids: [ids[0], absent], dry_run: true })).body.entries).toMatchObject([
      { outcome: "already_replayed" },
      { outcome: "not_found" },
    ]);
  });

  it("refuses a request that it cannot read", async () => {
    const rig = await Rig.open();
    const bad = [
      {},
      { ids: [], dry_run: true },
      { ids: ["x"] },
      { ids: [], filter: {} },
      { filter: { since: "x" } },
      { filter: { a: 1 } },
      { filter: {}, b: 1 },
    ];
    for (const content of bad) expect([content, (await replay(rig, content)).status]).toEqual([content, 400]);
    expect((await rig.ask("replayJob", {}, { id: "x" })).status).toBe(404);
  });

  it("waits while engines are behind, and goes on", async () => {
    const rig = await Rig.open();
    const engine = new ReplayEngine(rig);
    await rig.take(...letters(5));
    rig.nowMs += 1_000;
    const { body } = await replay(rig, { filter: {} });
    await engine.run((["busy", "busy", "take"] as const).values());
    for (let i = 0; i < 3; i++) await engine.run();
    expect(rig.counter("replayBackOffs")).toBe(2);
    expect(await job(rig, body.job_id)).toMatchObject({ state: "done", replayed: 5 });
  });

  it("leaves what the engine refuses", async () => {
    const rig = await Rig.open();
    const engine = new ReplayEngine(rig);
    await rig.take(...letters(4));
    rig.nowMs += 1_000;
    const { body } = await replay(rig, { filter: {} });
    await engine.run([].values(), (payload) => (payload as { value: number }).value === 2);
    expect(await job(rig, body.job_id)).toMatchObject({ replayed: 3, failed: 1, failed_by_reason: { series_limit_exceeded: 1 } });
    expect((await rig.ask("dlqStats")).body.total_failed).toBe(1);
  });

  it.each(["crash before the log", "crash before the answer"] as const)("goes on after a %s, with exact counts", async (crash) => {
    const first = await Rig.open();
    const count = 3 * REPLAY_SCAN_ROWS;
    const frames = letters(count);
    await first.take(...frames);
    first.nowMs += 10_000;
    const { body } = await replay(first, { filter: {} });
    const before = new ReplayEngine(first);
    expect(await before.run((["take", crash] as const).values())).toBe(false);
    // What the engine had logged comes again, in its order, before anything else; the letters too.
    const logged = [...(first.engines[0]?.frames ?? [])];
    const second = await first.restarted({ isStarting: true });
    await second.take(...frames, ...logged);
    const after = new ReplayEngine(second);
    await after.run();
    expect(await job(second, body.job_id)).toMatchObject({ state: "done", replayed: count, failed: 0 });
    expect(before.entered.length + after.entered.length).toBe(count);
    expect((await second.ask("dlqStats")).body.total_failed).toBe(0);
  });

  it("has its turn beside others of the tenant, of which there may be some", async () => {
    const rig = await Rig.open();
    await rig.take(...letters(10, (n) => ({ reason: VALIDATION_REASONS[n] as string })));
    rig.nowMs += 1_000;
    const asked = [];
    for (let n = 0; n < REPLAY_JOBS_MAX; n++) asked.push(await replay(rig, { filter: { reason: VALIDATION_REASONS[n] } }));
    expect(asked.map(({ status }) => status)).toEqual(asked.map(() => 202));
    expect((await replay(rig, { filter: { reason: VALIDATION_REASONS[9] } })).status).toBe(429);
    await new ReplayEngine(rig).run();
    for (const { body } of asked) expect(await job(rig, body.job_id)).toMatchObject({ state: "done", replayed: 1 });
    expect(await job(await rig.restarted(), asked[0]?.body.job_id)).toMatchObject({ state: "done" });
  });

  it("forgets ends with the age of letters", async () => {
    const rig = await Rig.open();
    await rig.take(deadLetter());
    const { dlq_id: id } = (await list(rig)).entries[0];
    await rig.ask("deleteDeadLetter", {}, { id });
    expect(rig.control.contents.get("dead_letter_ends")?.size).toBe(1);
    rig.nowMs += 7 * DAY_MS + 1;
    rig.monotonicMs += DAY_MS;
    await rig.drain();
    expect(rig.control.contents.get("dead_letter_ends")?.size).toBe(0);
  });
});
