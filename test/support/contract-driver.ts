// Asks the endpoints of a running server by their declarations, and holds every answer against what its endpoint declares.
import { expect } from "vitest";
import type { z } from "zod";
import type { Endpoint } from "../../src/api/endpoint.ts";
import { ENDPOINTS } from "../../src/api/endpoints.ts";
import { errorCodesOf } from "../../src/api/error-codes.ts";
import { otlpDialect } from "../../src/api/otlp-answer.ts";
import { ERROR_STATUS, type ErrorCode } from "../../src/api/refusal.ts";
import { ERROR, PROBLEM } from "../../src/api/shapes/error.ts";
import { PROMETHEUS_FAILURE } from "../../src/api/shapes/prometheus-answers.ts";
import { RPC_STATUS } from "../../src/api/shapes/telemetry.ts";
import type { Answer, ServerClient } from "./server-client.ts";

type Texts = Readonly<Record<string, string>>;

/** What a call gives besides its endpoint. Bodies that are not bytes or text are sent as JSON. */
export interface CallOptions {
  readonly path?: Texts;
  readonly query?: Texts;
  readonly headers?: Texts;
  readonly body?: unknown;
  /** In place of the endpoint's own. */
  readonly method?: string;
}

/** Drives one server, and knows which endpoints have answered with success. */
export class ContractDriver {
  readonly exercised = new Set<string>();
  readonly #client: ServerClient;
  readonly #credential: Texts;

  /** `credential`: headers of a caller who may do everything that an endpoint asks for; sent where the endpoint is not public. */
  constructor(client: ServerClient, credential: Texts) {
    this.#client = client;
    this.#credential = credential;
  }

  /** Asks and checks; gives the body as JSON, or null where it is none. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  async call(name: string, status: number, options: CallOptions = {}): Promise<any> {
    const endpoint = declared(name);
    const answer = await this.send(endpoint, options);
    expect(answer.status, `${name}: ${answer.text.slice(0, 500)}`).toBe(status);
    checkAnswer(endpoint, answer);
    if (status < 300) this.exercised.add(name);
    return answer.headers["content-type"]?.startsWith("application/json") ? answer.json() : null;
  }

  /** Asks and checks nothing. */
  send(endpoint: Endpoint, { path = {}, query = {}, headers = {}, body, method }: CallOptions = {}): Promise<Answer> {
    const target = endpoint.path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => encodeURIComponent(path[name] ?? "none"));
    const search = new URLSearchParams(query).toString();
    const content = body === undefined || typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body);
    return this.#client.ask({
      method: method ?? endpoint.method,
      path: search === "" ? target : `${target}?${search}`,
      headers: {
        ...(endpoint.access === "public" ? {} : this.#credential),
        ...(content === undefined ? {} : { "Content-Type": "application/json" }),
        ...headers,
      },
      ...(content !== undefined && { body: content }),
    });
  }
}

/** An endpoint of the table. */
function declared(name: string): Endpoint {
  const endpoint = ENDPOINTS.find((each) => each.name === name);
  if (endpoint === undefined) throw new RangeError(`no endpoint is named ${name}`);
  return endpoint;
}

/** An answer is one of those that the endpoint declares, or an error that follows from its declaration. */
export function checkAnswer(endpoint: Endpoint, answer: Answer): void {
  const where = `${endpoint.method} ${endpoint.path} ${answer.status}: ${answer.text.slice(0, 500)}`;
  const schema = endpoint.responses[answer.status];
  const bodies = endpoint.media?.[answer.status];
  if (schema === null) expect(answer.text, where).toBe("");
  else if (schema !== undefined) {
    expect(answer.headers["content-type"], where).toBe("application/json");
    expectFit(schema, answer.json(), where);
  } else if (bodies !== undefined) {
    const body = bodies.find(({ mediaType }) => mediaType === answer.headers["content-type"]);
    expect(body, `${where} as ${answer.headers["content-type"]}`).toBeDefined();
    if (body?.schema !== undefined) expectFit(body.schema, answer.json(), where);
  } else checkError(endpoint, answer, where);
}

function checkError(endpoint: Endpoint, answer: Answer, where: string): void {
  const codes = errorCodesOf(endpoint).get(answer.status);
  const type = answer.headers["content-type"];
  expect(codes ?? [answer.status === 405 ? "method_not_allowed" : "not declared"], where).not.toContain("not declared");
  if (answer.status === 429 || answer.status === 503) expect(Number(answer.headers["retry-after"]), where).toBeGreaterThan(0);
  if (answer.status === 401 && endpoint.access !== "public") expect(answer.headers["www-authenticate"], where).toMatch(/^Bearer /);
  if (answer.status === 405) expect(answer.headers.allow, where).toContain(endpoint.method);
  if (otlpDialect(endpoint.path, undefined) !== undefined) expectFit(RPC_STATUS, answer.json(), where);
  else if (endpoint.envelope === "prometheus") expectFit(PROMETHEUS_FAILURE, answer.json(), where);
  else {
    expectFit(type === "application/problem+json" ? PROBLEM : ERROR, answer.json(), where);
    const code = answer.json().error as ErrorCode;
    expect(ERROR_STATUS[code], where).toBe(answer.status);
    if (answer.status !== 405) expect(codes, where).toContain(code);
  }
}

function expectFit(schema: z.ZodType, value: unknown, where: string): void {
  const parsed = schema.safeParse(value);
  expect(parsed.success ? [] : parsed.error.issues, where).toEqual([]);
}
