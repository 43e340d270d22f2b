import { describe, expect, it } from "vitest";
import { LabelIntake } from "../../../../src/actors/engine/unit/label-intake.ts";
import type { WorkUnit } from "../../../../src/actors/engine/unit/work-unit.ts";
import { LABELS_REPORTED_MAX } from "../../../../src/core/config/declaration-limits.ts";
import { isLabelKey, labelsOfAttributes, labelsOfSeries } from "../../../../src/domain/labels/service-label.ts";
import { FieldExclusions } from "../../../../src/domain/series/field-exclusions.ts";
import { isName } from "../../../../src/domain/series/name-rule.ts";

describe("labels in telemetry", () => {
  const cases: Array<[title: string, attributes: Record<string, string | number | null>, expected: object | undefined]> = [
    ["nothing", {}, undefined],
    ["other attributes", { region: "eu", "service.name": "a", "team.name": "x" }, undefined],
    ["team", { team: "a" }, { team: "a" }],
    ["service.team", { "service.team": "a" }, { team: "a" }],
    ["k8s.pod.label.team", { "k8s.pod.label.team": "a" }, { team: "a" }],
    ["team ahead of the others", { "k8s.pod.label.team": "c", "service.team": "b", team: "a" }, { team: "a" }],
    ["service.team ahead of the pod's", { "k8s.pod.label.team": "c", "service.team": "b" }, { team: "b" }],
    ["owner", { owner: "a" }, { owner: "a" }],
    ["service.owner ahead of owner", { owner: "b", "service.owner": "a" }, { owner: "a" }],
    ["both keys", { owner: "b", team: "a" }, { team: "a", owner: "b" }],
    ["spaces around", { team: "  a b " }, { team: "a b" }],
    ["an empty one, which says nothing", { team: " ", "service.team": "b" }, { team: "b" }],
    ["one that is no text", { team: 5, "service.team": null, owner: "x" }, { owner: "x" }],
    ["one with a line break, which could end up in a header", { team: "a\r\nBcc: b", "service.team": "c" }, { team: "c" }],
    ["one that is too long", { team: "x".repeat(1025) }, undefined],
  ];
  it.each(cases)("%s", (_title, attributes, expected) => expect(labelsOfAttributes(attributes)).toEqual(expected));

  it("are attributes of the object itself, not of its prototype", () => {
    expect(labelsOfAttributes(Object.create({ team: "a" }))).toBeUndefined();
    expect(labelsOfAttributes(JSON.parse('{"__proto__": {"team": "a"}}'))).toBeUndefined();
  });

  it("come from the series of a Prometheus target alone, with dots or underscores", () => {
    for (const name of ["up", "target_info"]) {
      expect(labelsOfSeries(name, { team: "a", instance: "i" })).toEqual({ team: "a" });
      expect(labelsOfSeries(name, { service_team: "b", service_owner: "c" })).toEqual({ team: "b", owner: "c" });
      expect(labelsOfSeries(name, { k8s_pod_label_team: "d" })).toEqual({ team: "d" });
    }
    expect(labelsOfSeries("pull_requests_open", { team: "a" })).toBeUndefined();
  });
});

describe("keys and texts of labels", () => {
  it.each(["team", "owner", "cost-center", "a.b/c_d", "__proto__", "x".repeat(128)])("%s may be a key", (key) =>
    expect(isLabelKey(key)).toBe(true),
  );
  it.each(["", "1a", "a b", "a\n", "ä", "-a", "a=b", "x".repeat(129)])("%j may not", (key) => expect(isLabelKey(key)).toBe(false));
  it.each(["a", "Team Ä 日本", "a/b", "../x", "x".repeat(1024)])("%s may be a text", (text) => expect(isName(text)).toBe(true));
  it.each(["", "a\nb", "a\u0000", "\u2028", "\ud800", "\u007f", "é".repeat(513)])("%j may not be one", (text) =>
    expect(isName(text)).toBe(false),
  );
});

describe("what an ingest tells of labels", () => {
  const rig = (exclusions = "") => {
    const reported: unknown[] = [];
    const unit = { addServiceLabels: (labels: unknown) => void reported.push(labels) } as unknown as WorkUnit;
    return { intake: new LabelIntake(new FieldExclusions(exclusions)), unit, reported };
  };

  it("is told once, key by key, and again when it changes", () => {
    const { intake, unit, reported } = rig();
    for (const attributes of [{ team: "a" }, { team: "a" }, { owner: "o" }, { team: "a", owner: "o" }, { team: "b", owner: "o" }, {}])
      intake.takeAttributes("t", "s", attributes, unit);
    intake.takeAttributes("t", "other", { team: "b" }, unit);
    intake.takeAttributes("u", "s", { team: "b" }, unit);
    expect(reported).toEqual([
      { tenant: "t", serviceId: "s", labels: { team: "a" } },
      { tenant: "t", serviceId: "s", labels: { owner: "o" } },
      { tenant: "t", serviceId: "s", labels: { team: "b" } },
      { tenant: "t", serviceId: "other", labels: { team: "b" } },
      { tenant: "u", serviceId: "s", labels: { team: "b" } },
    ]);
  });

  it("is told again when the log did not take it, and not when it did", () => {
    const { intake, unit, reported } = rig();
    const attributes = { team: "a" };
    intake.takeAttributes("t", "s", attributes, unit);
    intake.saved();
    intake.forget();
    intake.takeAttributes("t", "s", attributes, unit);
    expect(reported).toHaveLength(1);
    intake.takeAttributes("t", "s", { team: "b" }, unit);
    intake.forget();
    intake.takeAttributes("t", "s", { team: "b" }, unit);
    expect(reported).toHaveLength(3);
  });

  it("holds nothing of fields that must not be stored, and no service whose name may not have labels", () => {
    const { intake, unit, reported } = rig("owner,service.team");
    intake.takeAttributes("t", "s", { owner: "jane", "service.team": "x" }, unit);
    intake.takeSeries("t", "s", "up", { owner: "jane" }, unit);
    intake.takeAttributes("t", "s\u0000", { team: "a" }, unit);
    expect(reported).toEqual([]);
  });

  it("is forgotten, and told again, where there are too many services to remember", () => {
    const { intake, unit, reported } = rig();
    for (let i = 0; i <= LABELS_REPORTED_MAX; i++) intake.takeAttributes("t", `s${i}`, { team: "a" }, unit);
    intake.takeAttributes("t", `s${LABELS_REPORTED_MAX}`, { team: "a" }, unit);
    expect(reported).toHaveLength(LABELS_REPORTED_MAX + 1);
    intake.takeAttributes("t", "s0", { team: "a" }, unit);
    expect(reported).toHaveLength(LABELS_REPORTED_MAX + 2);
  });
});
