// A 2xx means committed: whatever kill -9 hits, no acknowledged record is lost, none is there twice, and the state after the restart is that
// of a server that was never killed. CRASH_ROUNDS=n and CRASH_SEED=n set how many rounds and which; a round takes about ten seconds.
import { afterEach, describe, expect, it } from "vitest";
import { ServerBench } from "../support/server-process.ts";
import { CrashRound } from "./crash-round.ts";
import { differences, differencesToScripts, type Holdings, readHoldings } from "./holdings.ts";

const ROUNDS = Number(process.env.CRASH_ROUNDS ?? 1);
const SEED = Number(process.env.CRASH_SEED ?? Math.floor(Math.random() * 1_000_000));

const bench = new ServerBench();
afterEach(() => bench.close());

describe("kill -9", () => {
  for (let round = 0; round < ROUNDS; round++) {
    const seed = SEED + round;
    it(`loses nothing and repeats nothing; replay: CRASH_SEED=${seed} CRASH_ROUNDS=1 make crash`, async () => {
      const crash = new CrashRound(bench, { seed, fillsSegment: seed % 3 === 0 }, Date.now());
      const server = await crash.run();
      const found = await readHoldings(server);
      expect(differencesToScripts(crash.scripts, found)).toEqual([]);

      await server.stop();
      expect(crash.epochsOfLog()).toHaveLength(1);
      const again = await bench.start(crash.settings());
      expect(differences(found, await readHoldings(again))).toEqual([]);

      const other = await bench.start({ ENGINES: "1" });
      await crash.sendAll(other);
      const uninterrupted = await readHoldings(other);
      expect(differences({ ...uninterrupted, deadLetters: found.deadLetters }, found)).toEqual([]);
      if (round > 2 || process.env.CRASH_SEED !== undefined) console.log(JSON.stringify({ seed, ...crash.report, ...summary(found) }));
    });
  }
});

function summary({ series, records, anomalies, deadLetters }: Holdings) {
  const samples = [...series.values()].reduce((sum, { points }) => sum + points.length, 0);
  return { series: series.size, samples, records: records.length, anomalies: anomalies.length, deadLetters };
}
