// What detection looks at, as GET /api/v1/coverage tells it, through the whole server on a virtual clock.
import { describe, expect, it } from "vitest";
import { COVERAGE_STREAMS_PER_SLICE } from "../../src/core/config/limits.ts";
import { BODY_JSON_BATCH } from "../../src/core/protocol/body-kind.ts";
import { answerSchema } from "../support/answer-schema.ts";
import { type SentRecord, WatchedServer } from "../support/watched-server.ts";

const START = Date.UTC(2026, 0, 5, 6);
const SERVICES = 7;
const MINUTES = 40;

// biome-ignore lint/suspicious/noExplicitAny: answers are read field by field
type Coverage = any;

async function coverage(watched: WatchedServer, query: Record<string, string> = {}, tenant = "default"): Promise<Coverage> {
  return answerSchema("coverage", 200).parse(await watched.server.query("coverage", query, tenant));
}

/** Of one service: a steady gauge in each environment, one that is bounded, one that is excluded. */
function sample(service: number, minute: number): SentRecord[] {
  const of = (metric: string, value: number, attributes: Record<string, string>): SentRecord => ({
    service: `service-${service}`,
    metric,
    value,
    attributes,
  });
  return [
    of("latency_ms", 50 + ((minute * 7) % 5), { env: "prod", host: `host-${service}`, zone: service % 2 === 0 ? "a" : "b" }),
    of("latency_ms", 50 + ((minute * 3) % 5), { env: "staging", host: `host-${service}` }),
    of("cpu_used_percent", 40 + (minute % 3), { env: "prod", host: `host-${service}` }),
    of("noise", minute % 4, { env: "prod" }),
  ];
}

