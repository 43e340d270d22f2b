// Values of a finding, which a sender of telemetry chooses, end no quotation, no line, no part of a path.
import { describe, expect, test } from "vitest";
import { anomalyProblem, requestOf, shownAction, shownAnswer, shownRequest } from "../../../../src/domain/runbooks/rendered-step.ts";
import { matchesRunbook, type Runbook, type RunbookStep } from "../../../../src/domain/runbooks/runbook.ts";
import { keyOfBody, rendered, unknownPlaceholder } from "../../../../src/domain/runbooks/template.ts";

const EVIL = '", "admin": true, "x": "';

describe("placeholders", () => {
  test.each([
    ["url", "/a/b?c=d&e", "%2Fa%2Fb%3Fc%3Dd%26e"],
    ["url", "..", "--"],
    ["url", "a\ud800", "a%EF%BF%BD"],
    ["json", EVIL, '\\", \\"admin\\": true, \\"x\\": \\"'],
    ["header", "a\r\nX-Admin: 1", "a??X-Admin: 1"],
    ["text", "a\u0000b\nc", "a b\nc"],
  ] as const)("in %s: %j", (place, value, written) => {
    expect(rendered("<{{service_id}}>", { service_id: value }, place)).toBe(`<${written}>`);
  });

  test("in JSON leave it JSON", () => {
    const body = '{"service": "{{ service_id }}"}';
    expect(keyOfBody(body)).toBe("json");
    expect(JSON.parse(rendered(body, { service_id: EVIL }, "json"))).toEqual({ service: EVIL });
  });

  test("that are filled are not looked at again, and unknown ones are told", () => {
    expect(rendered("{{service_id}}", { service_id: "{{secrets.token}}", "secrets.token": "t" }, "text")).toBe("{{secrets.token}}");
    expect(unknownPlaceholder("{{service_id}} {{attributes.zone}} {{secrets.token}}", ["token"])).toBeUndefined();
    expect(unknownPlaceholder("{{secrets.other}}", ["token"])).toBe("secrets.other");
    expect(unknownPlaceholder("{{constructor}}", [])).toBe("constructor");
    expect(rendered("{{constructor}}{{__proto__}}", {}, "text")).toBe("");
  });
});

test("secrets are sent, and never shown: not in the request, and not in what a receiver says back", () => {
  const step = {
    name: "go",
    approvalRequired: false,
    type: "http",
    method: "POST",
    url: "https://example.com/{{secrets.token}}/{{service_id}}",
    headers: { Authorization: "Bearer {{secrets.token}}" },
    body: '{"key": "{{secrets.token}}"}',
    timeoutSeconds: 10,
    idempotent: false,
  } as const;
  const secret = 'top "secret"';
  const execution = { id: "e1", facts: { service_id: "shop" }, runbook: { secrets: { token: secret } } as unknown as Runbook };
  const sent = requestOf(execution, 0, step);
  expect(sent.url).toBe(`https://example.com/${encodeURIComponent(secret)}/shop`);
  expect(JSON.parse(sent.body ?? "")).toEqual({ key: secret });
  expect(sent.headers).toMatchObject({ Authorization: `Bearer ${secret}`, "idempotency-key": "e1-0", "content-type": "application/json" });
  const seen = shownRequest(execution, step);
  expect(seen).toEqual({ method: "POST", url: "https://example.com/***/shop", headers: { Authorization: "***" }, body: '{"key": "***"}' });
  const said = shownAnswer(`no: Bearer ${secret}, ${encodeURIComponent(secret)}, ${JSON.stringify(secret)}`, execution, step);
  expect(said).not.toMatch(/secret/);
});

describe("a run without an anomaly", () => {
  const step = { name: "go", approvalRequired: false } as const;
  const http = { ...step, type: "http", method: "POST", headers: {}, body: null, timeoutSeconds: 5, idempotent: false } as const;
  test("D15: shows its placeholders and says nothing of undefined", () => {
    expect(rendered("restart {{service_id}} of {{attributes.zone}} for {{runbook_id}}", { runbook_id: "r" }, "text")).toBe(
      "restart {{service_id}} of {{attributes.zone}} for r",
    );
    expect(rendered("{{attributes.zone}}|", { anomaly_id: "a" }, "text")).toBe("|");
    expect(shownAction({ ...step, type: "silence", seconds: 60, comment: "" }, {})).toBe(
      "silences the anomaly's service (this run has none) for 60 s",
    );
  });
  test("D15: does no step that needs one", () => {
    const problem = (one: RunbookStep, anomalyId = "") => anomalyProblem(one, { anomalyId });
    expect(problem({ ...http, url: "https://x/{{service_id}}" })).toMatch(/nothing for {{service_id}}.*anomaly_id/);
    expect(problem({ ...http, url: "https://x/", body: '{"m":"{{metric_name}}"}' })).toMatch(/{{metric_name}}/);
    expect(problem({ ...http, url: "https://x/", headers: { z: "{{attributes.zone}}" } })).toMatch(/{{attributes.zone}}/);
    expect(problem({ ...step, type: "notify", channels: ["chat"], message: "{{explanation}}" })).toMatch(/{{explanation}}/);
    expect(problem({ ...step, type: "silence", seconds: 60, comment: "" })).toMatch(/no service to silence/);
    expect(problem({ ...http, url: "https://x/{{runbook_id}}" })).toBeNull();
    expect(problem({ ...http, url: "https://x/{{service_id}}" }, "a")).toBeNull();
  });
});

describe("a runbook", () => {
  const match = {
    serviceIdRegex: "shop",
    metricNameRegex: null,
    minAnomalyScore: 0.7,
    rootCauseCategory: "external" as const,
    environments: null,
    severities: ["high" as const],
  };
  const subject = { serviceId: "shop-1", metricName: "m", environment: "", score: 0.7, severity: "high" as const, category: "external" };
  const finds = (pattern: string, value: string) => value.includes(pattern);
  test.each([
    [{}, true],
    [{ score: 0.69 }, false],
    [{ severity: "low" as const }, false],
    [{ serviceId: "cart" }, false],
    [{ category: null }, false],
    [{ score: null, severity: null, category: null }, true],
  ])("matches %j: %s", (change, expected) => {
    expect(matchesRunbook({ match }, { ...subject, ...change }, finds)).toBe(expected);
  });
});
