// Alerts and decisions are read back as they were written, whatever stands in them.
import fc from "fast-check";
import { expect, it } from "vitest";
import type { Finding } from "../../../../src/domain/alerting/paging/finding.ts";
import type { PageDecision } from "../../../../src/domain/alerting/paging/page-decision.ts";
import { decodeAlert, encodeAlert } from "../../../../src/modules/alerts/rows/alert-row.ts";
import { decodeDecision, encodeDecision } from "../../../../src/modules/alerts/rows/decision-row.ts";
import { anySentence } from "../../../support/any-sentence.ts";
import { PAGING_START_MS, PagingRig } from "../../../support/paging-rig.ts";

const text = fc.string({ unit: "grapheme", maxLength: 12 });
const finding: fc.Arbitrary<Partial<Finding>> = fc.record({
  environment: text,
  serviceId: fc.constantFrom("a", "b"),
  metricName: text,
  detector: fc.constantFrom("z_score", "isolation_forest", "saturation", "cascade", "manual"),
  operation: fc.boolean(),
  z: fc.double({ min: -99, max: 99, noNaN: true }).map((z) => z || 1),
  attributes: fc.dictionary(text, fc.oneof(text, fc.boolean(), fc.integer())),
  services: fc.array(text, { maxLength: 3 }),
  explanation: anySentence(text, fc.double()),
});

function readBack(decision: PageDecision): PageDecision {
  const { tenant, atMs: timeMs, anomalyId: id } = decision;
  return decodeDecision(encodeDecision(decision, id), { tenant, timeMs, id });
}

it("rows give back what they were made of", () => {
  fc.assert(
    fc.property(fc.array(finding, { minLength: 1, maxLength: 12 }), fc.string({ maxLength: 5 }), (findings, person) => {
      const rig = new PagingRig();
      findings.forEach((change, i) => {
        const decision = rig.fire({ ...change, atMs: PAGING_START_MS + i * 700_000 });
        expect(readBack(decision)).toEqual(decision);
        const end = i % 3 === 0 ? rig.end(decision, decision.atMs + 1, person) : undefined;
        if (end !== undefined) expect(readBack(end)).toEqual(end);
      });
      for (const alert of rig.memory.changed) {
        const touched = { ...alert, assignee: person, acknowledged: { by: person, note: null, atMs: 1 } };
        expect(decodeAlert(encodeAlert(touched))).toEqual(touched);
      }
    }),
  );
});
