/** Scopes of OpenTelemetry in the identities of streams: any order of scopes, metrics and kinds, in both encodings, walked by the kernel or not, over several engines and starts. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { ProcessSlots } from "../../../../src/adapters/shared-memory/engine-memory.ts";
import { PROCESS_LENGTH_BYTES } from "../../../../src/core/layout/memory-map.ts";
import { FRAME_METRIC_SCOPE, type MetricScopeEnvelope } from "../../../../src/core/protocol/coordinator-frame.ts";
import type { OtlpEncoding } from "../../../../src/core/protocol/otlp-kind.ts";
import { OTLP_NOW_MS, type OtlpIntake, OtlpRig } from "../../../support/otlp-rig.ts";
import { encodeRequest } from "../../../support/otlp-schema.ts";

const LONG = "a scope whose name is longer than a hash takes in one step".repeat(3);
const KINDS = ["gauge", "sum", "histogram", "exponentialHistogram", "summary"] as const;

interface Metric {
  readonly name: string;
  readonly kind: (typeof KINDS)[number];
  readonly route: string;
}

interface Scope {
  /** Undefined: there is no scope at all. */
  readonly name: string | undefined;
  readonly version: string;
  readonly metrics: readonly Metric[];
  /** The scope stands behind its metrics. */
  readonly isLast: boolean;
}

interface Export {
  readonly service: string;
  /** "" for none. */
  readonly environment: string;
  readonly instance: string;
  readonly scopes: readonly Scope[];
  readonly encoding: OtlpEncoding;
  readonly lane: number;
  /** The server starts again before it. */
  readonly isAfterStart: boolean;
}

/** Number points and histograms of one name are judged in an order that depends on the walk: here names tell them apart. */
const metric = fc
  .record({ name: fc.constantFrom("calls", "depth"), kind: fc.constantFrom(...KINDS), route: fc.constantFrom("/a", "/b") })
  .map((each): Metric => ({ ...each, name: `${each.name}.${each.kind === "gauge" || each.kind === "sum" ? "number" : "points"}` }));
const scope: fc.Arbitrary<Scope> = fc.record({
  name: fc.constantFrom("one", "two", "", 'thr"ee\n', LONG, undefined),
  version: fc.constantFrom("1", "2"),
  metrics: fc.array(metric, { minLength: 1, maxLength: 3 }),
  isLast: fc.boolean(),
});
const request: fc.Arbitrary<Export> = fc.record({
  service: fc.constantFrom("shop", "till"),
  environment: fc.constantFrom("", "", "production", "staging"),
  instance: fc.constantFrom("a", "b"),
  scopes: fc.array(scope, { minLength: 1, maxLength: 4 }),
  encoding: fc.constantFrom("json", "protobuf"),
  lane: fc.nat({ max: 1 }),
  isAfterStart: fc.nat({ max: 19 }).map((each) => each === 0),
});

const NOW = `${OTLP_NOW_MS}000000`;
const text = (key: string, value: string) => ({ key, value: { stringValue: value } });

function dataOf({ name, kind, route }: Metric) {
  const point = { timeUnixNano: NOW, startTimeUnixNano: `${OTLP_NOW_MS - 1000}000000`, attributes: [text("route", route)] };
  const counted = { ...point, count: "3", sum: 3 };
  const temporal = { aggregationTemporality: 2 };
  const data = {
    gauge: { dataPoints: [{ ...point, asDouble: 3 }] },
    sum: { ...temporal, isMonotonic: true, dataPoints: [{ ...point, asInt: "3" }] },
    histogram: { ...temporal, dataPoints: [{ ...counted, bucketCounts: ["3", "0"], explicitBounds: [1] }] },
    exponentialHistogram: { ...temporal, dataPoints: [{ ...counted, scale: 0, positive: { offset: 0, bucketCounts: ["3"] } }] },
    summary: { dataPoints: [{ ...counted, quantileValues: [{ quantile: 0.5, value: 1 }] }] },
  }[kind];
  return { name, [kind]: data };
}

/** As they are sent, in the order of their names. */
const resourceOf = ({ environment, instance }: Export) => ({
  ...(environment === "" ? {} : { "deployment.environment.name": environment }),
  "service.instance.id": instance,
});

