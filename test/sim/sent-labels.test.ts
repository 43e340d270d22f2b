// Labels of series as they were sent by remote-write, after kills, stops and away from memory; of what came otherwise those that this server gives.
import { compressSync } from "snappy";
import { expect, it } from "vitest";
import { type AskSource, EngineSource } from "../../src/actors/query/engine-source.ts";
import { labelsOfStream, TenantIndex } from "../../src/actors/query/tenant-index.ts";
import { BODY_JSON_BATCH, BODY_REMOTE_WRITE_1 } from "../../src/core/protocol/body-kind.ts";
import type { PagedStream, StreamPageAnswer } from "../../src/core/protocol/paged-streams.ts";
import type { SourceValue } from "../../src/core/protocol/query-worker.ts";
import { formatRfc3339 } from "../../src/core/time/rfc3339.ts";
import { finish } from "../../src/domain/promql/evaluation/sliced-evaluation.ts";
import { QueryBudget } from "../../src/domain/promql/query-budget.ts";
import { coldStreams, readingOf } from "../../src/modules/series/cold/cold-series.ts";
import { VirtualClock } from "../support/cluster.ts";
import { MemoryDisk } from "../support/memory-log.ts";
import { encodeBody } from "../support/remote-write-body.ts";
import { SimulatedServer, SMALL_SIZES } from "../support/simulation-server.ts";

const START = Date.UTC(2026, 0, 5, 12);
const HOUR_MS = 3_600_000;
const BUCKETS = ["0.1", "1", "+Inf"];

type EngineQuestion = Parameters<SimulatedServer["cluster"]["ask"]>[1];
type LabelList = ReadonlyArray<readonly [string, string]>;

/** Of each series what is sent, and what is read where that is something else. */
const SENT: ReadonlyArray<{ readonly sent: LabelList; readonly read?: LabelList }> = [
  {
    sent: [
      ["__name__", "up_by_job"],
      ["job", "api"],
      ["instance", "a:1"],
    ],
  },
  {
    sent: [
      ["__name__", "up_by_app"],
      ["app", "api"],
      ["job", "kubelet"],
      ["environment", "prod"],
    ],
  },
  {
    sent: [
      ["__name__", "up_by_service"],
      ["service", "web"],
      ["env", "staging"],
    ],
  },
  {
    sent: [
      ["__name__", "up_by_service_id"],
      ["service_id", "web"],
    ],
  },
  {
    sent: [
      ["__name__", "up_by_none"],
      ["zone", "b"],
    ],
  },
  {
    sent: [
      ["__name__", 'up.of "é"'],
      ["service_name", "é"],
      ["weiß.0", "x"],
    ],
  },
  {
    sent: [
      ["__name__", "up_empty"],
      ["job", "api"],
      ["path", ""],
    ],
    read: [
      ["__name__", "up_empty"],
      ["job", "api"],
    ],
  },
  {
    sent: [
      ["__name__", "up_pair"],
      ["job", "api"],
      ["replica", "1"],
    ],
    read: [
      ["__name__", "up_pair"],
      ["job", "api"],
    ],
  },
  ...BUCKETS.map((le): { sent: LabelList } => ({
    sent: [
      ["__name__", "seconds_bucket"],
      ["job", "api"],
      ["le", le],
    ],
  })),
];
const DERIVED = ["p50", "p95", "p99"].map(
  (suffix): LabelList => [
    ["__name__", `seconds.${suffix}`],
    ["job", "api"],
  ],
);
const OTHERS: readonly LabelList[] = [
  [
    ["__name__", "depth"],
    ["environment", "prod"],
    ["env", "prod"],
    ["service_id", "json"],
  ],
];

const textOf = (labels: LabelList) => JSON.stringify([...labels].sort(([a], [b]) => (a < b ? -1 : 1)));
const EXPECTED = [...SENT.map(({ sent, read }) => read ?? sent), ...DERIVED, ...OTHERS].map(textOf).sort();

class Rig {
  readonly #clock = new VirtualClock(START);
  readonly #machine = { clock: this.#clock, disk: new MemoryDisk(), control: new Map(), series: new Map() };
  #epoch = 0;
  #engines = 1;
  server!: SimulatedServer;

