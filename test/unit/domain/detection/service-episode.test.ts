// When people hear of an episode of a service's metrics together: as it begins, as it ends, as it grows, and as it passes what the service does by itself.
import { describe, expect, it } from "vitest";
import type { ServiceVerdict } from "../../../../src/domain/detection/multivariate/service-detector.ts";
import { serviceTransition } from "../../../../src/domain/detection/multivariate/service-episode.ts";
import { evidenceZ } from "../../../../src/domain/detection/multivariate/service-verdict.ts";

const FIRING = { isFiring: true, opened: false, suppressedBy: null };
const verdict = (evidence: number, tail: number, gate: ServiceVerdict["firing"] = FIRING): ServiceVerdict => ({
  score: 0,
  z: 0,
  evidence,
  tail,
  firing: gate,
});

describe("an episode of a service", () => {
  it("begins and ends", () => {
    expect(serviceTransition(verdict(6, 9, { ...FIRING, opened: true }), false, 0)).toBe("open");
    expect(serviceTransition(verdict(1, 9, { ...FIRING, isFiring: false }), true, evidenceZ(6))).toBe("close");
    expect(serviceTransition(verdict(1, 9, { ...FIRING, isFiring: false }), false, 0)).toBeUndefined();
  });

  it("is updated where it has grown by half, and by the vector that passes the service's own tail, once", () => {
    const told = evidenceZ(8);
    expect(serviceTransition(verdict(8.5, 9), true, told)).toBeUndefined();
    expect(serviceTransition(verdict(9.1, 9), true, told)).toBe("update");
    expect(serviceTransition(verdict(9.3, 9), true, evidenceZ(9.1))).toBeUndefined();
    expect(serviceTransition(verdict(80, 9), true, evidenceZ(9.1))).toBe("update");
  });
});