function bodyOf(given: Export): Uint8Array {
  const { service, scopes, encoding } = given;
  const scopeMetrics = scopes.map(({ name, version, metrics, isLast }) => {
    const own = name === undefined ? {} : { scope: { name, version } };
    const content = { metrics: metrics.map(dataOf) };
    return isLast ? { ...content, ...own } : { ...own, ...content };
  });
  const attributes = [text("service.name", service), ...Object.entries(resourceOf(given)).map(([key, value]) => text(key, value))];
  const body = { resourceMetrics: [{ resource: { attributes }, scopeMetrics }] };
  return encoding === "json" ? Buffer.from(JSON.stringify(body)) : encodeRequest("metrics", body);
}

/** Identities by the rule, of number points and of others, in the order of the body. */
class Model {
  readonly #first = new Map<string, string>();

  identities(given: Export): [numbers: string[], others: string[]] {
    const { service, environment, scopes } = given;
    const { "service.instance.id": instance, ...placed } = resourceOf(given);
    const numbers: string[] = [];
    const others: string[] = [];
    for (const { name = "", metrics } of scopes)
      for (const { name: metricName, kind, route } of metrics) {
        const key = `${service} ${environment} ${metricName}`;
        if (!this.#first.has(key)) this.#first.set(key, name);
        const carried = this.#first.get(key) === name ? {} : { "otel.scope.name": name === "" ? "unknown" : name };
        const isNumber = kind === "gauge" || kind === "sum";
        (isNumber ? numbers : others).push(
          JSON.stringify(["tenant 0", environment, service, metricName, { ...placed, ...carried, route, "service.instance.id": instance }]),
        );
      }
    return [numbers, others];
  }
}

const identitiesOf = ({ rows }: OtlpIntake) =>
  rows.filter((row) => !/ start \d+$/.test(row)).map((row) => row.replace(/^\d+ (.*) \d+ \w+$/, "$1"));
const claimsOf = ({ frames }: OtlpIntake) =>
  frames.filter(({ frame }) => frame === FRAME_METRIC_SCOPE).map(({ envelope }) => envelope as unknown as MetricScopeEnvelope);

class Server {
  readonly #lanes: OtlpRig[];

  constructor(stored: readonly MetricScopeEnvelope[]) {
    const processSlots = new ProcessSlots(new SharedArrayBuffer(PROCESS_LENGTH_BYTES));
    this.#lanes = [new OtlpRig({ processSlots }), new OtlpRig({ processSlots, kernelWalks: false })];
    for (const lane of this.#lanes) for (const each of stored) lane.scopes.restore(each);
  }

  take(given: Export): OtlpIntake {
    const lane = this.#lanes[given.lane] as OtlpRig;
    const intake = lane.take(bodyOf(given), "metrics", given.encoding);
    lane.scopes.saved();
    return intake;
  }
}

it("keeps the streams of scopes apart, the first that was seen without its name for good", () => {
  const stored: MetricScopeEnvelope[] = [];
  let server = new Server([]);
  let run = 0;
  fc.assert(
    fc.property(fc.array(request, { minLength: 1, maxLength: 5 }), (requests) => {
      const model = new Model();
      run++;
      for (const each of requests) {
        const given = { ...each, service: `${each.service}-${run}` };
        if (given.isAfterStart) server = new Server(stored);
        const intake = server.take(given);
        stored.push(...claimsOf(intake));
        expect(intake.answer.status).toBe(200);
        const [numbers, others] = model.identities(given);
        expect([identitiesOf(intake).sort(), intake.distributions.sort()]).toEqual([numbers.sort(), others.sort()]);
      }
    }),
    { numRuns: 60 },
  );
});

it("says once in the log which scope was first, and again where that unit was not logged", () => {
  const rig = new OtlpRig();
  const given = { service: "shop", environment: "", instance: "a", encoding: "json", lane: 0, isAfterStart: false } as const;
  const scopes = ["one", "two"].map((name) => ({
    name,
    version: "1",
    isLast: false,
    metrics: [{ name: "calls", kind: "sum", route: "/a" } as const],
  }));
  const body = bodyOf({ ...given, scopes });
  expect(claimsOf(rig.take(body, "metrics", "json"))).toHaveLength(1);
  rig.scopes.forget();
  rig.kernel.keyTableClear();
  expect(claimsOf(rig.take(body, "metrics", "json"))).toHaveLength(1);
  rig.scopes.saved();
  rig.kernel.keyTableClear();
  expect(claimsOf(rig.take(body, "metrics", "json"))).toHaveLength(0);
});