  async start(engines: number): Promise<void> {
    this.#engines = engines;
    const options = { engines, epoch: ++this.#epoch, seed: 1, ...SMALL_SIZES, idleMs: HOUR_MS };
    this.server = new SimulatedServer(options, this.#machine);
    await this.server.open();
    await this.server.rest();
  }

  async send(value: number): Promise<void> {
    const time = this.#clock.wallMs();
    const series = SENT.map(({ sent }, index) => ({ labels: sent, samples: [{ time, value: value * (index + 1) }] }));
    const json = [{ service_id: "json", metric_name: "depth", value, timestamp: formatRfc3339(time), attributes: { env: "prod" } }];
    const statuses: number[] = [];
    const note = ({ status }: { readonly status: number }) => void statuses.push(status);
    this.server.submit(0, BODY_REMOTE_WRITE_1, compressSync(Buffer.from(encodeBody(series))), "", note);
    this.server.submit(0, BODY_JSON_BATCH, new TextEncoder().encode(JSON.stringify(json)), "", note);
    await this.server.rest();
    expect(statuses.sort()).toEqual([200, 204]);
    this.#clock.advance(10_000);
  }

  /** Lets the time pass after which streams leave memory. */
  async idle(): Promise<void> {
    for (let step = 0; step < 600; step++) {
      this.#clock.advance((4 * HOUR_MS) / 600);
      await this.server.rest();
    }
  }

  /** Labels of the streams in memory. */
  async inMemory(): Promise<string[]> {
    const found: string[] = [];
    const query = {
      type: "stream-page",
      tenant: "default",
      after: null,
      limit: 100,
    } as const;
    for (let engine = 0; engine < this.#engines; engine++) {
      const asked = this.server.cluster.ask(engine, query);
      await this.server.rest();
      for (const row of ((await asked) as StreamPageAnswer).rows)
        for (const stream of JSON.parse(row) as PagedStream[]) found.push(labelText(stream));
    }
    return found.sort();
  }

  /** An index as a query worker has it, of this run of the server. */
  newIndex(): TenantIndex {
    const ask: AskSource = async (question) => {
      if (!("engine" in question)) return null;
      const { type, engine, query } = question;
      const asked = this.server.cluster.ask(engine, { type, ...query } as EngineQuestion);
      await this.server.rest();
      return (await asked) as SourceValue;
    };
    const { series } = this.server;
    const reader = { get: series.get.bind(series), range: series.range.bind(series), renew: () => undefined };
    return new TenantIndex("default", { source: new EngineSource(this.#engines, ask), reader, collect: () => {} });
  }

  /** Labels of the streams that left it. */
  async away(): Promise<string[]> {
    const found: string[] = [];
    const context = { state: { series: this.server.series }, yieldToLoop: async () => {} };
    for await (const { entry, name } of coldStreams(context, "default", null)) found.push(labelText({ ...name, ...readingOf(entry) }));
    return found.sort();
  }
}

function labelText(stream: Parameters<typeof labelsOfStream>[0]): string {
  return textOf([...labelsOfStream(stream).entries()]);
}

/** Labels of all series of an index, and how many of them are in memory. */
async function indexed(index: TenantIndex): Promise<{ readonly labels: string[]; readonly hot: number }> {
  const fresh = await index.fresh();
  const found = finish(fresh.select([], new QueryBudget(() => 0)));
  const labels = found.map((series) => textOf([...fresh.labels(series).entries()])).sort();
  return { labels, hot: found.filter((series) => fresh.isInMemory(series)).length };
}

it("an index follows series that come, leave memory and return, as one that is made anew has them", async () => {
  const rig = new Rig();
  await rig.start(2);
  const [early, late] = [rig.newIndex(), rig.newIndex()];
  expect(await indexed(early)).toEqual({ labels: [], hot: 0 });
  for (let value = 1; value <= 4; value++) await rig.send(value);
  expect(await indexed(early)).toEqual({ labels: EXPECTED, hot: EXPECTED.length });
  expect((await Promise.all([indexed(early), indexed(early), indexed(early)])).map(({ labels }) => labels)).toEqual(
    [1, 2, 3].map(() => EXPECTED),
  );
  await rig.idle();
  expect(await indexed(early)).toEqual({ labels: EXPECTED, hot: 0 });
  expect(await indexed(late)).toEqual({ labels: EXPECTED, hot: 0 });
  await rig.send(5);
  const back = EXPECTED.length - DERIVED.length;
  expect(await indexed(early)).toEqual({ labels: EXPECTED, hot: back });
  expect(await indexed(late)).toEqual({ labels: EXPECTED, hot: back });
  expect(await indexed(rig.newIndex())).toEqual({ labels: EXPECTED, hot: back });
});

it("an index finds what came and left between two looks at it", async () => {
  const rig = new Rig();
  await rig.start(1);
  const index = rig.newIndex();
  expect(await indexed(index)).toEqual({ labels: [], hot: 0 });
  for (let value = 1; value <= 4; value++) await rig.send(value);
  await rig.idle();
  expect(await indexed(index)).toEqual({ labels: EXPECTED, hot: 0 });
});

it("series have the labels that they were sent with, whatever becomes of the server and of their place", async () => {
  const rig = new Rig();
  await rig.start(1);
  for (let value = 1; value <= 4; value++) await rig.send(value);
  expect(await rig.inMemory()).toEqual(EXPECTED);
  rig.server.kill();
  await rig.start(2);
  expect(await rig.inMemory()).toEqual(EXPECTED);
  await rig.server.stop();
  await rig.start(1);
  expect(await rig.inMemory()).toEqual(EXPECTED);
  await rig.idle();
  expect(await rig.inMemory()).toEqual([]);
  expect(await rig.away()).toEqual(EXPECTED);
  await rig.send(5);
  expect((await rig.inMemory()).filter((labels) => !labels.includes("seconds."))).toEqual(
    EXPECTED.filter((labels) => !labels.includes("seconds.")),
  );
});
