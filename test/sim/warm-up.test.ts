// The warm-up delays and swallows nothing, through the whole server on a virtual clock.
import { expect, it } from "vitest";
import { MINUTE_MS, WatchedServer } from "../support/watched-server.ts";

const START = Date.UTC(2026, 0, 5, 6);
const PAST_MINUTES = 12 * 60;

it("D1: a disk that fills since before the start is told when the warm-up is over, once", async () => {
  const watched = await WatchedServer.open(START, 1);
  const disk = (minute: number) => ({
    service: "db",
    metric: "disk_used_percent",
    value: 94 + (54 * minute) / PAST_MINUTES,
    atMs: START + minute * MINUTE_MS,
  });
  await watched.send(Array.from({ length: PAST_MINUTES }, (_, i) => disk(i - PAST_MINUTES + 1)));
  const found = async () => (await watched.anomalies()).filter(({ detector }) => detector === "saturation");
  const outcomes: string[] = [];
  for (let minute = 1; minute <= 12; minute++) {
    await watched.send([disk(minute)]);
    await watched.minute();
    const [fire] = await found();
    outcomes.push(fire === undefined ? "-" : `${fire.outcome} ${fire.suppressed_by}`);
  }
  expect(outcomes.slice(3, 7)).toEqual(Array(4).fill("suppressed warmup"));
  expect(outcomes.slice(9)).toEqual(Array(3).fill("paged null"));
  const { alerts } = (await watched.server.query("alerts", {})) as { alerts: ReadonlyArray<{ pages: number; family: string }> };
  expect(alerts.map(({ pages, family }) => `${family} ${pages}`)).toEqual(["saturation 1"]);
});
