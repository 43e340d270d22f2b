// Labels of an alert are names that its sender has chosen.
import { describe, expect, it } from "vitest";
import { RECORD_ATTRIBUTES_BYTES_MAX } from "../../../../src/core/config/body-limits.ts";
import { NAME_BYTES_MAX, VALUE_BYTES_MAX } from "../../../../src/core/config/limits.ts";
import { webhookEpisode } from "../../../../src/domain/anomaly/webhook-alert.ts";

it.each(["constructor", "toString", "__proto__", "nothing known"])("an alert of severity %s is a low one", (severity) => {
  const labels = { alertname: "Disk", severity };
  const { z } = webhookEpisode("default", "alertmanager", { status: "firing", labels, annotations: {} }, 1_000);
  const { z: low } = webhookEpisode("default", "alertmanager", { status: "firing", labels: { alertname: "Disk" }, annotations: {} }, 1_000);
  expect(z).toBe(low);
  expect(Number.isFinite(z)).toBe(true);
});

describe("labels of an alert", () => {
  const alertOf = (labels: Record<string, string>) => ({ status: "firing", labels, annotations: {} }) as const;

  it("are kept as far as a record keeps attributes, and all of them tell it apart", () => {
    const text = "x".repeat(8_000);
    const labels = Object.fromEntries(Array.from({ length: 900 }, (_, index) => [`label_${index}`, text]));
    const frame = webhookEpisode("default", "ops", alertOf(labels), 1_000);
    const kept = Object.keys(frame.attributes);
    expect(kept).toEqual(Object.keys(labels).slice(0, kept.length));
    expect(kept).toHaveLength(Math.floor(RECORD_ATTRIBUTES_BYTES_MAX / 8_008));
    const other = webhookEpisode("default", "ops", alertOf({ ...labels, label_899: "y" }), 1_000);
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
