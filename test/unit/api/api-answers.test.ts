import { describe, expect, it } from "vitest";
import { ENDPOINTS, endpointNamed } from "../../../src/api/endpoints.ts";
import { acceptsProblem, completeError, errorAnswer, refusalBody } from "../../../src/api/error-answer.ts";
import { issuePageToken, type PageScope, readPageToken } from "../../../src/api/page-token.ts";
import { parseQuery, splitQuery } from "../../../src/api/query-parsing.ts";
import { ERROR_STATUS } from "../../../src/api/refusal.ts";
import { matchRoute } from "../../../src/api/route-match.ts";
import { VALIDATION_REASONS } from "../../../src/core/layout/counters.ts";

describe("routes", () => {
  it("finds every declared endpoint by its own path, and GET ones by HEAD", () => {
    for (const endpoint of ENDPOINTS) {
      const path = endpoint.path.replace(/\{\w+\}/, "a%20b");
      const [, name] = /\{(\w+)\}/.exec(endpoint.path) ?? [];
      expect(matchRoute(endpoint.method, path)).toEqual({ found: true, endpoint, path: name === undefined ? {} : { [name]: "a b" } });
      if (endpoint.method === "GET") expect(matchRoute("HEAD", path).found).toBe(true);
    }
  });

  it("has no two endpoints with one name or one method and path", () => {
    expect(new Set(ENDPOINTS.map(({ name }) => name)).size).toBe(ENDPOINTS.length);
    expect(new Set(ENDPOINTS.map(({ method, path }) => `${method} ${path}`)).size).toBe(ENDPOINTS.length);
  });

  const missing = (path: string) =>
    it(`does not find ${path}`, () => expect(matchRoute("GET", path)).toMatchObject({ found: false, refusal: { code: "not_found" } }));
  missing("/api/v1/anomalies/");
  missing("/api/v1/anomalies//");
  missing("/api/v1/anomalies/a/b");
  missing("/api/v1/anomalies/%zz");
  missing("/api/v1/Anomalies");
  missing("/api/v1/runbooks/");
  missing("");

  it.each([
    ["a NUL", "PUT", "/api/v1/users/alice%00", "user_id"],
    ["a line feed", "PUT", "/api/v1/routing/budgets/a%0Ab", "team"],
    ["too many bytes", "GET", `/api/v1/runbooks/${"a".repeat(1025)}`, "id"],
  ])("refuses an id of a path with %s, by its field", (_, method, path, field) => {
    expect(matchRoute(method, path)).toMatchObject({ found: false, refusal: { code: "invalid_parameter", field } });
  });

  it("answers 405 with the methods that are allowed", () => {
    expect(matchRoute("POST", "/api/v1/series")).toMatchObject({
      found: false,
      allow: "GET, HEAD",
      refusal: { code: "method_not_allowed" },
    });
    expect(matchRoute("GET", "/api/v1/telemetry")).toMatchObject({ found: false, allow: "POST" });
    expect(matchRoute("DELETE", "/api/v1/anomalies/x")).toMatchObject({ found: false, allow: "GET, HEAD, PATCH" });
  });

  it("leaves the methods that a trial of groups has not to a group of that name", () => {
    const path = "/api/v1/rule-groups/trial";
    expect(matchRoute("POST", path)).toMatchObject({ found: true, endpoint: { name: "tryRuleGroup" }, path: {} });
    const named = { GET: "ruleGroup", HEAD: "ruleGroup", PUT: "setRuleGroup", DELETE: "deleteRuleGroup" };
    for (const [method, name] of Object.entries(named)) {
      expect(matchRoute(method, path)).toMatchObject({ found: true, endpoint: { name }, path: { name: "trial" } });
    }
    expect(matchRoute("PATCH", path)).toMatchObject({ found: false, allow: "POST, GET, HEAD, PUT, DELETE" });
    expect(matchRoute("GET", "/api/v1/dlq/replay")).toMatchObject({ found: false, allow: "POST" });
  });

  it("finds what was built last of the contract", () => {
    expect(matchRoute("POST", "/api/v1/alerts/webhook")).toMatchObject({ found: true });
    expect(matchRoute("GET", "/sign-in")).toMatchObject({ found: true });
  });

  it("names an endpoint that does not exist", () => expect(() => endpointNamed("nope")).toThrow(/nope/));
});

