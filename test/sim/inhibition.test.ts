// An alert that keeps another quiet by a rule of people, through the whole server on a virtual clock, over a kill, to its end.
import { expect, it } from "vitest";
import { MINUTE_MS, type SentRecord, WatchedServer } from "../support/watched-server.ts";

const START = Date.UTC(2026, 0, 5, 6);
const matcher = (value: string) => ({ name: "service_id", operator: "=", value });
const rule = { source_matchers: [matcher("db")], target_matchers: [matcher("api")], equal: ["environment"], comment: "api needs db" };
const sample = (service: string, minute: number, more: number): SentRecord => ({
  service,
  metric: "queue_length",
  value: 50 + ((minute * 7) % 5) + more,
});

it("holds the page of a target while the source fires, and tells it once that is over", async () => {
  const watched = await WatchedServer.open(START);
  const made = await watched.server.query("createInhibition", {}, "default", rule);
  const { inhibition_id: id } = made as { inhibition_id: string };
  const decisions = async (service_id: string) => {
    const since = new Date(START + 60 * MINUTE_MS).toISOString();
    const answer = await watched.server.query("alertLedger", { service_id, since });
    return (answer as { decisions: Array<{ outcome: string; suppressed_by: string | null; explanation: string }> }).decisions;
  };
  const play = async (from: number, to: number) => {
    for (let minute = from; minute < to; minute++) {
      const dbMore = minute >= 60 && minute < 66 ? 400 : 0;
      const apiMore = minute >= 62 && minute < 80 ? 400 : 0;
      await watched.send([sample("db", minute, dbMore), sample("api", minute, apiMore), sample("web", minute, apiMore)]);
      await watched.minute();
    }
  };
  await play(0, 64);
  expect((await decisions("db")).map(({ outcome }) => outcome)).toContain("paged");
  expect((await decisions("web")).map(({ outcome }) => outcome)).toContain("paged");
  const held = (await decisions("api")).filter(({ suppressed_by }) => suppressed_by !== "confirmation");
  expect(held.length).toBeGreaterThan(0);
  for (const one of held) expect(one).toMatchObject({ outcome: "suppressed", suppressed_by: "inhibited" });
  expect(held[0]?.explanation).toContain(`inhibited by ${id}, api needs db: while the metric alert on db fires`);
  // What keeps it quiet fires on after a restart, and then ends.
  await watched.kill();
  await play(64, 66);
  expect((await decisions("api")).map(({ outcome }) => outcome)).not.toContain("paged");
  await play(66, 79);
  expect((await decisions("db")).map(({ outcome }) => outcome)).toContain("resolved");
  expect((await decisions("api")).map(({ outcome }) => outcome)).toContain("paged");
});
