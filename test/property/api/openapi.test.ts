/** The OpenAPI document says what validates: parameters and bodies that fit its schemas are taken, those that break one rule of them are refused. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseBody } from "../../../src/api/body-parsing.ts";
import type { Endpoint } from "../../../src/api/endpoint.ts";
import { ENDPOINTS, type EndpointName } from "../../../src/api/endpoints.ts";
import { openApiDocument } from "../../../src/api/openapi/document.ts";
import { parseQuery } from "../../../src/api/query-parsing.ts";
import { isRefusal, judgeRecord } from "../../../src/domain/series/telemetry-record.ts";
import { breaking, fitting, type RequestSchema } from "../../support/schema-arbitrary.ts";

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly schema: RequestSchema;
}
interface Operation {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: RequestSchema }>> };
}

const RUNS = { numRuns: 60 };
const making = openApiDocument("1.0.0");
let made = making.next();
while (made.done !== true) made = making.next();
const document = made.value as {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, RequestSchema> };
};
const operationOf = ({ method, path }: Endpoint) => document.paths[path]?.[method.toLowerCase()] as Operation;
const queryOf = (endpoint: Endpoint) => (operationOf(endpoint).parameters ?? []).filter((parameter) => parameter.in === "query");
const textOf = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));

/** A page token is sealed: what fits as a text is refused where it is read. */
const read = (endpoint: Endpoint, query: Readonly<Record<string, unknown>>) => {
  const texts = Object.fromEntries(Object.entries(query).map(([name, value]) => [name, textOf(value)]));
  return parseQuery(endpoint.name as EndpointName, texts);
};

const queried: readonly Endpoint[] = ENDPOINTS.filter((endpoint) => queryOf(endpoint).length > 0);

/** Prometheus' API passes over what it does not know, as Prometheus does: dashboards send parameters of others. */
describe.each(queried)("the query of $method $path", (endpoint) => {
  const parameters = queryOf(endpoint);
  const query = fc.record(Object.fromEntries(parameters.map(({ name, schema }) => [name, fitting(schema)])), {
    requiredKeys: parameters.filter(({ required }) => required).map(({ name }) => name),
  });

  it("is taken where it fits", () => {
    fc.assert(
      fc.property(query, (given) => void expect(read(endpoint, given)).toMatchObject({ ok: true })),
      RUNS,
    );
  });

  const rules = parameters.flatMap(({ name, schema }) =>
    breaking(schema)
      .filter(([rule]) => rule !== "type" || !isFreeText(schema))
      .map(([rule, value]) => ({ name, rule, value })),
  );
  it.each(rules)("is refused for $name that breaks $rule", ({ name, value }) => {
    const [sample] = fc.sample(query, { numRuns: 1, seed: 7 });
    expect(read(endpoint, { ...sample, [name]: value })).toMatchObject({ ok: false, refusal: { field: name } });
  });

  const takesMore = endpoint.path.startsWith("/prometheus/");
  it(`is ${takesMore ? "taken" : "refused"} with a parameter more, refused without one that is needed`, () => {
    const [sample] = fc.sample(query, { numRuns: 1, seed: 7 });
    const more = takesMore ? { ok: true } : { ok: false, refusal: { field: "nonsense" } };
    expect(read(endpoint, { ...sample, nonsense: "1" })).toMatchObject(more);
    for (const { name } of parameters.filter(({ required }) => required)) {
      const { [name]: _, ...rest } = sample as Record<string, unknown>;
      expect(read(endpoint, rest)).toMatchObject({ ok: false, refusal: { code: "missing_parameter", field: name } });
    }
  });
});

/** Everything in a query is text: any fits. */
function isFreeText({ type, format, pattern }: RequestSchema): boolean {
  return type === "string" && format === undefined && pattern === undefined;
}

/** Two metrics of a body are one, which no schema can refuse. */
function namesOneTwice(value: unknown): boolean {
  const { cause_metric: cause, effect_metric: effect } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return cause !== undefined && cause === effect;
}

const bodied: readonly Endpoint[] = ENDPOINTS.filter((endpoint) => "body" in endpoint && !("bodyTypes" in endpoint));

describe.each(bodied)("the body of $method $path", (endpoint) => {
  const schema = operationOf(endpoint).requestBody?.content["application/json"]?.schema as RequestSchema;
  const take = (value: unknown) => parseBody(endpoint.name as EndpointName, JSON.stringify(value));

  it("is taken where it fits", () => {
    fc.assert(
      fc.property(
        fitting(schema).filter((value) => !namesOneTwice(value)),
        (value) => void expect(take(value)).toMatchObject({ ok: true }),
      ),
      RUNS,
    );
  });

  const rules = Object.entries(schema.properties ?? {}).flatMap(([name, member]) =>
    breaking(member).map(([rule, value]) => ({ name, rule, value })),
  );
  it.each(rules)("is refused for $name that breaks $rule", ({ name, value }) => {
    const [sample] = fc.sample(fitting(schema), { numRuns: 1, seed: 7 }) as [Record<string, unknown>];
    const outcome = take({ ...sample, [name]: value });
    expect(outcome).toMatchObject({ ok: false });
    expect(!outcome.ok && (outcome.refusal.field ?? name)).toMatch(new RegExp(`^${name}`));
  });

  const strict = schema.additionalProperties === false ? [schema] : []; // a corrected dead letter may be any record
  it.each(strict)("is refused with a member more, or without one that is needed", () => {
    const [sample] = fc.sample(fitting(schema), { numRuns: 1, seed: 7 }) as [Record<string, unknown>];
    expect(take({ ...sample, nonsense: 1 })).toMatchObject({ ok: false, refusal: { code: "unknown_field", field: "nonsense" } });
    for (const name of schema.required ?? []) {
      const { [name]: _, ...rest } = sample;
      expect(take(rest)).toMatchObject({ ok: false, refusal: { code: "missing_field", field: name } });
    }
  });
});

describe("the schema of a telemetry record", () => {
  const { properties = {} } = document.components.schemas.TelemetryRecord as RequestSchema;
  const now = Date.now();
  const member = (name: string) => fitting(properties[name] as RequestSchema);
  const record = fc.record({
    service_id: member("service_id"),
    type: member("type"),
    metric_name: member("metric_name"),
    value: member("value"),
    body: fc.string({ minLength: 1, maxLength: 20 }),
    trace_id: fc.stringMatching(/^[0-9a-f]{32}$/),
    timestamp: fc.integer({ min: now - 80_000_000, max: now }).map((ms) => new Date(ms).toISOString()),
    attributes: fc.dictionary(
      fc.stringMatching(/^[a-z]{1,8}$/),
      fc.oneof(fc.string({ maxLength: 8 }), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean()),
      { maxKeys: 4 },
    ),
  });

  it("says what is taken", () => {
    fc.assert(
      fc.property(record, (given) => void expect(isRefusal(judgeRecord(given, now)) ? judgeRecord(given, now) : "taken").toBe("taken")),
      RUNS,
    );
  });

  const rules = ["service_id", "type", "metric_name", "value", "timestamp"].flatMap((name) =>
    breaking(properties[name] as RequestSchema).map(([rule, value]) => ({ name, rule, value })),
  );
  it.each(rules)("and what is refused: $name that breaks $rule", ({ name, value }) => {
    const [sample] = fc.sample(record, { numRuns: 1, seed: 7 });
    expect(judgeRecord({ ...sample, type: "metric", [name]: value }, now)).toMatchObject({ field: name });
  });
});
