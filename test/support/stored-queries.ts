// Series that queries find in a simulated server, with their samples, as a query worker reads them.

import { expect } from "vitest";
import { type AskSource, EngineSource } from "../../src/actors/query/engine-source.ts";
import { StoredSeriesStorage, selectorKey } from "../../src/actors/query/stored-series.ts";
import { StreamSelector, type StreamSelectorDependencies } from "../../src/actors/query/stream-selector.ts";
import { TenantIndex } from "../../src/actors/query/tenant-index.ts";
import type { SourceValue } from "../../src/core/protocol/query-worker.ts";
import { finish } from "../../src/domain/promql/evaluation/sliced-evaluation.ts";
import { selectorsOf } from "../../src/domain/promql/parser/expression.ts";
import { QueryBudget } from "../../src/domain/promql/query-budget.ts";
import { parseQuery } from "../../src/domain/promql/query-engine.ts";
import type { SimulatedServer } from "./simulation-server.ts";

type EngineQuestion = Parameters<SimulatedServer["cluster"]["ask"]>[1];

/** Values by time, by the series' labels as PromQL writes them. */
export type QueriedSeries = ReadonlyMap<string, ReadonlyMap<number, number>>;

/** All samples of the series that a selector means. */
export async function queriedSeries(server: SimulatedServer, selector: string): Promise<QueriedSeries> {
  const ask: AskSource = async (question) => {
    if (!("engine" in question)) return null;
    const { type, engine, query } = question;
    const asked = server.cluster.ask(engine, { type, ...query } as EngineQuestion);
    await server.rest();
    return (await asked) as SourceValue;
  };
  const { series } = server;
  const reader = { get: series.get.bind(series), range: series.range.bind(series), renew: () => undefined };
  const source = new EngineSource(server.engines, ask);
  const index = new TenantIndex("default", { source, reader, collect: () => {} });
  const run: StreamSelectorDependencies["run"] = async (_call, _budget, evaluating) => finish(evaluating);
  const dependencies = { indexes: { fresh: () => index.fresh() }, source, reader, run } as unknown as StreamSelectorDependencies;
  const budget = new QueryBudget(() => 0);
  const [{ matchers }] = selectorsOf(parseQuery(selector).expression) as [ReturnType<typeof selectorsOf>[number]];
  const [streams = []] = await new StreamSelector(dependencies).select({ tenant: "default", selections: [matchers], budget });
  const none = () => expect.fail("values are not as they were sent");
  const storage = new StoredSeriesStorage({
    reader,
    budget,
    streams: new Map([[selectorKey(matchers), streams]]),
    summed: none,
    averaged: none,
  });
  const found = new Map<string, Map<number, number>>();
  for (const one of storage.select(matchers, 0, Number.MAX_SAFE_INTEGER)) {
    if (one === undefined) continue;
    found.set(String(one.labels), new Map(Array.from(one.timesMs, (timeMs, at) => [timeMs, one.values[at] as number])));
  }
  return found;
}