describe("queries", () => {
  it("reads every parameter of the anomalies", () => {
    const given = splitQuery(
      "service_id=a%26b&since=2026-01-31T12:00:00Z&until=2026-01-31T13:00:00%2B01:00&min_score=0.5&limit=7&page_token=x.y",
    );
    expect(given.ok && parseQuery("anomalies", given.value)).toEqual({
      ok: true,
      value: {
        service_id: "a&b",
        since: Date.UTC(2026, 0, 31, 12),
        until: Date.UTC(2026, 0, 31, 12),
        min_score: 0.5,
        limit: 7,
        page_token: "x.y",
      },
    });
    expect(parseQuery("anomalies", {})).toEqual({ ok: true, value: { limit: 50, page_token: "" } });
    expect(parseQuery("seriesData", { service_id: "s", metric_name: "m" })).toMatchObject({ ok: true, value: { limit: 1000 } });
  });

  const refusedWith = (name: Parameters<typeof parseQuery>[0], query: Record<string, string>, code: string, field: string) =>
    it(`refuses ${JSON.stringify(query)} of ${name} with ${code}`, () => {
      const parsed = parseQuery(name, query);
      expect(parsed).toMatchObject({ ok: false, refusal: { code, field } });
      expect(!parsed.ok && parsed.refusal.message).toContain(field);
    });
  refusedWith("anomalies", { service: "x" }, "unknown_parameter", "service");
  refusedWith("anomalies", { limit: "1001" }, "invalid_limit", "limit");
  refusedWith("anomalies", { limit: "0" }, "invalid_limit", "limit");
  refusedWith("anomalies", { limit: "-1" }, "invalid_limit", "limit");
  refusedWith("anomalies", { limit: "1e2" }, "invalid_limit", "limit");
  refusedWith("anomalies", { limit: "" }, "invalid_limit", "limit");
  refusedWith("anomalies", { min_score: "1.01" }, "invalid_parameter", "min_score");
  refusedWith("anomalies", { min_score: "NaN" }, "invalid_parameter", "min_score");
  refusedWith("anomalies", { min_score: "0x1" }, "invalid_parameter", "min_score");
  refusedWith("anomalies", { since: "2026-02-30T00:00:00Z" }, "invalid_timestamp", "since");
  refusedWith("anomalies", { until: "2026" }, "invalid_timestamp", "until");
  refusedWith("anomalies", { service_id: "" }, "invalid_parameter", "service_id");
  refusedWith("records", { type: "trance" }, "invalid_type", "type");
  refusedWith("seriesData", { service_id: "s" }, "missing_parameter", "metric_name");
  refusedWith("seriesData", { service_id: "s", metric_name: "m", resolution: "5m" }, "invalid_parameter", "resolution");
  refusedWith("seriesData", { service_id: "s", metric_name: "m", attributes: "[1]" }, "invalid_attributes", "attributes");
  refusedWith("seriesData", { service_id: "s", metric_name: "m", attributes: "{" }, "invalid_attributes", "attributes");
  refusedWith(
    "seriesData",
    { service_id: "s", metric_name: "m", attributes: `{"a":${"[".repeat(5000)}${"]".repeat(5000)}}` },
    "invalid_attributes",
    "attributes",
  );
  refusedWith("status", { verbose: "1" }, "unknown_parameter", "verbose");
  refusedWith("status", { ["__proto__x"]: "1" }, "unknown_parameter", "__proto__x");

  it("makes attributes canonical and advises on a plus sign that was not escaped", () => {
    expect(parseQuery("seriesData", { service_id: "s", metric_name: "m", attributes: '{"b":1,"a":{"d":2,"c":3}}' })).toMatchObject({
      value: { attributes: '{"a":{"c":3,"d":2},"b":1}' },
    });
    const parsed = parseQuery("anomalies", { since: "2026-01-31T12:00:00 01:00" });
    expect(!parsed.ok && parsed.refusal.message).toContain("%2B");
  });

  it("takes any parameter on health probes and each parameter once elsewhere", () => {
    expect(parseQuery("healthz", { t: "123" })).toEqual({ ok: true, value: {} });
    expect(splitQuery("a=1&a=2")).toMatchObject({ ok: false, refusal: { code: "repeated_parameter", field: "a" } });
    expect(splitQuery(Array.from({ length: 65 }, (_, i) => `p${i}=`).join("&"))).toMatchObject({ ok: false });
    const odd = splitQuery("__proto__=x&constructor=y");
    expect(odd.ok && Object.keys(odd.value)).toEqual(["__proto__", "constructor"]);
  });
});

