// Values of a finding, which a sender of telemetry chooses, end no quotation, no line, no part of a path.
import { describe, expect, test } from "vitest";
import { requestOf, shownAnswer, shownRequest } from "../../../../src/domain/runbooks/rendered-step.ts";
import { matchesRunbook, type Runbook } from "../../../../src/domain/runbooks/runbook.ts";
import { placeOfBody, rendered, unknownPlaceholder } from "../../../../src/domain/runbooks/template.ts";

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
    expect(placeOfBody(body)).toBe("json");
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
