// Evidence of an incident: what the coordinator is given by its engines is what the evaluation's loader makes of the same telemetry, and both rank alike.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ShopRecord, STEP_MS, shopStep } from "../../src/cli/incident/scenario.ts";
import { BODY_JSON_BATCH } from "../../src/core/protocol/body-kind.ts";
import { otlpBodyKind } from "../../src/core/protocol/otlp-kind.ts";
import { formatRfc3339 } from "../../src/core/time/rfc3339.ts";
import { maskedText } from "../../src/domain/logs/masked-text.ts";
import { severityOfAttributes } from "../../src/domain/logs/severity.ts";
import { type Template, TemplateTree } from "../../src/domain/logs/template-tree.ts";
import { spansOfJson } from "../../src/domain/otlp/json-traces.ts";
import { type Analysis, analyse } from "../../src/domain/rca/analysis.ts";
import { departureOf } from "../../src/domain/rca/departure.ts";
import type { IncidentEvidence, OperationEvidence, SeriesEvidence } from "../../src/domain/rca/evidence.ts";
import { peerOf } from "../../src/domain/rca/metric-kind.ts";
import { ringWindows } from "../../src/domain/rca/ring-windows.ts";
import { ownTimesOf } from "../../src/domain/rca/self-times.ts";
import { instanceOf, nodeOf } from "../../src/domain/series/instance-name.ts";
import { EvidenceGathering } from "../../src/modules/analysis/evidence-gathering.ts";
import { type Line, type SentSpan, type TimedSpan, timedSpans } from "../eval/rca/telemetry.ts";
import { minuteWindows, telemetryEvidence } from "../eval/rca/telemetry-evidence.ts";
import { plainSeries } from "../support/plain-series.ts";
import { WatchedServer } from "../support/watched-server.ts";

const START = Date.UTC(2026, 0, 5, 10);
const ENVIRONMENT = "shop";
const BROKEN_FROM = 60;
const UNTIL = BROKEN_FROM + 14;
const TURNS = 10;
const WINDOWS = 15;
const SERVER = 2;
const NANOSECONDS = 1_000_000n;
const encoder = new TextEncoder();

// biome-ignore lint/suspicious/noExplicitAny: bodies and answers are read field by field
type Json = any;

/** What was sent. */
class Sent {
  readonly records: ShopRecord[] = [];
  readonly spans: SentSpan[] = [];

  take(records: readonly ShopRecord[], traces: Json): void {
    this.records.push(...records);
    for (const item of spansOfJson(traces)) {
      if (item.type !== "span") throw new Error("a span of the scenario is damaged");
      const { traceId, spanId, parentSpanId, startMs, endMs, serviceId, name: operation, kind, statusCode } = item.span;
      const parentKey = parentSpanId === "" ? "" : `${traceId}/${parentSpanId}`;
      const durationUs = Math.round((endMs - startMs) * 1000);
      this.spans.push({ key: `${traceId}/${spanId}`, parentKey, endMs, durationUs, serviceId, operation, kind, isError: statusCode === 2 });
    }
  }

  /** Lines by the templates of their services, in the order in which they came. */
  lines(): Line[] {
    const trees = new Map<string, TemplateTree<Template>>();
    return this.records.flatMap(({ type, service_id: serviceId, body, timestamp, attributes }) => {
      if (type !== "log") return [];
      const tree = trees.get(serviceId) ?? new TemplateTree<Template>((tokens) => ({ tokens }));
      trees.set(serviceId, tree);
      const template = tree.take(maskedText(body!))!;
      return [{ atMs: Date.parse(timestamp), serviceId, template, severity: severityOfAttributes(attributes) }];
    });
  }

