// Labels of an alert are names that its sender has chosen.
import { describe, expect, it } from "vitest";
import { RECORD_ATTRIBUTES_BYTES_MAX } from "../../../../src/core/config/body-limits.ts";
import { NAME_BYTES_MAX, VALUE_BYTES_MAX } from "../../../../src/core/config/limits.ts";
import { alertFingerprint, ofOpenEpisodes, webhookEpisode } from "../../../../src/domain/anomaly/webhook-alert.ts";

it.each(["constructor", "toString", "__proto__", "nothing known"])("an alert of severity %s is a low one", (severity) => {
  const labels = { alertname: "Disk", severity };
  const { z } = webhookEpisode("default", "alertmanager", { status: "firing", labels, annotations: {} }, 1_000);
  const { z: low } = webhookEpisode("default", "alertmanager", { status: "firing", labels: { alertname: "Disk" }, annotations: {} }, 1_000);
  expect(z).toBe(low);
  expect(Number.isFinite(z)).toBe(true);
});

describe("labels of an alert", () => {
  const alertOf = (labels: Record<string, string>) => ({ status: "firing", labels, annotations: {} }) as const;

  it("are kept as far as a record keeps attributes, and more of them tell it apart", () => {
    const text = "x".repeat(8_000);
    const labels = Object.fromEntries(Array.from({ length: 900 }, (_, index) => [`label_${index}`, text]));
    const frame = webhookEpisode("default", "ops", alertOf(labels), 1_000);
    const kept = Object.keys(frame.attributes);
    expect(kept).toEqual(Object.keys(labels).slice(0, kept.length));
    expect(kept).toHaveLength(Math.floor(RECORD_ATTRIBUTES_BYTES_MAX / 8_008));
    const other = webhookEpisode("default", "ops", alertOf({ ...labels, label_130: "y" }), 1_000);
    expect(other.episodeId).not.toBe(frame.episodeId);
  });
});

const episode = (labels: Record<string, string>, summary = "it fires") =>
  webhookEpisode("default", "alertmanager", { status: "firing", labels, annotations: { summary } }, 1_000);

it("an alert whose names no key can hold is an anomaly with mended names", () => {
  const labels = { alertname: "Disk\ud800", job: "\0".repeat(2 * NAME_BYTES_MAX), environment: "a\nb", "team\0": "x\udfff" };
  expect(episode(labels, `${"x".repeat(999)}😀`)).toMatchObject({
    metricName: "Disk\ufffd",
    serviceId: "\ufffd".repeat(Math.floor(NAME_BYTES_MAX / 3)),
    environment: "a\ufffdb",
    attributes: { "team\ufffd": "x\ufffd" },
    explanation: `${"x".repeat(999)}\ufffd`,
  });
});

it("labels that are too long are cut", () => {
  const { runbook } = episode({ alertname: "Disk", runbook: "é".repeat(VALUE_BYTES_MAX) }).attributes;
  expect(runbook).toBe("é".repeat(VALUE_BYTES_MAX / 2));
});

it("alerts that differ in what is mended are two, and the end of one is its own", () => {
  const [one, other] = [episode({ job: "a\0" }), episode({ job: "a\n" })];
  expect(one.serviceId).toBe(other.serviceId);
  expect(one.episodeId).not.toBe(other.episodeId);
  const ended = webhookEpisode("default", "alertmanager", { status: "resolved", labels: { job: "a\0" }, annotations: {} }, 2_000);
  expect(ended.episodeId).toBe(one.episodeId);
});

describe("an alert and what is open under its fingerprint", () => {
  const NOW_MS = 10_000_000;
  const at = (ms: number) => new Date(ms).toISOString();
  const LABELS = { alertname: "Down", service: "s" };
  const sent = (status: "firing" | "resolved", startsMs: number, endsAt?: string) => {
    const alert = { status, labels: LABELS, annotations: {}, startsAt: at(startsMs), endsAt };
    return { alert, frame: webhookEpisode("default", "am", alert, NOW_MS) };
  };
  const open = sent("firing", 5_000_000).frame;
  const ids = ({ alert, frame }: ReturnType<typeof sent>, others = [open]) =>
    ofOpenEpisodes(frame, alert, others).map(({ episodeId }) => episodeId);

  it("an end ends it, whatever start it was sent with", () => {
    for (const startsMs of [4_000_000, 5_000_000, 6_000_000]) {
      expect(ids(sent("resolved", startsMs, at(7_000_000)))).toEqual([open.episodeId]);
      expect(ids(sent("resolved", startsMs))).toEqual([open.episodeId]);
      expect(ids(sent("resolved", startsMs, "0001-01-01T00:00:00Z"))).toEqual([open.episodeId]);
    }
  });

  it("the end of an older episode ends nothing of it", () => {
    const old = sent("resolved", 1_000_000, at(2_000_000));
    expect(ids(old)).toEqual([old.frame.episodeId]);
    expect(ids(old)).not.toContain(open.episodeId);
  });

  it("a repeat with the start of another server is one of it", () => {
    expect(ids(sent("firing", 6_000_000))).toEqual([open.episodeId]);
    expect(ofOpenEpisodes(sent("firing", 6_000_000).frame, sent("firing", 6_000_000).alert, [open])[0]?.startedAtMs).toBe(5_000_000);
  });

  it("an end ends all of those that older versions have let open together", () => {
    const other = sent("firing", 5_500_000).frame;
    expect(ids(sent("resolved", 6_000_000, at(7_000_000)), [open, other])).toEqual([open.episodeId, other.episodeId]);
  });

  it("labels that tell the servers of a pair apart are no part of it", () => {
    const of = (labels: Record<string, string>) => alertFingerprint("default", labels);
    expect(of({ ...LABELS, replica: "a" })).toBe(of({ replica: "b", ...LABELS }));
    expect(of({ ...LABELS, instance: "a" })).not.toBe(of(LABELS));
    expect(alertFingerprint("other", LABELS)).not.toBe(of(LABELS));
  });

  it("alerts are told apart by half a megabyte of their labels, so that no thread is held by more", () => {
    const long = Object.fromEntries(Array.from({ length: 900 }, (_, i) => [`l${1_000 + i}`, "x".repeat(8_000)]));
    const of = (labels: Record<string, string>) => alertFingerprint("default", { ...long, ...labels });
    expect(of({ alertname: "A" })).not.toBe(of({ alertname: "B" }));
    expect(of({ z: "1" })).toBe(of({ z: "2" }));
  });
});
