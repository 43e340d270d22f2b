// kill -9 at random moments while rules are pending and fire: nobody is paged twice, `for` goes on where it was, and recorded series go on at the same moments.
// RULES_KILLS=n and CRASH_SEED=n set how many kills and which; a kill takes about three seconds.
import { afterEach, describe, expect, it } from "vitest";
import { PATIENCE_MS } from "../support/patience.ts";
import { ServerBench, type ServerProcess } from "../support/server-process.ts";
import { INTERVAL_MS, LASTED_MS, RulesRound } from "./rules-round.ts";

const KILLS = Number(process.env.RULES_KILLS ?? 2);
const SEED = Number(process.env.CRASH_SEED ?? Math.floor(Math.random() * 1_000_000));

const bench = new ServerBench();
let round: RulesRound | undefined;
afterEach(async () => {
  round?.close();
  await bench.close();
});

/** What the rule has recorded, whole milliseconds and values. */
async function recorded(server: ServerProcess): Promise<Array<readonly [timeMs: number, value: number]>> {
  type Answer = { data: { result: ReadonlyArray<{ values: ReadonlyArray<[number, string]> }> } };
  const { data } = await server.get<Answer>("/prometheus/api/v1/query", { query: "killed:beat:max[1h]" });
  expect(data.result.length).toBe(1);
  return (data.result[0]?.values ?? []).map(([seconds, value]) => [Math.round(seconds * 1_000), Number(value)]);
}

/** Faults in who was paged: each of these pages once, and a repeat that a kill has cut off comes in the next life under its key. */
function wrongPages({ pages, faults, endedEarly }: RulesRound): string[] {
  const wrong: string[] = [];
  const keyOf = new Map<string, string>();
  for (const service of faults.keys()) {
    const triggers = pages.filter((page) => page.service === service && page.action === "trigger");
    const keys = new Set(triggers.map(({ key }) => key));
    const lives = triggers.map(({ life }) => life);
    const isRepeated = lives.some((life, index) => index > 0 && life !== (lives[index - 1] as number) + 1);
    if (keys.size > 1 || isRepeated) wrong.push(`${service}: paged as ${[...keys]} in lives ${lives}`);
    for (const key of keys) keyOf.set(service, key);
  }
  for (const [service, key] of keyOf) {
    const last = pages.filter((page) => page.key === key).at(-1)?.action;
    const isLasting = faults.get(service)?.fault === "In30m";
    // An end that a kill comes before, or that falls into a pause, is told minutes later, as that of an alert that nobody sends any more.
    if (!endedEarly.has(service) && last !== (isLasting ? "trigger" : "resolve")) wrong.push(`${service}: told last: ${last}`);
  }
  return wrong;
}

describe("kill -9 while rules are pending and fire", () => {
  it(`pages nobody twice over ${KILLS} kills; replay: CRASH_SEED=${SEED} make crash`, {
    timeout: 3 * PATIENCE_MS + 8_000 * KILLS,
  }, async () => {
    round = await RulesRound.open(bench, SEED);
    const server = await round.run(KILLS);
    const samples = await recorded(server);
    const alerts = await round.shown(server);
    const elapsedMs = Date.now() - round.beganMs;

    expect(wrongPages(round)).toEqual([]);
    const { endedEarly, faults, killedMs } = round;
    const paged = new Set(round.pages.map(({ service }) => service));
    const unheard = [...faults].filter(([service, { fault }]) => fault !== "In1h" && !endedEarly.has(service) && !paged.has(service));
    expect(unheard.map(([service]) => service)).toEqual([]);
    expect([...faults].filter(([service, { fault }]) => fault === "In1h" && paged.has(service))).toEqual([]);
    expect(alerts.map(({ labels, state }) => [labels.alertname, state])).toEqual([
      ["In1h", "pending"],
      ["In30m", "firing"],
    ]);
    // What nobody evaluated counts for nothing, so they may have moved by the pauses, and by no more.
    const moved = alerts.map(({ activeAt }) => Date.parse(activeAt) - (round as RulesRound).beganMs + LASTED_MS);
    expect(moved.filter((ms) => ms < -1_000 || ms > elapsedMs)).toEqual([]);

    const phases = new Set(samples.map(([timeMs]) => timeMs % INTERVAL_MS));
    expect(phases.size, "moments are the same over all lives").toBe(1);
    const late = samples.filter(([atMs, value]) => {
      const known = (round as RulesRound).beats.filter(({ timeMs, answeredMs }) => timeMs <= atMs && answeredMs < atMs);
      return value > atMs || value < Math.max(0, ...known.map(({ timeMs }) => timeMs));
    });
    expect(late, "a rule sees what was answered before its moment").toEqual([]);
    const [first, last] = [killedMs[0] as number, killedMs.at(-1) as number];
    expect([samples.some(([atMs]) => atMs < first), samples.some(([atMs]) => atMs > last)]).toEqual([true, true]);
    console.log(
      JSON.stringify({
        seed: SEED,
        kills: round.kills,
        faults: round.faults.size,
        pages: round.pages.length,
        recorded: samples.length,
        moved,
      }),
    );
  });
});
