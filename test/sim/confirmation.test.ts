// People are told of a departure that holds, by the cycle in which it is confirmed, and of a lone outlier never; the alert of either fires at once. Through the
// whole server on a virtual clock.
import { expect, it } from "vitest";
import { generator } from "../support/generator.ts";
import { MINUTE_MS, WatchedServer } from "../support/watched-server.ts";

const START = Date.UTC(2026, 0, 5, 6);
const OUTLIER = 90;
const INCIDENT = 120;

interface Decision {
  readonly outcome: string;
  readonly suppressed_by: string | null;
  readonly at: string;
}

it.each([1, 2])("pages what holds and not a lone outlier, with %i engines", async (engines) => {
  const watched = await WatchedServer.open(START, engines);
  const { normal } = generator(5);
  const firing = async () => ((await watched.server.query("alerts", { state: "firing" })) as { alerts: unknown[] }).alerts;
  const decisions = async (sinceMinute: number) => {
    const since = new Date(START + sinceMinute * MINUTE_MS).toISOString();
    const answer = (await watched.server.query("alertLedger", { service_id: "api", since })) as { decisions: Decision[] };
    return answer.decisions.map(({ outcome, suppressed_by }) => `${outcome} ${suppressed_by}`);
  };
  const minute = async (more: number) => {
    const value = 50 + (more === 0 ? 1 : 0.25) * Math.max(-2, Math.min(2, normal())) + more;
    await watched.send([{ service: "api", metric: "queue_length", value }]);
    const firingAtOnce = (await firing()).length;
    await watched.minute();
    return firingAtOnce;
  };
  for (let at = 0; at < OUTLIER; at++) await minute(0);
  expect(await minute(7.5)).toBe(1);
  for (let at = OUTLIER + 1; at < INCIDENT; at++) await minute(0);
  const quiet = await decisions(0);
  expect(quiet).toContain("suppressed confirmation");
  expect(quiet.filter((each) => each.startsWith("paged"))).toEqual([]);

  expect(await minute(8)).toBe(1);
  expect(await decisions(INCIDENT)).not.toContain("paged null");
  for (let more = 0; more < 4; more++) await minute(8);
  expect((await decisions(INCIDENT)).filter((each) => each.startsWith("paged"))).toEqual(["paged null"]);
});
