// How the entries of an import are written: many in one transaction, each as by itself.
import { describe, expect, it } from "vitest";
import { CONFIGURATION_ENTRIES_PER_COMMIT, LABELS_PER_SERVICE_MAX } from "../../../../src/core/config/declaration-limits.ts";
import { Rig } from "../../../support/coordinator-rig.ts";

const many = <T>(count: number, make: (index: number) => T) => Array.from({ length: count }, (_, index) => make(index));
const load = (rig: Rig, document: Record<string, unknown>, query: Record<string, string> = {}) =>
  rig.ask("importConfiguration", query, {}, "default", { format: 1, ...document });
const auditRows = (rig: Rig) => rig.control.contents.get("audit")?.size ?? 0;
const COUNT = 2 * CONFIGURATION_ENTRIES_PER_COMMIT + 1;
const SECTIONS: Record<string, (index: number) => Record<string, unknown>> = {
  labels: (index: number) => ({ service_id: `service-${index}`, key: "team", value: "payments" }),
  saturation_limits: (index: number) => ({ service_id: `service-${index}`, metric: "heap", limit_value: 100, unit: "bytes" }),
  detection_settings: (index: number) => ({ service_id: `service-${index}`, z_threshold: 4 + (index % 2) }),
  page_budgets: (index: number) => ({ team: `team-${index}`, pages_per_week: index }),
  service_map: (index: number) => ({ service_id: `service-${index}`, tenant_id: "acme", product_id: "shop", custom_keys: {} }),
};

describe("an import of the configuration", () => {
  for (const [section, make] of Object.entries(SECTIONS)) {
    it(`writes many ${section} in one transaction`, async () => {
      const rig = await Rig.open();
      const given = many(COUNT, make);
      const before = rig.control.commits;
      const made = await load(rig, { [section]: given });
      expect(made.body).toMatchObject({ sections: { [section]: { created: COUNT, changed: 0, unchanged: 0, refused: 0 } }, problems: [] });
      expect(rig.control.commits - before).toBe(Math.ceil(COUNT / CONFIGURATION_ENTRIES_PER_COMMIT));
      const restarted = await rig.restarted();
      const again = await load(restarted, { [section]: given });
      expect(again.body.sections[section]).toMatchObject({ created: 0, unchanged: COUNT });
      const exported = await restarted.ask("exportConfiguration");
      expect(exported.body[section]).toHaveLength(COUNT);
    });
  }

  it("has a row of the audit log for each label", async () => {
    const rig = await Rig.open();
    await load(rig, { labels: many(COUNT, (index) => ({ service_id: `service-${index}`, key: "team", value: "payments" })) });
    expect(auditRows(rig)).toBe(COUNT);
  });

  it("takes as many entries as there is room for and says which it refused", async () => {
    const rig = await Rig.open();
    const labels = many(LABELS_PER_SERVICE_MAX + 2, (index) => ({ service_id: "checkout", key: `key-${index}`, value: "a" }));
    const { body } = await load(rig, { labels });
    expect(body.sections.labels).toEqual({ created: LABELS_PER_SERVICE_MAX, changed: 0, unchanged: 0, refused: 2 });
    expect(body.problems.map(({ index }: { index: number }) => index)).toEqual([LABELS_PER_SERVICE_MAX, LABELS_PER_SERVICE_MAX + 1]);
  });

  it("takes the last of two entries of one place", async () => {
    const rig = await Rig.open();
    const label = { service_id: "checkout", key: "team", value: "a" };
    const { body } = await load(rig, { labels: [label, { ...label, value: "b" }, { ...label, value: "b" }] });
    expect(body.sections.labels).toEqual({ created: 1, changed: 1, unchanged: 1, refused: 0 });
    expect((await rig.ask("labels")).body.labels).toMatchObject([{ value: "b" }]);
  });

  it("takes no more thresholds than engines have room for, and the other settings", async () => {
    const rig = await Rig.open();
    const settings = many(40, (index) => ({ service_id: `service-${index}`, z_threshold: 2 + index / 10 }));
    const { body } = await load(rig, { detection_settings: settings });
    const { created, refused } = body.sections.detection_settings;
    expect(created + refused).toBe(40);
    expect(body.problems[0].message).toContain("thresholds that can be in use at once");
    const { body: exported } = await rig.ask("exportConfiguration");
    expect(exported.detection_settings).toHaveLength(created);
  });
});
