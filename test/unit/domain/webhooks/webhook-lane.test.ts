import { describe, expect, it } from "vitest";
import { headerProblem, matchesSubject, type WebhookPattern } from "../../../../src/domain/webhooks/webhook.ts";
import { WebhookLane } from "../../../../src/domain/webhooks/webhook-lane.ts";

function laneOf(count: number, dueAtMs = 0): WebhookLane<{ key: string; dueAtMs: number }> {
  const lane = new WebhookLane<{ key: string; dueAtMs: number }>();
  for (let i = 0; i < count; i++) lane.put({ key: String(i), dueAtMs });
  return lane;
}

describe("a webhook's lane", () => {
  it("has eight in flight, the oldest first, and the next once one is done", () => {
    const lane = laneOf(20);
    expect(lane.take(0).map(({ key }) => key)).toEqual(["0", "1", "2", "3", "4", "5", "6", "7"]);
    expect(lane.take(0)).toEqual([]);
    expect(lane.nextAtMs()).toBeNull();
    lane.done(true);
    expect(lane.take(0).map(({ key }) => key)).toEqual(["8"]);
  });

  it("has one in flight after twenty failures in a row, and eight again after a success", () => {
    const lane = laneOf(100);
    for (let failures = 0; failures < 20; ) {
      const taken = lane.take(0);
      for (const event of taken) {
        lane.done(false);
        lane.put(event);
        failures++;
      }
    }
    expect(lane.take(0)).toHaveLength(1);
    expect(lane.take(0)).toEqual([]);
    lane.done(false);
    expect(lane.take(0)).toHaveLength(1);
    lane.done(true);
    expect(lane.take(0)).toHaveLength(8);
  });

  it("keeps no other from leaving for one that waits for its time, and says when that is", () => {
    const lane = laneOf(1, 5_000);
    lane.put({ key: "now", dueAtMs: 0 });
    expect(lane.take(1_000).map(({ key }) => key)).toEqual(["now"]);
    expect(lane.nextAtMs()).toBe(5_000);
    lane.done(true);
    expect(lane.isIdle).toBe(false);
    expect(lane.take(5_000)).toHaveLength(1);
    lane.done(true);
    expect(lane.isIdle).toBe(true);
  });
});

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
