// A webhook as the fields of its form.
import { describe, expect, it } from "vitest";
import { initialWebhook, patternText, webhookBody } from "../../../../src/web/view/webhook-form-body.ts";

const PATTERN = {
  service_id_regex: null,
  metric_name_regex: null,
  min_anomaly_score: 0.7,
  root_cause_category: null,
  environments: ["production"],
};
const WEBHOOK = {
  name: "tickets",
  url: "https://tickets.example.com/***",
  method: "PUT",
  headers: { "X-Team": "***" },
  pattern: PATTERN,
  transform: { type: "jq", expression: ".service_id" },
  retry: { max_attempts: 3, initial_delay_ms: 10, backoff_multiplier: 2, max_delay_ms: 100 },
  secret: "***",
  enabled: false,
};

describe("the form of a webhook", () => {
  it("gives back a webhook that nobody has changed as it is", () => {
    const { min_anomaly_score, environments } = PATTERN;
    expect(webhookBody(initialWebhook(WEBHOOK), WEBHOOK)).toEqual({ body: { ...WEBHOOK, pattern: { min_anomaly_score, environments } } });
  });

  it("leaves out what is empty", () => {
    const body = { name: "a", url: "https://b", headers: {}, pattern: {}, retry: {}, enabled: true };
    expect(webhookBody({ ...initialWebhook(), name: "a", url: " https://b " })).toEqual({ body });
  });

  it.each([
    [{ url: "" }, "name and address"],
    [{ headers: "X-Team: payments" }, "headers"],
    [{ min_anomaly_score: "much" }, "score"],
    [{ max_attempts: "x" }, "attempts"],
    [{ transform: "python", program: " " }, "program"],
  ])("says what is wrong with %j", (change, fault) => {
    expect(webhookBody({ ...initialWebhook(WEBHOOK), ...change })).toMatchObject({ fault: expect.stringContaining(fault) });
  });

  it("tells a pattern in a line", () => {
    expect(patternText(PATTERN)).toBe("score > 0.7, environment in production");
    expect(patternText({ ...PATTERN, min_anomaly_score: null, environments: null })).toBe("all events");
  });
});
