// A backtest over what a server has stored: the same answer for any number of engines, before and after a restart.
import { expect, it } from "vitest";
import { BODY_JSON_BATCH } from "../../src/core/protocol/body-kind.ts";
import { VirtualClock } from "../support/cluster.ts";
import { generator } from "../support/generator.ts";
import { MemoryDisk } from "../support/memory-log.ts";
import { SimulatedServer, SMALL_SIZES } from "../support/simulation-server.ts";

const START = Date.UTC(2026, 0, 5, 12);
const MINUTE_MS = 60_000;
const MINUTES = 400;

interface Answer {
  readonly series: number;
  readonly samples: number;
  readonly findings: { readonly after: Readonly<Record<string, number>> };
  readonly layers: ReadonlyArray<{ readonly layer: string; readonly evaluated: number; readonly reason: string | null }>;
  readonly pages: { readonly before: number; readonly after: number; readonly newly: number; readonly no_longer: number };
  readonly no_longer: ReadonlyArray<{ readonly service_id: string; readonly reason: string }>;
}

const at = (minute: number) => new Date(START + minute * MINUTE_MS).toISOString();
const ask = (server: SimulatedServer, body: unknown) => server.query("backtest", {}, "default", body) as Promise<Answer>;

/** Three services of noise; one departs slightly, one far. */
async function filled(engines: number) {
  const clock = new VirtualClock(START);
  const machine = { clock, disk: new MemoryDisk(), control: new Map(), series: new Map() };
  const server = new SimulatedServer({ engines, epoch: 1, seed: 1, ...SMALL_SIZES }, machine);
  await server.open();
  const { normal } = generator(7);
  for (let minute = 0; minute < MINUTES; minute++) {
    const departure = (service: string) => (minute >= 300 && minute < 305 ? ({ slight: 6.3, far: 40 }[service] ?? 0) : 0);
    const records = ["slight", "far", "quiet"].map((service_id) => {
      const more = departure(service_id);
      const value = 100 + (more === 0 ? 1 : 0.25) * Math.max(-2, Math.min(2, normal())) + more;
      return { service_id, metric_name: "load", timestamp: at(minute), value };
    });
    records.push({
      service_id: "quiet",
      metric_name: "cpu.used_percent",
      timestamp: at(minute),
      value: 20 + Math.max(-2, Math.min(2, normal())),
    });
    server.submit(0, BODY_JSON_BATCH, Buffer.from(JSON.stringify(records)), "", () => undefined);
    await server.rest();
    clock.advance(MINUTE_MS);
  }
  return { server, machine };
}

it("pages what lies between two thresholds no longer, alike for 1, 2 and 4 engines and after a restart", async () => {
  const body = { since: at(60), until: at(MINUTES), settings: { z_threshold: 8 } };
  const answers: Answer[] = [];
  for (const [engines, later] of [
    [1, 2],
    [2, 4],
    [4, 1],
  ] as const) {
    const { server, machine } = await filled(engines);
    answers.push(await ask(server, body), await ask(server, body));
    await server.stop();
    const restarted = new SimulatedServer({ engines: later, epoch: 2, seed: 1, ...SMALL_SIZES }, machine);
    await restarted.open();
    await restarted.rest();
    answers.push(await ask(restarted, body));
    const silenced = { matchers: [{ name: "service_id", operator: "=", value: "far" }], starts_at: at(290), ends_at: at(MINUTES) };
    const quiet = await ask(restarted, { since: at(60), until: at(MINUTES), silences: { add: [silenced] } });
    expect(quiet.no_longer.map(({ service_id, reason }) => `${service_id} ${reason}`)).toEqual(["far silenced"]);
    const matcher = (value: string) => [{ name: "service_id", operator: "=", value }];
    const rule = { source_matchers: matcher("far"), target_matchers: matcher("slight") };
    const inhibited = await ask(restarted, { since: at(60), until: at(MINUTES), inhibitions: { add: [rule] } });
    expect(inhibited.no_longer.length + (inhibited.findings.after.inhibited ?? 0)).toBeGreaterThan(0);
    const one = await ask(restarted, { ...body, service_id: "quiet" });
    expect(one).toMatchObject({ series: 2, pages: { before: 0, after: 0 } });
  }
  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
  expect(answers[0]).toMatchObject({ series: 4, samples: 4 * MINUTES, pages: { before: 2, after: 1, newly: 0, no_longer: 1 } });
  expect(answers[0]?.no_longer.map(({ service_id, reason }) => `${service_id} ${reason}`)).toEqual(["slight not_declared"]);
  expect(answers[0]?.layers.map(({ layer, evaluated, reason }) => `${layer} ${evaluated} ${reason}`)).toEqual([
    "statistical 4 null",
    "isolation_forest 1 null",
    "adaptive 4 null",
    "stale 3 null",
    "saturation 1 null",
    "slo_burn 0 null",
    "cascade 3 null",
  ]);
});

it("is one at a time, says how far it is where too many wait, and ends after a minute", async () => {
  const { server, machine } = await filled(1);
  const body = { since: at(60), until: at(MINUTES), settings: { z_threshold: 8 } };
  const reported = async () => {
    const answers = await Promise.allSettled(Array.from({ length: 5 }, () => ask(server, body)));
    return answers.map((answer) => (answer.status === "fulfilled" ? "done" : String(answer.reason)));
  };
  const [first, second, third, fourth, fifth] = await reported();
  expect([first, second, third, fourth]).toEqual(["done", "done", "done", "done"]);
  expect(fifth).toMatch(/as many backtests wait or run already as may, and the one that runs is \d+ % done/);
  const late = ask(server, body).catch(String);
  // It has begun by then, and is far from its end.
  for (let turns = 0; turns < 50; turns++) await Promise.resolve();
  machine.clock.advance(61_000);
  expect(await late).toMatch(/ended after 60 s, \d+ % of it done/);
  expect(await ask(server, body)).toMatchObject({ series: 4 });
});