describe("coverage", () => {
  it("tells per layer what is evaluated, learning and skipped, whatever the number of engines", async () => {
    const answers: Coverage[] = [];
    for (const engines of [1, 3]) {
      const watched = await WatchedServer.open(START, engines);
      await watched.server.query("setWatchdogSettings", {}, "default", { service_id: "service-0", metric_name: "noise", excluded: true });
      for (let minute = 0; minute < MINUTES; minute++) {
        await watched.send(Array.from({ length: SERVICES }, (_, service) => sample(service, minute)).flat());
        await watched.minute();
      }
      await watched.send([{ service: "new", metric: "latency_ms", value: 1 }]);
      answers.push([
        await coverage(watched),
        await coverage(watched, { service_id: "service-0" }),
        await coverage(watched, { service_id: "service-0", environment: "staging" }),
        await coverage(watched, { service_id: "none" }),
      ]);
    }
    expect(answers[1]).toEqual(answers[0]);
    const [all, one, staging, none] = answers[0];
    const streams = SERVICES * 4 + 1;
    expect(all).toMatchObject({ streams, streams_looked_at: streams, streams_in_memory: streams, complete: true, metrics: [] });
    expect(all.layers.statistical).toEqual({ evaluated: streams - 2, learning: 1, skipped: { excluded: 1 } });
    expect(all.layers.adaptive).toEqual({ evaluated: streams - 2, learning: 0, skipped: { excluded: 1, not_visited_yet: 1 } });
    const { saturation, isolation_forest: services } = all.layers;
    expect(saturation).toEqual({ evaluated: SERVICES, learning: 0, skipped: { not_bounded: SERVICES * 3, not_visited_yet: 1 } });
    // The simulated server has no room for service models.
    expect(services).toEqual({ evaluated: 0, learning: 0, skipped: { services_limit: SERVICES, not_visited_yet: 1 } });
    expect(all.cardinality.services.slice(0, 2)).toEqual([
      { service_id: "service-0", streams: 4 },
      { service_id: "service-1", streams: 4 },
    ]);
    expect(all.cardinality.metric_names[0]).toEqual({ metric_name: "latency_ms", streams: SERVICES * 2 + 1 });
    expect(all.cardinality.attribute_keys).toEqual(
      expect.arrayContaining([
        { key: "host", distinct_values: SERVICES, streams: SERVICES * 3 },
        { key: "zone", distinct_values: 2, streams: SERVICES },
      ]),
    );
    expect(all.cardinality.attribute_keys[0].key).toBe("host");
    expect(one).toMatchObject({ streams: 4, metrics_total: 4 });
    expect(one.metrics.map(({ metric_name, environment }: Coverage) => `${metric_name} ${environment}`)).toEqual([
      "cpu_used_percent prod",
      "latency_ms prod",
      "latency_ms staging",
      "noise prod",
    ]);
    expect(one.metrics[3].layers.statistical).toEqual({ evaluated: 0, learning: 0, skipped: { excluded: 1 } });
    expect(one.metrics[0].layers.saturation).toEqual({ evaluated: 1, learning: 0, skipped: {} });
    expect(staging).toMatchObject({ streams: 1, streams_looked_at: 4, metrics_total: 1 });
    expect(staging.layers.isolation_forest.skipped).toEqual({ services_limit: 1 });
    expect(none).toMatchObject({ streams: 0, streams_looked_at: 0, complete: true });
  });

  it("names SLOs whose values are no good ratios: they are stored and not judged, also after a restart", async () => {
    const watched = await WatchedServer.open(START, 2);
    const slo = (metric: string, value: number, env = ""): SentRecord => ({
      service: "checkout",
      metric,
      value,
      type: "slo",
      ...(env !== "" && { attributes: { env } }),
    });
    for (let minute = 0; minute < 70; minute++) {
      const turned = minute < 35;
      await watched.send([
        slo("good", 1),
        slo("percent", 99.9),
        slo("below", -0.5, "prod"),
        slo("turned_bad", turned ? 1 : 5),
        slo("turned_good", turned ? 5 : 1),
      ]);
      await watched.minute();
    }
    const reported = await coverage(watched);
    expect(reported.layers.slo_burn).toEqual({ evaluated: 2, learning: 0, skipped: { value_outside_0_to_1: 3 } });
    expect(reported.slos_outside.map((row: Coverage) => `${row.metric_name} ${row.environment} ${row.value}`)).toEqual([
      "below prod -0.5",
      "percent  99.9",
      "turned_bad  5",
    ]);
    expect(reported.slos_outside[1]).toMatchObject({ service_id: "checkout", at: new Date(START + 69 * 60_000).toISOString() });
    expect((await watched.anomalies()).filter(({ detector }: Coverage) => detector === "slo_burn")).toEqual([]);
    const { total } = (await watched.server.query("records", { service_id: "checkout", type: "slo" })) as { total: number };
    expect(total).toBe(350);
    expect(await coverage(watched, { environment: "prod" })).toMatchObject({
      slos_outside: [{ metric_name: "below" }],
      layers: { slo_burn: { evaluated: 0 } },
    });
    expect(await coverage(watched, { service_id: "cart" })).toMatchObject({ slos_outside: [] });
    await watched.kill();
    await watched.minute();
    const { layers, slos_outside } = await coverage(watched);
    expect([layers.slo_burn, slos_outside]).toEqual([reported.layers.slo_burn, reported.slos_outside]);
  });

  it("is of one tenant alone, over more streams than a slice", async () => {
    const watched = await WatchedServer.open(START, 2, ["default", "globex"]);
    const count = COVERAGE_STREAMS_PER_SLICE + 10;
    const rows = Array.from({ length: count }, (_, i) => ({
      service_id: "checkout",
      metric_name: "latency_ms",
      value: 1,
      attributes: { shard: `s${i}` },
      timestamp: new Date(START).toISOString(),
    }));
    watched.server.submit(0, BODY_JSON_BATCH, new TextEncoder().encode(JSON.stringify(rows)), "", () => undefined, 1);
    await watched.send([{ service: "checkout", metric: "latency_ms", value: 1 }]);
    await watched.minute();
    expect(await coverage(watched, { service_id: "checkout" })).toMatchObject({ streams: 1, streams_in_memory: 1, metrics_total: 1 });
    const theirs = await coverage(watched, {}, "globex");
    expect(theirs).toMatchObject({ streams: count, streams_looked_at: count, streams_in_memory: count });
    expect(theirs.layers.isolation_forest).toEqual({ evaluated: 0, learning: 0, skipped: { too_few_metrics: 1 } });
    expect(theirs.cardinality).toMatchObject({
      services: [{ service_id: "checkout", streams: count }],
      metric_names: [{ metric_name: "latency_ms", streams: count }],
    });
    const [shard] = theirs.cardinality.attribute_keys;
    expect(shard).toMatchObject({ key: "shard", streams: count });
    expect(Math.abs(shard.distinct_values / count - 1)).toBeLessThan(0.1);
  });
});
