import { describe, expect, it } from "vitest";
import { AUDIT_VIEW_BYTES_MAX } from "../../../../src/core/config/limits.ts";
import { auditedView } from "../../../../src/modules/access/audit-log.ts";
import { answerSchema } from "../../../support/answer-schema.ts";
import { Rig, START_MS } from "../../../support/coordinator-rig.ts";

const DAY_MS = 24 * 3600 * 1000;
const MINUTE_MS = 60_000;

interface Row {
  readonly action: string;
  readonly object: string;
  readonly at: string;
  readonly after: { readonly value?: string } | null;
}

const label = (rig: Rig, value: string, tenant = "default") =>
  rig.ask("setLabel", {}, {}, tenant, { service_id: "checkout", key: "team", value });

async function audit(rig: Rig, query: Record<string, string> = {}, tenant = "default"): Promise<Row[]> {
  const rows: Row[] = [];
  for (let page_token = ""; ; ) {
    const { body } = await rig.ask("audit", { ...query, page_token }, {}, tenant);
    answerSchema("audit", 200).parse(body);
    rows.push(...body.entries);
    page_token = body.page_token;
    if (page_token === "") return rows;
  }
}

/** Lets rounds of retention pass. */
async function retain(rig: Rig): Promise<void> {
  // The round under way may have begun before.
  for (let rounds = 0; rounds < 2; rounds++) {
    rig.monotonicMs += 2 * MINUTE_MS;
    await rig.drain();
  }
}

describe("the audit log", () => {
  it("tells who changed what, when, from where, and how it was before and after", async () => {
    const rig = await Rig.open();
    await label(rig, "a");
    rig.nowMs += 1000;
    await label(rig, "b");
    const time = (ms: number) => new Date(ms).toISOString();
    const view = (value: string, atMs: number) => ({
      service_id: "checkout",
      key: "team",
      value,
      source: "manual",
      updated_at: time(atMs),
      overrides: [],
    });
    const row = {
      actor: "test",
      role: "viewer",
      action: "label.set",
      object: "checkout/team",
      request_id: "test",
      source_address: "127.0.0.1",
    };
    const [after, before] = [view("b", START_MS + 1000), view("a", START_MS)];
    expect(await audit(rig)).toEqual([
      { ...row, audit_id: expect.any(String), at: time(START_MS + 1000), before, after },
      { ...row, audit_id: expect.any(String), at: time(START_MS), before: null, after: before },
    ]);
    expect(await audit(await rig.restarted())).toHaveLength(2);
  });

  it("is read newest first in pages, by actor, action, object and time, each tenant its own", async () => {
    const rig = await Rig.open();
    for (let i = 0; i < 25; i++) {
      rig.nowMs += 1000;
      if (i % 5 === 0) await rig.ask("declareLimit", {}, {}, "default", { metric: `m${i}`, limit_value: 1 });
      else await label(rig, `v${i}`);
    }
    await label(rig, "other", "other");
    const all = await audit(rig);
    expect(all).toHaveLength(25);
    expect(all.map(({ at }) => at)).toEqual(
      all
        .map(({ at }) => at)
        .sort()
        .reverse(),
    );
    for (const limit of ["1", "4", "24", "25", "26"]) expect(await audit(rig, { limit }), limit).toEqual(all);
    expect(await audit(rig, { action: "limit.declare", limit: "2" })).toEqual(all.filter(({ action }) => action === "limit.declare"));
    expect(await audit(rig, { object: "m10" })).toEqual(all.filter(({ object }) => object === "m10"));
    expect(await audit(rig, { actor: "test" })).toEqual(all);
    expect(await audit(rig, { actor: "nobody" })).toEqual([]);
    const [since, until] = [START_MS + 5000, START_MS + 9000].map((ms) => new Date(ms).toISOString()) as [string, string];
    expect(await audit(rig, { since, until })).toEqual(all.filter(({ at }) => at >= since && at < until));
    expect(await audit(rig, {}, "other")).toHaveLength(1);
    const { body } = await rig.ask("audit", { limit: "1" });
    expect((await rig.ask("audit", { limit: "1", page_token: body.page_token }, {}, "other")).body.error).toBe("invalid_page_token");
    expect((await rig.ask("audit", { limit: "1", page_token: `${body.page_token}x` })).body.error).toBe("invalid_page_token");
  });

  it("loses rows past their time, and beyond its bound the oldest of the tenant that has most", async () => {
    const rig = await Rig.open({ auditRetentionMs: 10 * DAY_MS, auditRowsMax: 20 });
    for (let i = 0; i < 5; i++) await label(rig, `old${i}`);
    expect((await audit(rig)).map(({ after }) => after?.value)).toEqual(["old4", "old3", "old2", "old1", "old0"]);
    rig.nowMs += 11 * DAY_MS;
    await label(rig, "quiet", "quiet");
    await retain(rig);
    expect(await audit(rig)).toEqual([]);
    expect([rig.counter("auditRows"), rig.counter("auditRowsExpired"), rig.counter("auditRowsDropped")]).toEqual([1, 5, 0]);
    for (let i = 0; i < 30; i++) await label(rig, `new${i}`);
    await retain(rig);
    expect(await audit(rig)).toHaveLength(19);
    expect(await audit(rig, {}, "quiet")).toHaveLength(1);
    expect([rig.counter("auditRows"), rig.counter("auditRowsDropped")]).toEqual([20, 11]);
    const restarted = await rig.restarted({ auditRowsMax: 30 });
    await label(restarted, "more");
    expect(restarted.counter("auditRows")).toBe(21);
  });

  it("counts a row with the change, or neither", async () => {
    const rig = await Rig.open();
    rig.control.failNext("ENOSPC");
    expect((await label(rig, "a")).status).toBe(503);
    const restarted = await rig.restarted();
    await restarted.drain();
    expect(restarted.counter("auditRows")).toBe(0);
    expect((await restarted.ask("labels")).body.labels).toEqual([]);
  });
});

describe("what stands in a row", () => {
  const cases: Array<[title: string, view: unknown, expected: unknown]> = [
    ["null", null, null],
    ["nothing", undefined, null],
    ["an ordinary view", { team: "a", key: "team", limits: [1, null, true] }, { team: "a", key: "team", limits: [1, null, true] }],
    [
      "secrets by their names",
      { secret: "s", api_key: "s", apiKey: "s", client_secret: "s", password: "s" },
      { secret: "(redacted)", api_key: "(redacted)", apiKey: "(redacted)", client_secret: "(redacted)", password: "(redacted)" },
    ],
    [
      "secrets in depth",
      { a: [{ headers: { Authorization: "s", "X-Api-Key": "s", Accept: "b" } }] },
      { a: [{ headers: { Authorization: "(redacted)", "X-Api-Key": "(redacted)", Accept: "b" } }] },
    ],
    [
      "credentials in a URL",
      { url: "https://user:pass@example.test/a?b=c@d", mail: "a@b" },
      { url: "https://(redacted)@example.test/a?b=c@d", mail: "a@b" },
    ],
    ["prefixes of keys, which are shown", { key_prefix: "vk_abc", key_id: "1" }, { key_prefix: "vk_abc", key_id: "1" }],
  ];
  it.each(cases)("%s", (_title, view, expected) => expect(auditedView(view)).toEqual(expected));

  it("is bounded", () => {
    expect(auditedView({ a: "x".repeat(AUDIT_VIEW_BYTES_MAX) })).toEqual({ left_out: expect.stringContaining("bytes") });
  });
});
