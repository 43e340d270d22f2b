// What every layer of detection had to say of a moment, made again from what is stored: the same as it was live, for any number of engines and after a kill.
import { expect, it } from "vitest";
import { seededRandom } from "../../src/domain/detection/multivariate/isolation-forest.ts";
import { answerSchema } from "../support/answer-schema.ts";
import { MINUTE_MS, WatchedServer } from "../support/watched-server.ts";

const START = Date.UTC(2026, 0, 5, 6);
const MINUTES = 420;
const SHIFT = 380;
const METRICS = ["disk.used_percent", "load", "queue"];

// biome-ignore lint/suspicious/noExplicitAny: answers are read field by field
type Json = any;

const iso = (minute: number) => new Date(START + minute * MINUTE_MS).toISOString();

async function filled(engines: number): Promise<WatchedServer> {
  const watched = await WatchedServer.open(START, engines);
  // So high that layer 1 says nothing, and what the others tell is theirs.
  await watched.server.query("setWatchdogSettings", {}, "default", { z_threshold: 20 });
  const random = seededRandom(5);
  for (let minute = 0; minute < MINUTES; minute++) {
    const common = 5 * Math.sin(minute / 25) + random();
    const values = METRICS.map((metric) => 40 + common + 0.5 * random() + (metric === "queue" && minute >= SHIFT ? -20 : 0));
    // Whole numbers of a thousandth, so that what is stored is what was sent.
    await watched.send(
      METRICS.map((metric, place) => ({ service: "api", metric, value: Math.round(1000 * (values[place] as number)) / 1000 })),
    );
    await watched.minute();
  }
  return watched;
}

async function ledger(watched: WatchedServer, minute: number, metric_name = "queue"): Promise<Json> {
  const answer = await watched.server.query("alertLedger", { service_id: "api", metric_name, at: iso(minute) });
  return answerSchema("alertLedger", 200).parse(answer);
}

const layerOf = ({ moments }: Json, layer: string) => moments[0].layers.find((each: Json) => each.layer === layer);

it("names each layer: what it evaluated against its bar, or why it did not", async () => {
  const answers: string[] = [];
  for (const engines of [1, 2, 4]) {
    const watched = await filled(engines);
    const asked = await Promise.all([10, 200, SHIFT + 8].map((minute) => ledger(watched, minute)));
    answers.push(JSON.stringify(asked.map(({ moments, services }) => ({ moments, services }))));
    if (engines !== 2) continue;
    const [early, ordinary, shifted] = asked as [Json, Json, Json];
    expect(layerOf(early, "statistical")).toMatchObject({ state: "learning", reason: "too_few_samples", value: 10, bar: 12 });
    expect(layerOf(early, "adaptive")).toMatchObject({ state: "learning", value: 11, bar: 24, made_again_since: iso(0) });
    expect(layerOf(early, "saturation")).toMatchObject({ state: "skipped", reason: "not_bounded" });
    expect(early.services).toMatchObject([{ environment: "", layer: "isolation_forest", state: "learning", bar: 256 }]);

    // Rule 1.1.13: a young service has nine tenths of the threshold that is set.
    expect(layerOf(ordinary, "statistical")).toMatchObject({ state: "evaluated", reason: "within_threshold", declared: false, bar: 18 });
    const adaptive = layerOf(ordinary, "adaptive");
    expect(adaptive).toMatchObject({ state: "evaluated", reason: "ordinary", declared: false, bar: 1, at: iso(200) });
    expect(adaptive.value).toBeLessThan(1);
    expect(layerOf(await ledger(watched, 200, "disk.used_percent"), "saturation")).toMatchObject({ state: "evaluated", declared: false });

    // As it was told live.
    const anomalies = await watched.anomalies();
    const reported = anomalies.find(({ detector, metric_name }: Json) => detector === "adaptive" && metric_name === "queue");
    const at = (Date.parse(reported.observed_at) - START) / MINUTE_MS;
    const again = layerOf(await ledger(watched, at), "adaptive");
    expect(again).toMatchObject({ state: "evaluated", reason: null, declared: true, at: reported.observed_at });
    expect(again.verdict.z).toBe(reported.verdict.z);
    expect(again.verdict.baseline).toEqual(reported.verdict.baseline);

    const [model] = shifted.services;
    expect(model).toMatchObject({ layer: "isolation_forest", state: "evaluated", at: iso(SHIFT + 8) });
    expect(model.value).toBeGreaterThan(0);
    expect(model.verdict.detector).toBe("isolation_forest");
    await watched.kill();
    answers.push(
      JSON.stringify(
        (await Promise.all([10, 200, SHIFT + 8].map((minute) => ledger(watched, minute)))).map(({ moments, services }) => ({
          moments,
          services,
        })),
      ),
    );
  }
  expect(new Set(answers).size).toBe(1);
});

it("says that a pair is excluded, or waits for late senders", async () => {
  const watched = await WatchedServer.open(START);
  for (let minute = 0; minute < 60; minute++) {
    await watched.send([{ service: "api", metric: "queue", value: 50 + (minute % 5) }]);
    await watched.minute();
  }
  await watched.server.query("setWatchdogSettings", {}, "default", { service_id: "api", evaluation_delay_seconds: 600 });
  expect(layerOf(await ledger(watched, 50), "adaptive")).toMatchObject({ state: "skipped", reason: "evaluation_delay", at: iso(40) });
  await watched.server.query("setWatchdogSettings", {}, "default", { service_id: "api", excluded: true });
  const excluded = await ledger(watched, 50);
  for (const layer of ["statistical", "adaptive"]) expect(layerOf(excluded, layer)).toMatchObject({ state: "skipped", reason: "excluded" });
  expect(excluded.services).toMatchObject([{ state: "skipped", reason: "too_few_metrics" }]);
});
