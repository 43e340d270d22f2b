import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { STATUS_ASK_OWNER, STATUS_DONE, STATUS_OK, STATUS_UNKNOWN_STREAM } from "../../../../src/core/layout/kernel-status.ts";
import { SCRATCH, SERIES_KINDS_MAX } from "../../../../src/core/layout/memory-map.ts";
import { DEFINE_COUNTED } from "../../../../src/core/layout/row-frame.ts";
import { FLAG_COUNTER } from "../../../../src/core/layout/stream-record.ts";
import { engineOf, partitionOf } from "../../../../src/domain/placement/partition.ts";
import { labelProblem } from "../../../../src/domain/remote-write/sample-problems.ts";
import { flagsOfSeries } from "../../../../src/domain/series/classification.ts";
import { nameFlaw } from "../../../../src/domain/series/name-rule.ts";
import { REPLICA_LABELS } from "../../../../src/domain/series/replica-labels.ts";
import { nameOfLabels } from "../../../../src/domain/series/stream-identity.ts";
import { DefinitionRig } from "../../../support/definition-rig.ts";

type Labels = Array<[string, string]>;

const isEscaped = (text: string) => text.includes("\u007f") || JSON.stringify(text) !== `"${text}"`;
const isAscii = (text: string) => [...text].every((character) => (character.codePointAt(0) as number) < 128);
const wellFormed = (text: string) => text === Buffer.from(text).toString();

const knownName = fc.constantFrom(
  "__name__",
  "service_id",
  "service",
  "service_name",
  "app",
  "job",
  "env",
  "environment",
  "deployment.environment",
  "deployment.environment.name",
  "instance",
  "__proto__",
  "10",
  "9",
);
const asciiText = fc.string({ maxLength: 40 }).filter((text) => isAscii(text) && !isEscaped(text));
const name = fc.oneof({ weight: 3, arbitrary: knownName }, asciiText);
const suffix = fc.constantFrom(
  "_total",
  "_count",
  "_sum",
  "_bucket",
  "percent",
  "pct",
  "util",
  "utilization",
  "utilisation",
  "usage_ratio",
  "ratio",
  "_load",
  "saturation",
  "load",
  "ilization",
  "",
);
const metric = fc
  .tuple(asciiText, suffix)
  .map(([head, tail]) => `${head}${tail}` || "m")
  .filter((text) => text !== "up" && text !== "target_info");
const plainValue = fc.oneof(
  asciiText,
  fc.string({ unit: "grapheme", maxLength: 20 }).filter((text) => !isEscaped(text) && wellFormed(text)),
  fc.string({ minLength: 100, maxLength: 300 }).filter((text) => isAscii(text) && !isEscaped(text)),
);

/** Labels that the kernel is to define: no escapes, names and service in ASCII, none twice, in any order. */
const plain: fc.Arbitrary<Labels> = fc
  .tuple(metric, fc.array(fc.tuple(name, plainValue), { maxLength: 14 }), fc.nat(1000))
  .map(([metricName, others, rotation]) => {
    const labels = [...new Map<string, string>([...others, ["__name__", metricName]])];
    return [...labels.slice(rotation % labels.length), ...labels.slice(0, rotation % labels.length)] as Labels;
  })
  .filter((labels) => {
    const { serviceId, environment } = nameOfLabels("default", labels);
    return isAscii(serviceId) && nameFlaw(environment) === undefined;
  });

/** Any labels with a name, now and then twice. */
const anyLabels: fc.Arbitrary<Labels> = fc
  .tuple(
    fc.array(
      fc.tuple(
        fc.oneof({ weight: 8, arbitrary: name }, fc.string({ maxLength: 5 }), fc.constantFrom("replica", "__replica__", "replicas")),
        fc.string({ unit: "binary", maxLength: 12 }),
      ),
      { maxLength: 10 },
    ),
    metric,
  )
  .map(
    ([others, metricName]) => [...others.map(([key, value]) => [key, Buffer.from(value).toString()]), ["__name__", metricName]] as Labels,
  );

