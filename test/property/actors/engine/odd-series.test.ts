/** Series of remote-write whose labels repeat, are empty or name a replica, and samples that are not finite, in both versions, against what the protocols say of them. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { deadLetters, ns } from "../../../support/otlp-requests.ts";
import { OTLP_NOW_MS, OtlpRig } from "../../../support/otlp-rig.ts";
import { encodeRequest } from "../../../support/otlp-schema.ts";
import { encodeBody2 } from "../../../support/remote-write-2-body.ts";
import { encodeBody } from "../../../support/remote-write-body.ts";
import { RemoteWriteRig } from "../../../support/remote-write-rig.ts";

type Labels = ReadonlyArray<readonly [string, string]>;
interface Series {
  readonly labels: Labels;
  readonly value: number;
}

const NOW = OTLP_NOW_MS;
const NOT_FINITE = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
const label = fc.tuple(fc.constantFrom("zone", "pod", "env"), fc.constantFrom("", "a", "b"));
const replica = fc.constantFrom<Labels>([], [], [["replica", "r0"]], [["__replica__", "r0"]], [["prometheus_replica", "r0"]]);
const series: fc.Arbitrary<Series> = fc
  .record({
    name: fc.constantFrom("m", "n_total"),
    job: fc.constantFrom("", "j"),
    more: fc.array(label, { maxLength: 4 }),
    value: fc.oneof({ weight: 4, arbitrary: fc.integer() }, { weight: 1, arbitrary: fc.constantFrom(...NOT_FINITE) }),
  })
  .map(({ name, job, more, value }) => ({ labels: [["__name__", name], ["job", job], ...more], value }));

/** Those of one server of a pair, or of one that says of no pair. */
const bodies = fc
  .tuple(fc.array(series, { minLength: 1, maxLength: 8 }), replica)
  .map(([all, own]) => all.map(({ labels, value }) => ({ labels: [...labels, ...own], value })));

/** Slow twin: the identity that the labels are, undefined where a name comes twice. */
function identityOf(labels: Labels): string | undefined {
  const present = labels.filter(([, value]) => value !== "");
  const names = present.map(([name]) => name);
  if (new Set(names).size < names.length) return undefined;
  const own = new Map(present);
  const [metric, service, environment] = [own.get("__name__"), own.get("job") ?? "unknown", own.get("env") ?? ""];
  const left = present.filter(([name]) => !["__name__", "job", "replica", "__replica__", "prometheus_replica"].includes(name));
  return JSON.stringify(["tenant 0", environment, service, metric, Object.fromEntries(left.sort(([a], [b]) => (a < b ? -1 : 1)))]);
}

const encode = (version: 1 | 2, all: readonly Series[]) => {
  const given = all.map(({ labels, value }) => ({ labels, samples: [{ value, time: NOW }] }));
  return version === 1 ? encodeBody(given) : encodeBody2(given);
};

describe.each([1, 2] as const)("series of remote-write %i.0", (version) => {
  it("a label name twice is refused alone, an empty label is none, a value that is not finite fails nothing", () => {
    fc.assert(
      fc.property(bodies, (all) => {
        const { answer, rows, letters } = new RemoteWriteRig().take(encode(version, all), version, NOW);
        const twice = all.filter(({ labels }) => identityOf(labels) === undefined);
        const good = all.filter(({ labels }) => identityOf(labels) !== undefined);
        expect(rows.map(([identity, , value]) => `${identity} ${value}`).sort()).toEqual(
          good.map(({ labels, value }) => `${identityOf(labels)} ${value}`).sort(),
        );
        expect(answer.status).toBe(twice.length > 0 ? 400 : 204);
        if (twice.length > 0) expect(answer.body).toContain(`invalid_attributes`);
        if (twice.length > 0) expect(answer.body).toContain(`${twice.length} of ${all.length} samples`);
        expect(letters.length > 0).toBe(twice.length > 0);
      }),
      { numRuns: 40 },
    );
  });
});

describe("native histograms", () => {
  const of = (fields: object) => ({ schema: 0, sum: 10, zeroThreshold: 1e-128, zeroCountFloat: 0, timestamp: NOW, ...fields });
  const buckets = { positiveSpans: [{ offset: 1, length: 2 }], positiveCounts: [2, 2] };
  const take = (histograms: readonly object[]) =>
    new RemoteWriteRig().take(
      encodeBody2([
        {
          labels: [
            ["__name__", "h"],
            ["job", "j"],
          ],
          samples: [],
          histograms,
        },
      ]),
      2,
      NOW,
    );

  it("those of gauges are taken, and those that count NaN are kept out without a failure", () => {
    const gauge = take([of({ ...buckets, countFloat: 4, resetHint: 3 })]);
    expect([gauge.answer.status, gauge.messageBytes > 0]).toEqual([204, true]);
    const none = take([of({ ...buckets, countFloat: Number.NaN, resetHint: 3 })]);
    expect([none.answer.status, none.messageBytes, none.letters.map(({ reason }) => reason)]).toEqual([204, 0, ["invalid_value"]]);
  });
});

