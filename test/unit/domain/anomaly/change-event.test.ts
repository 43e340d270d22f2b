// Events that report changes of services: which are taken, and what is borne in mind by detectors.
import { describe, expect, it } from "vitest";
import { changeOf, deploymentsAmong } from "../../../../src/domain/anomaly/change-event.ts";

const event = (attributes: Record<string, unknown> | undefined, of: Record<string, unknown> = {}) =>
  changeOf({ tenant: "t", timeMs: 7, record: { type: "event", service_id: "cart", attributes, ...of } } as Parameters<typeof changeOf>[0]);

describe("an event record", () => {
  it("reports a deployment, or a change of a configuration or a flag, however its type is spelled", () => {
    expect(event({ event_type: "deployment" })).toEqual({ tenant: "t", serviceId: "cart", atMs: 7 });
    for (const type of ["config_change", "Configuration-Change", "config.update", "configuration"])
      expect(event({ event_type: type })?.what, type).toBe("a configuration change");
    expect(event({ event_type: "feature flag" })?.what).toBe("a change of a feature flag");
  });

  it("of another type, without one or of no event reports none", () => {
    for (const attributes of [{ event_type: "lunch" }, { event_type: 3 }, {}, undefined]) expect(event(attributes)).toBeUndefined();
    expect(event({ event_type: "deployment" }, { type: "log" })).toBeUndefined();
    expect(event({ event_type: "deployment" }, { service_id: null })).toBeUndefined();
  });

  it("is of its environment; detectors bear deployments in mind alone", () => {
    const changes = [
      event({ event_type: "config_change", env: "staging" })!,
      event({ event_type: "deployment", environment: "production" })!,
    ];
    expect(changes.map(({ environment }) => environment)).toEqual(["staging", "production"]);
    expect(deploymentsAmong(changes)).toEqual([{ tenant: "t", serviceId: "cart", atMs: 7 }]);
  });
});
