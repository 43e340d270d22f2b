// A 2xx means committed: whatever kill -9 hits, no acknowledged record is lost, none is there twice, and the state after the restart is that
// of a server that was never killed. CRASH_ROUNDS=n and CRASH_SEED=n set how many rounds and which; a round takes about ten seconds.
import { afterEach, describe, expect, it } from "vitest";
import { ServerBench } from "../support/server-process.ts";
import { CrashRound } from "./crash-round.ts";
import { difference, type Holdings, readHoldings } from "./holdings.ts";
import type { LoadScript } from "../support/load-sender-script.ts";

const ROUNDS = Number(process.env.CRASH_ROUNDS ?? 3);
const SEED = Number(process.env.CRASH_SEED ?? Math.floor(Math.random() * 1_000_000));
const ROUND_MS_MAX = 120_000;

const bench = new ServerBench();
afterEach(() => bench.close());

describe("kill -9", () => {
  for (let round = 0; round < ROUNDS; round++) {
    const seed = SEED + round;
    it(`loses nothing and repeats nothing; replay: CRASH_SEED=${seed} CRASH_ROUNDS=1 make crash`, { timeout: ROUND_MS_MAX }, async () => {
      const crash = new CrashRound(bench, { seed, fillsSegment: seed % 3 === 0 }, Date.now());
      const server = await crash.run();
      const found = await readHoldings(server);
      expect(differencesToScripts(crash.scripts, found)).toEqual([]);

      await server.stop();
      const again = await bench.start(crash.settings());
      expect(differences(found, await readHoldings(again))).toEqual([]);

      const other = await bench.start({ ENGINES: "1" });
      await crash.sendAll(other);
      const uninterrupted = await readHoldings(other);
      expect(differences({ ...uninterrupted, deadLetters: found.deadLetters }, found)).toEqual([]);
      console.log(JSON.stringify({ seed, ...crash.report, ...summary(found) }));
    });
  }
});

function summary({ series, records, anomalies, deadLetters }: Holdings) {
  const samples = [...series.values()].reduce((sum, { points }) => sum + points.length, 0);
  return { series: series.size, samples, records: records.length, anomalies: anomalies.length, deadLetters };
}

/** What the senders know that the server must hold. */
function differencesToScripts(scripts: readonly LoadScript[], found: Holdings): string[] {
  const lines = difference("record", scripts.flatMap(({ records }) => records), found.records);
  for (const { series } of scripts) {
    for (const [key, { times, values }] of series) {
      const expected = times.map((time, i) => `${time}=${values[i]}`);
      lines.push(...difference(`sample of ${key}`, expected, found.series.get(key)?.points ?? []));
    }
  }
  return lines;
}

function differences(expected: Holdings, found: Holdings): string[] {
  const lines = difference("series", [...expected.series.keys()], [...found.series.keys()]);
  for (const [key, { samples, points }] of expected.series) {
    const other = found.series.get(key);
    lines.push(...difference(`sample of ${key}`, points, other?.points ?? []));
    if (other !== undefined && other.samples !== samples) lines.push(`count of ${key}: expected ${samples}, found ${other.samples}`);
  }
  lines.push(...difference("record", expected.records, found.records));
  lines.push(...difference("anomaly", expected.anomalies, found.anomalies));
  lines.push(...difference("dead letters", [JSON.stringify(sorted(expected.deadLetters))], [JSON.stringify(sorted(found.deadLetters))]));
  return lines;
}

function sorted(counts: Readonly<Record<string, number>>): Array<[string, number]> {
  return Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1));
}