describe("definition of a remote-write series in the kernel", () => {
  it("is byte for byte what TypeScript makes of plain labels", () => {
    const rig = new DefinitionRig({ tenant: 'team "ä"' });
    let ref = 100;
    fc.assert(
      fc.property(plain, (labels) => {
        rig.kernel.definitionsReset();
        rig.kernel.keyTableClear();
        rig.begin([labels]);
        expect(rig.kernel.remoteWriteStep()).toBe(STATUS_DONE);
        expect(rig.definitions()).toEqual([rig.expected(labels, ref++)]);
        expect(rig.kernel.stagedRows()).toBe(1);
      }),
      { numRuns: 4000 },
    );
  });

  it("is left to TypeScript for the series that describe a target", () => {
    const rig = new DefinitionRig();
    const statusOf = (metricName: string) => {
      rig.kernel.definitionsReset();
      rig.kernel.keyTableClear();
      rig.begin([
        [
          ["__name__", metricName],
          ["job", "a"],
        ],
      ]);
      return rig.kernel.remoteWriteStep();
    };
    for (const metricName of ["up", "target_info"]) expect(statusOf(metricName), metricName).toBe(STATUS_UNKNOWN_STREAM);
    for (const metricName of ["u", "UP", "upp", "target_inf", "target_info_", "target-info", "Target_info", "target_infO"])
      expect(statusOf(metricName), metricName).toBe(STATUS_DONE);
  });

  it("is the same for any labels, or left to TypeScript", () => {
    const rig = new DefinitionRig();
    let ref = 100;
    let left = 0;
    fc.assert(
      fc.property(anyLabels, (labels) => {
        rig.kernel.definitionsReset();
        rig.kernel.keyTableClear();
        rig.begin([labels]);
        const status = rig.kernel.remoteWriteStep();
        if (status === STATUS_UNKNOWN_STREAM) {
          left++;
          expect(rig.definitions()).toEqual([]);
          return;
        }
        expect(labelProblem(labels)).toBeUndefined();
        const present = labels.filter(([, value]) => value !== ""); // a label without a value is none
        expect(new Set(present.map(([key]) => key)).size).toBe(present.length);
        expect(present.filter(([key]) => REPLICA_LABELS.has(key))).toEqual([]);
        expect(rig.definitions()).toEqual([rig.expected(labels, ref++)]);
      }),
      { numRuns: 4000 },
    );
    expect(left).toBeGreaterThan(0);
  });

  it("is of the label that has a value, where another of its name has none", () => {
    const rig = new DefinitionRig();
    const labels = [
      ["service", "shop"],
      ["service", ""],
      ["__name__", "x_total"],
    ] as const;
    rig.begin([labels]);
    expect(rig.kernel.remoteWriteStep()).toBe(STATUS_DONE);
    expect(rig.definitions()).toEqual([rig.expected(labels, 100)]);
    expect(Buffer.from(rig.definitions()[0]?.identity ?? []).toString()).toContain('"shop"');
  });

  it("takes the kind that metadata say, of the tenant and name they speak of", () => {
    const rig = new DefinitionRig();
    const names = fc.uniqueArray(metric, { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(names, fc.nat(30), (all, corrected) => {
        rig.kernel.seriesKindsClear();
        all.forEach((metricName, i) => {
          const bytes = Buffer.from(rig.loaded.memory.buffer, SCRATCH, 4096).write(metricName);
          if (i < corrected) expect(rig.kernel.seriesKindsAdd(SCRATCH, bytes, i % 5 === 4 ? 4 : 3, i % 2, 0)).toBe(1);
        });
        rig.kernel.definitionsReset();
        rig.kernel.keyTableClear();
        rig.begin(all.map((metricName) => [["__name__", metricName]]));
        expect(rig.kernel.remoteWriteStep()).toBe(STATUS_DONE);
        const expected = all.map((metricName, i) => {
          const guess = flagsOfSeries(metricName) & FLAG_COUNTER;
          return i < corrected && i % 5 !== 4 ? i % 2 : guess;
        });
        expect(rig.definitions().map(({ flags }) => flags & FLAG_COUNTER)).toEqual(expected);
      }),
      { numRuns: 300 },
    );
    rig.kernel.seriesKindsClear();
    let added = 0;
    for (; added < SERIES_KINDS_MAX; added++) {
      const bytes = Buffer.from(rig.loaded.memory.buffer, SCRATCH, 4096).write(`m${added}`);
      if (rig.kernel.seriesKindsAdd(SCRATCH, bytes, 3, 1, 0) === 0) break;
    }
    expect([added, rig.kernel.seriesKindsAdd(SCRATCH, 1, 3, 1, 0)]).toEqual([SERIES_KINDS_MAX, 0]);
  });

  it("asks the owner of the service's partition", () => {
    const rig = new DefinitionRig({ engine: 1, engines: 3 });
    fc.assert(
      fc.property(plain, (labels) => {
        rig.kernel.keyTableClear();
        rig.kernel.definitionsReset();
        rig.begin([labels]);
        const owner = engineOf(partitionOf("default", nameOfLabels("default", labels).serviceId), 3);
        const status = rig.kernel.remoteWriteStep();
        expect(status).toBe(owner === 1 ? STATUS_DONE : STATUS_ASK_OWNER);
        if (status === STATUS_DONE) return;
        expect(rig.kernel.definedDestination()).toBe(owner);
        expect(rig.kernel.defineSettle(1)).toBe(STATUS_OK);
        expect(rig.kernel.remoteWriteStep()).toBe(STATUS_DONE);
        expect((rig.definitions()[0]?.flags ?? 0) & DEFINE_COUNTED).toBe(0);
      }),
      { numRuns: 500 },
    );
  });
});