  /** Departures of the metrics that were sent, cut as a ring is. */
  series(onsetMs: number, untilMs: number): SeriesEvidence[] {
    const streams = new Map<string, ShopRecord[]>();
    for (const record of this.records) {
      if (record.metric_name === undefined) continue;
      const key = JSON.stringify([record.service_id, record.metric_name, record.attributes]);
      streams.set(key, [...(streams.get(key) ?? []), record]);
    }
    return [...streams.values()].flatMap((records) => {
      const { service_id: serviceId, metric_name: metricName = "", attributes } = records[0]!;
      const times = records.map(({ timestamp }) => Date.parse(timestamp));
      const values = Float64Array.from(records, ({ value }) => value!);
      const cut = ringWindows(times, values, times.length, { onsetMs, untilMs });
      const departure = cut && departureOf(cut);
      if (cut === undefined || departure === undefined) return [];
      const onset = times[cut.start + departure.onsetAt]!;
      const intervalMs = (times.at(-1)! - times[Math.max(0, times.length - 11)]!) / Math.min(10, times.length - 1);
      const peer = peerOf(metricName, attributes);
      return [
        { serviceId, metricName, instance: instanceOf(attributes), node: nodeOf(attributes), peer, departure, onsetMs: onset, intervalMs },
      ];
    });
  }
}

/** From the fault on, catalog takes 80 ms more by itself for each request, and storefront waits for it. */
function slowCatalog(traces: Json, tick: number): void {
  if (tick < BROKEN_FROM) return;
  for (const { resource, scopeSpans } of traces.resourceSpans) {
    const service = resource.attributes[0].value.stringValue;
    for (const span of scopeSpans[0].spans) {
      const isWaiting = service === "storefront" && (span.kind === SERVER || span.name === "call catalog");
      const isSlow = service === "catalog" && span.kind === SERVER;
      if (isWaiting || isSlow) span.endTimeUnixNano = String(BigInt(span.endTimeUnixNano) + 80n * NANOSECONDS);
    }
  }
}

async function submit(watched: WatchedServer, kind: number, body: unknown): Promise<void> {
  watched.server.submit(0, kind, encoder.encode(JSON.stringify(body)), "", () => undefined);
  await watched.server.rest();
}

async function rest(watched: WatchedServer): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) {
    await watched.server.rest();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function sendShop(watched: WatchedServer, sent: Sent): Promise<void> {
  for (let tick = 0; tick < UNTIL; tick++) {
    const { records, traces } = shopStep(ENVIRONMENT, "none", tick, watched.nowMs, BROKEN_FROM, formatRfc3339);
    slowCatalog(traces, tick);
    sent.take(records, traces);
    await submit(watched, BODY_JSON_BATCH, records);
    await submit(watched, otlpBodyKind("traces", "json"), traces);
    watched.machine.clock.advance(STEP_MS);
    await rest(watched);
  }
  // Windows close, children of spans have had their time to come, and sums of calls are sent.
  for (let wait = 0; wait < 6; wait++) {
    watched.machine.clock.advance(5_000);
    await rest(watched);
  }
}

/** Windows before an item that the engines look at are as many as they have counted: of the loader's the last of them. */
function cutTo<T extends { readonly past: ArrayLike<unknown> }>(ours: readonly T[], theirs: readonly T[], keyOf: (item: T) => string): T[] {
  const lengths = new Map(theirs.map((item) => [keyOf(item), item.past.length]));
  const cut = ours.map((item) => ({ ...item, past: Array.from(item.past).slice(-(lengths.get(keyOf(item)) ?? WINDOWS)) }));
  return cut.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)) as unknown as T[];
}

/** Spans without those of the last window of their service, in which it stopped: that window has no values. */
function withoutLastWindows(spans: readonly TimedSpan[]): TimedSpan[] {
  const windowOf = ({ endMs }: TimedSpan) => Math.floor(endMs / STEP_MS);
  const last = new Map<string, number>();
  for (const span of spans) last.set(span.serviceId, Math.max(last.get(span.serviceId) ?? 0, windowOf(span)));
  return spans.filter((span) => windowOf(span) < (last.get(span.serviceId) as number));
}

