// What no engine names at the end of a pass is over; how, its own last frame says, which may be on its way still.
import { describe, expect, it } from "vitest";
import type { EpisodeFrame } from "../../../../src/core/protocol/coordinator-frame.ts";
import type { OpenEpisode } from "../../../../src/modules/anomalies/open-episodes.ts";
import type { Cycle } from "../../../../src/modules/state/watchdog-stage.ts";
import { OpenAlerts } from "../../../../src/modules/watchdog/open-alerts.ts";

const CYCLE = { number: 1, nowMs: 60_000 } as Cycle;

/** A pass that names the second of three, of whose frames one is committed only by settle(). */
async function passed(sent: readonly string[]) {
  const open = new Set(["lost", "firing", "closing"]);
  const declared: EpisodeFrame[] = [];
  let settled = 0;
  const alerts = new OpenAlerts("adaptive", {
    openEpisodes: { othersOf: (_, known) => [...open].filter((id) => !known.has(id)).map((episodeId) => ({ episodeId }) as OpenEpisode) },
    settle: async () => {
      settled++;
      for (const id of sent) open.delete(id);
    },
    declare: async (frames) => void declared.push(...frames),
  });
  const counts = { evaluated: 0, learning: 0, skipped: {} };
  const run = async (firing: readonly string[]) => {
    const pass = async () => {
      alerts.take({ detector: "adaptive", firing });
      return { counts, workMs: 0 };
    };
    await alerts.after({ name: "pairs", every: 1, run: pass }).run(CYCLE);
  };
  return { run, declared, settled: () => settled };
}

describe("the end of a pass", () => {
  it("leaves an end to the frame that says it, wherever that is on its way", async () => {
    const { run, declared } = await passed(["closing"]);
    await run(["firing"]);
    expect(declared.map(({ episodeId, transition }) => [episodeId, transition])).toEqual([["lost", "end"]]);
  });
  it("commits nothing where all are named", async () => {
    const { run, declared, settled } = await passed([]);
    await run(["lost", "firing", "closing"]);
    expect([declared, settled()]).toEqual([[], 0]);
  });
});
