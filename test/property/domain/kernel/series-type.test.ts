// The type that comes with a series of remote-write 2.0 is that series' own: whatever others of its name are, and whatever metadata say of the name.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SCRATCH } from "../../../../src/core/layout/memory-map.ts";
import { FLAG_COUNTER } from "../../../../src/core/layout/stream-record.ts";
import { metricTypeOf } from "../../../../src/domain/remote-write/metadata-messages.ts";
import { MetadataBook } from "../../../../src/domain/series/metadata-book.ts";
import type { MetricType } from "../../../../src/domain/series/metric-metadata.ts";
import { BASE_MS, DefinitionRig } from "../../../support/definition-rig.ts";
import { encodeBody2 } from "../../../support/remote-write-2-body.ts";

const TENANT = "default";
const name = fc.constantFrom("x", "x_total", "x_count", "x_bucket", "x_created", "requests", "cpu_percent");
const type = fc.integer({ min: 0, max: 7 });
const sender = fc.record({ name, type });
const told = fc.constantFrom<MetricType>("unknown", "counter", "gauge", "gaugehistogram", "histogram");

/** One series a sender, told apart by their jobs. */
function bodyOf(senders: ReadonlyArray<{ readonly name: string; readonly type: number }>): Uint8Array {
  return encodeBody2(
    senders.map((given, i) => ({
      labels: [
        ["__name__", given.name],
        ["job", `service-${i}`],
      ],
      samples: [{ value: 1, time: BASE_MS }],
      metadata: { type: given.type, help: "", unit: "" },
    })),
  );
}

/** What each sender's series counts as, in other words than the kernel's. */
function counts(given: { readonly name: string; readonly type: number }, book: MetadataBook): boolean {
  const own = metricTypeOf(given.type);
  if (own === "counter") return given.name !== "x_created";
  if (["gauge", "gaugehistogram", "info", "stateset"].includes(own)) return false;
  if (own === "unknown") return (book.flagsOf(TENANT, given.name) & FLAG_COUNTER) !== 0;
  return /_(total|count|sum|bucket)$/.test(given.name);
}

describe("the type of a series", () => {
  it("is its own, in one request and over several, and that of its name's metadata only where it has none", () => {
    const rig = new DefinitionRig({ tenant: TENANT });
    fc.assert(
      fc.property(
        fc.array(sender, { minLength: 1, maxLength: 8 }),
        fc.array(type, { minLength: 8, maxLength: 8 }),
        name,
        told,
        (senders, later, of, says) => {
          const book = new MetadataBook();
          book.learn({ tenant: TENANT, metricName: of, type: says, unit: "", help: "" }, BASE_MS);
          rig.kernel.seriesKindsClear();
          for (const { seriesName, counts: counting } of book.correctedKinds) {
            const bytes = Buffer.from(rig.loaded.memory.buffer, SCRATCH, 4096).write(seriesName);
            rig.kernel.seriesKindsAdd(SCRATCH, bytes, 3, counting ? 1 : 0, 0);
          }
          rig.kernel.keyTableClear();
          rig.kernel.definitionsReset();
          rig.take2(bodyOf(senders));
          const defined = () => rig.definitions().map(({ flags }) => (flags & FLAG_COUNTER) !== 0);
          expect(defined()).toEqual(senders.map((given) => counts(given, book)));
          for (const given of senders)
            expect((book.flagsOf(TENANT, given.name, metricTypeOf(given.type)) & FLAG_COUNTER) !== 0).toBe(counts(given, book));
          // A sender that changes its mind: those whose type is another are defined anew.
          const next = senders.map((given, i) => ({ ...given, type: later[i] as number }));
          rig.kernel.definitionsReset();
          rig.take2(bodyOf(next));
          const changed = next.filter((given, i) => given.type !== senders[i]?.type);
          expect(defined()).toEqual(changed.map((given) => counts(given, book)));
        },
      ),
      { numRuns: 300 },
    );
  });
});