function loaded(sent: Sent, of: IncidentEvidence): IncidentEvidence {
  const { onsetMs, untilMs, target, senders, members } = of;
  const series = sent.series(onsetMs, untilMs);
  const windows = minuteWindows(onsetMs, untilMs, WINDOWS);
  const found = telemetryEvidence({ lines: sent.lines(), spans: timedSpans(sent.spans) }, windows);
  const wholeSpans = withoutLastWindows(timedSpans(sent.spans));
  const requests = telemetryEvidence({ lines: [], spans: wholeSpans }, windows).operations.filter(({ isEntry }) => isEntry);
  const own = ownTimesOf(
    found.operations.filter(({ isEntry }) => !isEntry),
    series,
  );
  const lines = cutTo(found.lines, of.lines, ({ serviceId, template }) => `${serviceId} ${template}`);
  const operations = cutTo<OperationEvidence>(
    [...requests, ...own],
    of.operations,
    ({ serviceId, operation }) => `${serviceId} ${operation}`,
  );
  const calls = cutTo(found.calls, of.calls, ({ caller, callee }) => `${caller} ${callee}`);
  return {
    onsetMs,
    untilMs,
    target,
    senders,
    members,
    series,
    lines,
    operations,
    calls,
    edges: calls.map(({ caller, callee }) => [caller, callee] as const),
    changes: [],
    saturated: [],
    silent: [],
  };
}

/** The same with lists in one order, and without series that engines derive from spans and logs, which the loader has no windows of. */
function comparable({ series, lines, operations, calls, edges, ...rest }: IncidentEvidence): IncidentEvidence {
  const sorted = <T>(items: readonly T[], keyOf: (item: T) => string) => [...items].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  const sentOnly = series.filter(({ metricName }) => !/^(?:service|span|log)\./.test(metricName));
  return {
    ...rest,
    series: sorted(sentOnly.map(plainSeries), (one) => JSON.stringify([one.serviceId, one.metricName, one.instance, one.peer])),
    lines: sorted(lines, ({ serviceId, template }) => `${serviceId} ${template}`).map((line) => ({ ...line, past: Array.from(line.past) })),
    operations: sorted(operations, ({ serviceId, operation }) => `${serviceId} ${operation}`),
    calls: sorted(calls, ({ caller, callee }) => `${caller} ${callee}`),
    edges: sorted(edges, (edge) => edge.join(" ")),
  };
}

describe("evidence of an incident", () => {
  const given: IncidentEvidence[] = [];
  const gather = EvidenceGathering.prototype.gather;
  beforeEach(() => {
    given.length = 0;
    EvidenceGathering.prototype.gather = async function overheard(wanted) {
      const evidence = await gather.call(this, wanted);
      given.push(evidence);
      return evidence;
    };
  });
  afterEach(() => {
    EvidenceGathering.prototype.gather = gather;
  });

  it("is the loader's of the same telemetry, for any number of engines, and names the operation that became slow", async () => {
    const found: Analysis[] = [];
    for (const engines of [1, 3]) {
      const watched = await WatchedServer.open(START, engines);
      const sent = new Sent();
      await sendShop(watched, sent);
      const timestamp = formatRfc3339(START + BROKEN_FROM * STEP_MS);
      const subject = { service_id: "storefront", metric_name: "cpu_percent", environment: ENVIRONMENT, timestamp };
      await watched.server.query("analyze", {}, "default", subject);
      const evidence = given.at(-1)!;
      const ofLoader = loaded(sent, evidence);
      expect(comparable(evidence)).toEqual(comparable(ofLoader));
      const { series, lines, operations, calls } = comparable(evidence);
      const named = operations.filter(({ operation, past }) => operation !== "" && past.some(({ spans }) => spans > 0));
      expect([series.length, lines.length, named.length, calls.length].map((count) => count > 3)).toEqual([true, true, true, true]);
      expect(analyse(comparable(evidence))).toEqual(analyse(comparable(ofLoader)));
      found.push(analyse(evidence));
    }
    expect(found[1]).toEqual(found[0]);
    const [first] = found[0]!.candidates;
    expect(first?.serviceId).toBe("catalog");
    expect(first?.evidence).toContainEqual(expect.objectContaining({ source: "span", text: expect.stringContaining("handle catalog") }));
  });
});
