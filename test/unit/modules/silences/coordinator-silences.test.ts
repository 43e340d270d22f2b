import { describe, expect, it } from "vitest";
import { PatternCache } from "../../../../src/domain/alerting/pattern/pattern-cache.ts";
import { SilenceBook } from "../../../../src/modules/silences/silence-book.ts";
import { answerSchema } from "../../../support/answer-schema.ts";
import { Rig, START_MS } from "../../../support/coordinator-rig.ts";

const iso = (offsetMs: number) => new Date(START_MS + offsetMs).toISOString();
const HOUR_MS = 3_600_000;
const matchers = [{ name: "service_id", operator: "=", value: "api" }];
/** What is in force, as it is stored. */
function silencesOf(rig: Rig): SilenceBook {
  const book = new SilenceBook(new PatternCache());
  book.load(rig.control);
  return book;
}
const create = (rig: Rig, body: unknown, tenant = "default") => rig.ask("createSilence", {}, {}, tenant, body);

describe("silences", () => {
  it("hold from their start on and no longer at their end, and outlive a restart", async () => {
    const rig = await Rig.open();
    const made = await create(rig, { matchers, starts_at: iso(HOUR_MS), ends_at: iso(2 * HOUR_MS), comment: "upgrade" });
    expect(made.status).toBe(201);
    answerSchema("createSilence", 201).parse(made.body);
    expect(made.body).toMatchObject({ state: "pending", comment: "upgrade", recurring: null, starts_at: iso(HOUR_MS) });
    const restarted = await rig.restarted();
    const holds = (ms: number, labels: Record<string, string> = { service_id: "api" }, tenant = "default") =>
      silencesOf(restarted).silenced(tenant, labels, START_MS + ms)?.id === made.body.silence_id;
    expect([HOUR_MS - 1, HOUR_MS, 2 * HOUR_MS - 1, 2 * HOUR_MS].map((ms) => holds(ms))).toEqual([false, true, true, false]);
    expect(holds(HOUR_MS, { service_id: "web" })).toBe(false);
    expect(holds(HOUR_MS, { service_id: "api" }, "other")).toBe(false);
    const path = { id: made.body.silence_id };
    expect((await restarted.ask("silence", {}, path)).body).toEqual(made.body);
    expect((await restarted.ask("silence", {}, path, "other")).status).toBe(404);
    expect((await restarted.ask("deleteSilence", {}, path, "other")).status).toBe(404);
    expect((await restarted.ask("deleteSilence", {}, path)).status).toBe(204);
    expect(holds(HOUR_MS)).toBe(false);
    expect((await restarted.ask("deleteSilence", {}, path)).status).toBe(404);
  });

  it("come again in their time zone, over midnight", async () => {
    const rig = await Rig.open();
    const recurring = { days: ["sat"], from: "22:00", to: "06:00", timezone: "Europe/Berlin", until: "2026-03-01T00:00:00Z" };
    const made = await create(rig, { matchers, recurring });
    expect(made.status).toBe(201);
    answerSchema("createSilence", 201).parse(made.body);
    expect(made.body).toMatchObject({ ends_at: null, recurring: { ...recurring, until: "2026-03-01T00:00:00.000Z" } });
    const holds = (time: string) => silencesOf(rig).silenced("default", { service_id: "api" }, Date.parse(time)) !== undefined;
    // Saturday the tenth of January in Berlin, from 21:00 UTC on.
    const times = ["2026-01-10T20:59:59Z", "2026-01-10T21:00:00Z", "2026-01-11T04:59:59Z", "2026-01-11T05:00:00Z", "2026-03-07T21:30:00Z"];
    expect(times.map(holds)).toEqual([false, true, true, false, false]);
  });

  it("take 24:00 as midnight at their end", async () => {
    const rig = await Rig.open();
    const made = await create(rig, { matchers, recurring: { days: [], from: "13:00", to: "24:00", timezone: "UTC" } });
    expect([made.status, made.body.recurring]).toEqual([201, expect.objectContaining({ from: "13:00", to: "00:00" })]);
    const holds = (time: string) => silencesOf(rig).silenced("default", { service_id: "api" }, Date.parse(time)) !== undefined;
    expect(["2026-01-10T12:59:59Z", "2026-01-10T23:59:59Z", "2026-01-11T00:00:00Z"].map(holds)).toEqual([false, true, false]);
  });

  it("are listed by state, newest first, in pages", async () => {
    const rig = await Rig.open();
    for (const hours of [1, 2, 3]) {
      await create(rig, { matchers, ends_at: iso(hours * HOUR_MS) });
      rig.nowMs += 1000;
    }
    await create(rig, { matchers, starts_at: iso(HOUR_MS), ends_at: iso(2 * HOUR_MS) });
    const list = async (query: Record<string, string>) => {
      const { body } = await rig.ask("silences", query);
      answerSchema("silences", 200).parse(body);
      return body;
    };
    expect(await list({})).toMatchObject({ total: 4 });
    expect(await list({ state: "active" })).toMatchObject({ total: 3 });
    const first = await list({ limit: "3" });
    const second = await list({ limit: "3", page_token: first.page_token });
    expect([...first.silences, ...second.silences].map(({ ends_at }) => ends_at)).toEqual(
      [2, 3, 2, 1].map((hours) => iso(hours * HOUR_MS)),
    );
    rig.nowMs += 1.5 * HOUR_MS;
    expect(await list({ state: "expired" })).toMatchObject({ total: 1 });
  });

  it("are refused with what is wrong", async () => {
    const rig = await Rig.open();
    const refusals = [
      [{ matchers, ends_at: iso(-1) }, /must end after/],
      [{ matchers }, /either ends_at/],
      [{ matchers: [], ends_at: iso(HOUR_MS) }, /matchers/],
      [
        { matchers: [{ name: "service_id", operator: "=~", value: "(a+" }], ends_at: iso(HOUR_MS) },
        /pattern "\(a\+" of service_id cannot be matched: missing closing \)/,
      ],
      [{ matchers: [{ name: "service_id", operator: "=~", value: "a".repeat(257) }], ends_at: iso(HOUR_MS) }, /more than 256 bytes/],
      [{ matchers, recurring: { days: [], from: "22:00", to: "23:00", timezone: "Mars/Olympus" } }, /time zone/],
      [{ matchers, recurring: { days: [], from: "8:00", to: "09:00" } }, /such as 22:30/],
      [{ matchers, recurring: { days: ["sat"], from: "24:00", to: "23:00", timezone: "UTC" } }, /time of day/],
    ] as const;
    for (const [body, message] of refusals) {
      const answer = await create(rig, body);
      expect([answer.status, answer.body.message]).toEqual([400, expect.stringMatching(message)]);
    }
  });
});
