import { describe, expect, it } from "vitest";
import { headerProblem, matchesSubject, type WebhookPattern } from "../../../../src/domain/webhooks/webhook.ts";

describe("a pattern", () => {
  const ALL: WebhookPattern = {
    serviceIdRegex: null,
    metricNameRegex: null,
    minAnomalyScore: null,
    rootCauseCategory: null,
    environments: null,
  };
  const SUBJECT = { serviceId: "my-cart", metricName: "latency_ms", environment: "production", score: 0.7 };
  const finds = (pattern: string, text: string) => new RegExp(pattern).test(text);
  it.each<[Partial<WebhookPattern>, boolean]>([
    [{}, true],
    [{ serviceIdRegex: "cart" }, true],
    [{ serviceIdRegex: "^cart" }, false],
    [{ metricNameRegex: "latency" }, true],
    [{ serviceIdRegex: "cart", metricNameRegex: "errors" }, false],
    [{ minAnomalyScore: 0.69 }, true],
    [{ minAnomalyScore: 0.7 }, false],
    [{ environments: ["staging", "production"] }, true],
    [{ environments: ["staging"] }, false],
    // Its category is asked for when analysis has named one.
    [{ rootCauseCategory: "external" }, true],
  ])("%j: %s", (change, matches) => {
    expect(matchesSubject({ ...ALL, ...change }, SUBJECT, finds)).toBe(matches);
  });
});

describe("a header", () => {
  it.each([
    ["Authorization", "Bearer x", null],
    ["X-Team", "a\tb", null],
    ["Host", "x", "is a header that the server sets itself"],
    ["content-type", "x", "is a header that the server sets itself"],
    ["Content-Encoding", "x", "is a header that the server sets itself"],
    ["Connection", "x", "is a header that the server sets itself"],
    ["Transfer-Encoding", "x", "is a header that the server sets itself"],
    ["webhook-id", "x", "is a header that the server sets itself"],
    ["a b", "x", "is no name of a header"],
    ["", "x", "is no name of a header"],
    ["X-A", "a\r\nX-B: c", "has a value with characters that no header may have"],
  ])("%s: %j is %s", (name, value, problem) => {
    expect(headerProblem(name, value)).toBe(problem);
  });
});
