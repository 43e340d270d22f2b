// Labels of an alert are names that its sender has chosen.
import { expect, it } from "vitest";
import { webhookEpisode } from "../../../../src/domain/anomaly/webhook-alert.ts";

it.each(["constructor", "toString", "__proto__", "nothing known"])("an alert of severity %s is a low one", (severity) => {
  const labels = { alertname: "Disk", severity };
  const { z } = webhookEpisode("default", "alertmanager", { status: "firing", labels, annotations: {} }, 1_000);
  const { z: low } = webhookEpisode("default", "alertmanager", { status: "firing", labels: { alertname: "Disk" }, annotations: {} }, 1_000);
  expect(z).toBe(low);
  expect(Number.isFinite(z)).toBe(true);
});
