// Incidents of random shape, age, warm-up, inhibition, silence and restarts: each alert is one page, by its own name, with its end told; what joined a group or a
// cascade has that one's. `make sim` goes through 500.
import { expect, it } from "vitest";
import { INCIDENTS_PER_WORLD } from "../support/incident-plan.ts";
import { runIncidentSeed } from "../support/incident-seed.ts";
import { replayable } from "../support/simulation-seed.ts";
import { extent } from "../support/test-extent.ts";

const ONE = process.env.SEED === undefined ? undefined : Number(process.env.SEED);
const WORLDS = extent(100, 4);

it("one page an incident, by its own name, with its end told, over warm-ups, silences, inhibitions and kills", async () => {
  const seeds = ONE === undefined ? Array.from({ length: WORLDS }, (_, place) => place + 1) : [ONE];
  const faults: string[] = [];
  let [whole, told] = [0, 0];
  for (const seed of seeds) {
    const report = await replayable(seed, () => runIncidentSeed(seed));
    whole += report.incidents - report.faults.size;
    told += report.told;
    for (const of of report.faults.values()) faults.push(`make sim SEED=${seed}  replays this: ${of.join("\n  ")}`);
  }
  const incidents = seeds.length * INCIDENTS_PER_WORLD;
  console.log(`incidents: ${whole} of ${incidents} told as one page each, with its end`);
  expect(faults.join("\n")).toBe("");
  expect(whole).toBe(incidents);
  if (ONE === undefined) expect(told).toBeGreaterThan(incidents / 2);
}, 1_200_000);
