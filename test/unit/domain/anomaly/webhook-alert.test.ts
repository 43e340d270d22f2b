// Labels of an alert are names that its sender has chosen.
import { describe, expect, it } from "vitest";
import { RECORD_ATTRIBUTES_BYTES_MAX } from "../../../../src/core/config/body-limits.ts";
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
