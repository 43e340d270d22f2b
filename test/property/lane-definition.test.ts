import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { STATUS_ASK_OWNER, STATUS_DONE, STATUS_OK, STATUS_UNKNOWN_STREAM } from "../../src/core/layout/kernel-status.ts";
import { engineOf, partitionOf } from "../../src/domain/placement/partition.ts";
import { nameOfLabels } from "../../src/domain/series/stream-identity.ts";
import { DefinitionRig } from "../support/definition-rig.ts";

type Labels = Array<[string, string]>;

const isEscaped = (text: string) => JSON.stringify(text) !== `"${text}"`;
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
const metric = fc.tuple(asciiText, suffix).map(([head, tail]) => `${head}${tail}` || "m");
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
  .filter((labels) => isAscii(nameOfLabels("default", labels).serviceId));

/** Any labels with a name, now and then twice. */
const anyLabels: fc.Arbitrary<Labels> = fc
  .tuple(
    fc.array(fc.tuple(fc.oneof(name, fc.string({ maxLength: 5 })), fc.string({ unit: "binary", maxLength: 12 })), { maxLength: 10 }),
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
        rig.kernel.laneTableClear();
        rig.begin([labels]);
        expect(rig.kernel.remoteWriteStep()).toBe(STATUS_DONE);
        expect(rig.definitions()).toEqual([rig.expected(labels, ref++)]);
        expect(rig.kernel.stagedRows()).toBe(1);
      }),
      { numRuns: 4000 },
    );
  });

  it("is the same for any labels, or left to TypeScript", () => {
    const rig = new DefinitionRig();
    let ref = 100;
    let left = 0;
    fc.assert(
      fc.property(anyLabels, (labels) => {
        rig.kernel.definitionsReset();
        rig.kernel.laneTableClear();
        rig.begin([labels]);
        const status = rig.kernel.remoteWriteStep();
        if (status === STATUS_UNKNOWN_STREAM) {
          left++;
          expect(rig.definitions()).toEqual([]);
          return;
        }
        expect(new Set(labels.map(([key]) => key)).size).toBe(labels.length);
        expect(rig.definitions()).toEqual([rig.expected(labels, ref++)]);
      }),
      { numRuns: 4000 },
    );
    expect(left).toBeGreaterThan(0);
  });

  it("asks the owner of the service's partition", () => {
    const rig = new DefinitionRig({ engine: 1, engines: 3 });
    fc.assert(
      fc.property(plain, (labels) => {
        rig.kernel.laneTableClear();
        rig.kernel.definitionsReset();
        rig.begin([labels]);
        const owner = engineOf(partitionOf("default", nameOfLabels("default", labels).serviceId), 3);
        const status = rig.kernel.remoteWriteStep();
        expect(status).toBe(owner === 1 ? STATUS_DONE : STATUS_ASK_OWNER);
        if (status === STATUS_DONE) return;
        expect(rig.kernel.definedDestination()).toBe(owner);
        expect(rig.kernel.defineSettle(1)).toBe(STATUS_OK);
        expect(rig.kernel.remoteWriteStep()).toBe(STATUS_DONE);
        expect(rig.definitions()[0]?.flags).toBeLessThan(65536);
      }),
      { numRuns: 500 },
    );
  });
});