describe.each(["json", "protobuf"] as const)("points of OTLP in %s", (encoding) => {
  it("that are not finite are kept out and fail nothing; those without a value are refused", () => {
    const text = (value: number) => (encoding === "json" ? String(value) : value);
    const point = fc.constantFrom<object>({ asDouble: 1 }, { asInt: "7" }, ...NOT_FINITE.map((value) => ({ asDouble: text(value) })), {});
    fc.assert(
      fc.property(fc.array(point, { minLength: 1, maxLength: 6 }), (given) => {
        const dataPoints = given.map((each, i) => ({ ...each, timeUnixNano: ns(NOW - i) }));
        const request = { resourceMetrics: [{ scopeMetrics: [{ metrics: [{ name: "g", gauge: { dataPoints } }] }] }] };
        const bytes = encoding === "json" ? Buffer.from(JSON.stringify(request)) : Buffer.from(encodeRequest("metrics", request));
        const intake = new OtlpRig().take(bytes, "metrics", encoding);
        const isGood = (each: { asDouble?: unknown; asInt?: unknown }) => each.asInt !== undefined || each.asDouble === 1;
        const without = given.filter((each) => Object.keys(each).length === 0).length;
        const notFinite = given.filter((each) => !isGood(each)).length - without;
        expect(intake.rows).toHaveLength(given.filter(isGood).length);
        expect(intake.answer.body === null).toBe(without === 0);
        const reasons = deadLetters(intake).map(({ reason }) => reason);
        expect([reasons.includes("missing_value"), reasons.filter((reason) => reason === "invalid_value").length]).toEqual([
          without > 0,
          Math.min(1, notFinite),
        ]);
      }),
      { numRuns: 40 },
    );
  });
});

describe("names of replicas and services that are settings", () => {
  it.each([1, 2] as const)("REPLICA_LABELS: its labels are no identity and tell replicas apart, in %i.0", (version) => {
    const of = (...own: Labels): Series => ({ labels: [["__name__", "m"], ["job", "j"], ["zone", "z"], ...own], value: 1 });
    const identity = '["tenant 0","","j","m",{"zone":"z"}]';
    for (const name of ["ha_pod", "prom", "prometheus_replica"]) {
      const rig = new RemoteWriteRig("ha_pod, prom");
      expect(rig.take(encode(version, [of([name, "r0"])]), version, NOW).rows.map(([each]) => each)).toEqual([identity]);
      expect(rig.take(encode(version, [of([name, "r1"])]), version, NOW + 1).rows).toEqual([]); // r0 is taken
      const other = new RemoteWriteRig().take(encode(version, [of([name, "r0"])]), version, NOW).rows.map(([each]) => each);
      expect(other[0] === identity).toBe(name === "prometheus_replica");
    }
  });

  const attribute = fc.constantFrom<string | undefined>(undefined, "", "shop", "team/a");
  it.each(["json", "protobuf"] as const)("OTEL_SERVICE_NAMESPACE: a service is namespace/name in every signal (%s)", (encoding) => {
    const text = (key: string, stringValue: string | undefined) => (stringValue === undefined ? [] : [{ key, value: { stringValue } }]);
    fc.assert(
      fc.property(attribute, attribute, fc.boolean(), (name, namespace, prefixesServices) => {
        const rig = new OtlpRig({ prefixesServices });
        const resource = { attributes: [...text("service.namespace", namespace), ...text("service.name", name)] };
        const time = { startTimeUnixNano: ns(NOW - 1), endTimeUnixNano: ns(NOW) };
        const id = (digits: number) => (encoding === "json" ? "1".repeat(digits) : Buffer.from("1".repeat(digits), "hex"));
        const take = (signal: "metrics" | "logs" | "traces", request: object) =>
          rig.take(
            encoding === "json" ? Buffer.from(JSON.stringify(request)) : Buffer.from(encodeRequest(signal, request)),
            signal,
            encoding,
          );
        const dataPoints = [{ asDouble: 1, timeUnixNano: ns(NOW) }];
        const metrics = take("metrics", {
          resourceMetrics: [{ resource, scopeMetrics: [{ metrics: [{ name: "g", gauge: { dataPoints } }] }] }],
        });
        const logs = take("logs", { resourceLogs: [{ resource, scopeLogs: [{ logRecords: [{ timeUnixNano: ns(NOW) }] }] }] });
        const spans = [{ traceId: id(32), spanId: id(16), name: "n", ...time }];
        const traces = take("traces", { resourceSpans: [{ resource, scopeSpans: [{ spans }] }] });
        const own = name || "unknown_service";
        const right = prefixesServices && namespace ? `${namespace}/${own}` : own;
        const services = [logs, traces].flatMap(({ frames }) =>
          frames.map(({ envelope }) => (envelope.record as { service_id?: string } | undefined)?.service_id),
        );
        expect(services.filter((each) => each !== undefined)).toEqual([right, right]);
        expect(metrics.rows[0]).toContain(`["tenant 0","","${right}","g"`);
      }),
      { numRuns: 12 },
    );
  });
});
