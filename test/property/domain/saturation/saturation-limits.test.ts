import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SaturationLimit } from "../../../../src/core/protocol/saturation.ts";
import { compareLimits, limitId, SaturationLimits } from "../../../../src/domain/saturation/saturation-limits.ts";

const names = fc.constantFrom("a", "b", "__proto__", "constructor", '","', "null");
const place = fc.record({ tenant: names, serviceId: fc.option(names), metric: names });
const edits = fc.array(fc.record({ ...{ place }, value: fc.option(fc.integer({ min: 1, max: 9 })) }), { maxLength: 40 });

/** The slow twin: a list, searched. */
function listed(
  steps: ReadonlyArray<{ place: { tenant: string; serviceId: string | null; metric: string }; value: number | null }>,
): SaturationLimit[] {
  let limits: SaturationLimit[] = [];
  for (const { place: at, value } of steps) {
    limits = limits.filter((limit) => limit.tenant !== at.tenant || limit.serviceId !== at.serviceId || limit.metric !== at.metric);
    if (value !== null) limits.push({ ...at, limitValue: value, unit: "bytes", updatedMs: 0 });
  }
  return limits;
}

describe("saturation limits", () => {
  it("are found as in a list: a service's own ahead of its tenant's, and never another tenant's", () => {
    fc.assert(
      fc.property(edits, names, names, names, (steps, tenant, serviceId, metric) => {
        const limits = new SaturationLimits();
        for (const { place: at, value } of steps) {
          if (value === null) limits.remove(at.tenant, limitId(at));
          else limits.put({ ...at, limitValue: value, unit: "bytes", updatedMs: 0 });
        }
        const twin = listed(steps);
        const of = (service: string | null) =>
          twin.find((limit) => limit.tenant === tenant && limit.serviceId === service && limit.metric === metric);
        expect(limits.size).toBe(twin.length);
        expect(limits.sizeOf(tenant)).toBe(twin.filter((limit) => limit.tenant === tenant).length);
        expect(limits.limitFor(tenant, serviceId, metric)).toEqual(of(serviceId) ?? of(null));
        expect(limits.of(tenant)).toEqual(twin.filter((limit) => limit.tenant === tenant).sort(compareLimits));
      }),
    );
  });
});