describe("error answers", () => {
  it("has a status for every reason by which a record is refused", () => {
    for (const reason of VALIDATION_REASONS) expect(ERROR_STATUS[reason]).toBeGreaterThanOrEqual(400);
  });

  it("says what the contract names, with field and index where they apply", () => {
    const answer = errorAnswer(
      { code: "missing_service_id", message: "service_id is absent", field: "service_id", index: 3 },
      "r-1",
      "*/*",
    );
    expect(answer).toMatchObject({ status: 400, contentType: "application/json" });
    expect(JSON.parse(answer.body)).toEqual({
      status: "error",
      error: "missing_service_id",
      message: "service_id is absent",
      request_id: "r-1",
      field: "service_id",
      index: 3,
    });
    expect(JSON.parse(errorAnswer({ code: "overloaded", message: "m" }, "r", undefined).body)).toEqual({
      status: "error",
      error: "overloaded",
      message: "m",
      request_id: "r",
    });
  });

  it("completes what the coordinator began, as problem details where asked", () => {
    const answer = completeError(
      refusalBody({ code: "not_found", message: "gone", field: "id" }),
      "r-2",
      "application/problem+json, application/json;q=0.5",
    );
    expect(answer).toMatchObject({ status: 404, contentType: "application/problem+json" });
    expect(JSON.parse(answer.body)).toEqual({
      type: "about:blank",
      title: "Not Found",
      status: 404,
      detail: "gone",
      error: "not_found",
      request_id: "r-2",
      field: "id",
    });
  });

  const accepts = (accept: string | undefined, expected: boolean) =>
    it(`${expected ? "sends" : "does not send"} a problem for ${accept}`, () => expect(acceptsProblem(accept)).toBe(expected));
  accepts(undefined, false);
  accepts("*/*", false);
  accepts("application/json", false);
  accepts("application/problem+json", true);
  accepts("Application/Problem+JSON; charset=utf-8", true);
  accepts("application/json, application/problem+json", true);
  accepts("application/json, application/problem+json;q=0.2", false);
  accepts("application/problem+json;q=0", false);
});

describe("page tokens", () => {
  const secret = new Uint8Array(32).fill(7);
  const scope: PageScope = { tenant: "a", endpoint: "anomalies", filters: { service_id: "s", since: 1, until: undefined } };
  const token = issuePageToken(secret, scope, [1234.5, "ff"]);

  it("opens for its own scope, in any order of filters, and is nothing when empty", () => {
    expect(readPageToken(secret, scope, token)).toEqual({ ok: true, value: [1234.5, "ff"] });
    expect(readPageToken(secret, { ...scope, filters: { since: 1, service_id: "s" } }, token)).toEqual({ ok: true, value: [1234.5, "ff"] });
    expect(readPageToken(secret, scope, "")).toEqual({ ok: true, value: undefined });
  });

  const refuses = (what: string, given: string, by: PageScope = scope, key = secret) =>
    it(`refuses ${what}`, () =>
      expect(readPageToken(key, by, given)).toMatchObject({ ok: false, refusal: { code: "invalid_page_token", field: "page_token" } }));
  refuses("another tenant's", token, { ...scope, tenant: "b" });
  refuses("another list's", token, { ...scope, endpoint: "records" });
  refuses("other filters", token, { ...scope, filters: { service_id: "t", since: 1 } });
  refuses("one filter less", token, { ...scope, filters: { service_id: "s" } });
  refuses("another server's", token, scope, new Uint8Array(32).fill(8));
  refuses("rubbish", "rubbish");
  refuses("a dot", ".");
  refuses("a token that goes on", `${token}.x`);
  refuses("a token with padding", `${token}=`);

  it("refuses every single changed character", () => {
    for (let at = 0; at < token.length; at++) {
      const changed = `${token.slice(0, at)}${token[at] === "A" ? "B" : "A"}${token.slice(at + 1)}`;
      expect(readPageToken(secret, scope, changed).ok).toBe(false);
    }
  });
});
