// Why a pair did or did not page, for moments of every kind, through the whole server on a virtual clock.
import { expect, it } from "vitest";
import { answerSchema } from "../support/answer-schema.ts";
import { MINUTE_MS, type SentRecord, WatchedServer } from "../support/watched-server.ts";

const START = Date.UTC(2026, 0, 5, 6);
const QUEUE = { service_id: "api", metric_name: "queue_length" };
const sample = (minute: number, more = 0): SentRecord => ({
  service: "api",
  metric: "queue_length",
  value: 50 + ((minute * 7) % 5) + more,
});

it("answers for any moment of a pair why it paged or did not", async () => {
  const watched = await WatchedServer.open(START);
  /** Four standard deviations once at minute 40; a jump from minute 60 on. */
  const moreAt = (minute: number) => (minute === 40 ? 7 : minute >= 60 && minute < 64 ? 400 : 0);
  const ledger = async (query: Record<string, string>) => {
    const answer = await watched.server.query("alertLedger", query);
    return answerSchema("alertLedger", 200).parse(answer) as ReturnType<typeof JSON.parse>;
  };
  const momentAt = async (minute: number) => {
    const { moments } = await ledger({ ...QUEUE, at: new Date(START + minute * MINUTE_MS).toISOString() });
    return moments[0];
  };
  const silence = {
    matchers: [{ name: "service_id", operator: "=", value: "api" }],
    ends_at: new Date(START + 61.5 * MINUTE_MS).toISOString(),
  };
  await watched.server.query("createSilence", {}, "default", silence);
  for (let minute = 0; minute < 80; minute++) {
    await watched.send([sample(minute, moreAt(minute))]);
    await watched.minute();
  }
  expect(await momentAt(5)).toMatchObject({ declared: false, reason: "too_few_samples" });
  expect(await momentAt(30)).toMatchObject({ declared: false, reason: "within_threshold" });
  expect(await momentAt(40)).toMatchObject({ declared: false, reason: "not_persistent", verdict: { observed: 57 } });
  expect(await momentAt(60)).toMatchObject({ declared: true, reason: null, verdict: { observed: 450 } });
  expect(await momentAt(-120)).toMatchObject({ declared: false, reason: "no_sample", sample_at: null, verdict: null });

  const { decisions } = await ledger({ ...QUEUE, at: new Date(START + 60 * MINUTE_MS).toISOString() });
  expect(decisions.map(({ outcome, suppressed_by }: Record<string, unknown>) => `${outcome} ${suppressed_by}`)).toContain(
    "suppressed silenced",
  );
  // The silence ends while the alert fires: the next cycle tells it.
  const later = await ledger({ service_id: "api", since: new Date(START + 61 * MINUTE_MS).toISOString() });
  expect(later.decisions.map(({ outcome }: Record<string, unknown>) => outcome)).toContain("paged");
  expect((await ledger({ service_id: "web" })).decisions).toEqual([]);
});
