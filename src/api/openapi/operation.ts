// One endpoint as an operation of OpenAPI 3.1.

import type { z } from "zod";
import { ownMember, setMember } from "../../core/collections/own-member.ts";
import { OBJECT_BODY_BYTES_MAX } from "../../core/config/body-limits.ts";
import { BODY_BYTES_MAX } from "../../core/config/limits.ts";
import type { Endpoint, MediaBody } from "../endpoint.ts";
import { JSON_TYPE } from "../error-answer.ts";
import { errorCodesOf } from "../error-codes.ts";
import { otlpDialect } from "../otlp-answer.ts";
import { errorTypeOf } from "../prometheus/prometheus-envelope.ts";
import type { ErrorCode } from "../refusal.ts";
import { ERROR, PROBLEM } from "../shapes/error.ts";
import { PROMETHEUS_FAILURE } from "../shapes/prometheus-answers.ts";
import { RPC_STATUS } from "../shapes/telemetry.ts";
import type { JsonObject, SchemaCollector } from "./json-schema.ts";

/** The operation; named schemas go to the collector. */
export function operationOf(endpoint: Endpoint, tag: string, schemas: SchemaCollector): JsonObject {
  const parameters = [...pathParameters(endpoint), ...queryParameters(endpoint, schemas), ...headerParameters(endpoint)];
  const requestBody = requestBodyOf(endpoint, schemas);
  return {
    operationId: endpoint.name,
    tags: [tag],
    summary: endpoint.summary,
    description: accessText(endpoint),
    "x-access": endpoint.access,
    security: securityOf(endpoint),
    ...(parameters.length > 0 && { parameters }),
    ...(requestBody !== undefined && { requestBody }),
    responses: responsesOf(endpoint, schemas),
  };
}

/** Who may call, in a sentence. */
function accessText({ access }: Endpoint): string {
  if (access === "public") return "Open to everybody.";
  if (access === "ingest")
    return "Without a credential while INGEST_AUTH is optional; else an API key of scope ingestion, readwrite or admin, or a token of a role from operator on.";
  const loopback = access === "viewer" || access === "operator" ? " Without a credential from this machine (READ_AUTH=loopback)." : "";
  return `Needs the role ${access}, or one above it.${loopback}`;
}

/** `{}` stands for no credential. Roles stand where OpenAPI 3.1 has them. */
function securityOf({ access }: Endpoint): JsonObject[] {
  if (access === "public") return [];
  const roles = access === "ingest" ? [] : [access];
  const withoutCredential = access === "ingest" || access === "viewer" || access === "operator" ? [{}] : [];
  return [...withoutCredential, { bearer: roles }, { apiKey: roles }];
}

/** Names in braces. */
export function pathParameterNames({ path }: Endpoint): string[] {
  return [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name as string);
}

function pathParameters(endpoint: Endpoint): JsonObject[] {
  return pathParameterNames(endpoint).map((name) => ({
    name,
    in: "path",
    required: true,
    description: ownMember(endpoint.parameters, name) ?? name,
    schema: { type: "string", minLength: 1 },
  }));
}

function queryParameters({ query }: Endpoint, schemas: SchemaCollector): JsonObject[] {
  const { properties = {}, required = [] } = schemas.input(query) as { properties?: Record<string, JsonObject>; required?: string[] };
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: "query",
    required: required.includes(name),
    ...(description !== undefined && { description }),
    schema,
  }));
}

function headerParameters({ headers = {} }: Endpoint): JsonObject[] {
  return Object.entries(headers).map(([name, description]) => ({ name, in: "header", description, schema: { type: "string" } }));
}

function requestBodyOf(endpoint: Endpoint, schemas: SchemaCollector): JsonObject | undefined {
  const { body, takes, bodyTypes = [JSON_TYPE], bodyBytesMax, bodyOptional, examples } = endpoint;
  if (takes !== undefined) {
    const description = `At most ${bodyBytesMax ?? BODY_BYTES_MAX} bytes as sent.`;
    return { required: true, description, content: contentOf(takes, (schema) => schemas.input(schema)) };
  }
  if (body === undefined) return undefined;
  const example = examples?.body;
  const described = { schema: schemas.input(body), ...(example !== undefined && { example }) };
  const content = Object.fromEntries(bodyTypes.map((mediaType) => [mediaType, described]));
  return { required: bodyOptional !== true, description: `At most ${bodyBytesMax ?? OBJECT_BODY_BYTES_MAX} bytes.`, content };
}

function contentOf(bodies: readonly MediaBody[], convert: (schema: NonNullable<MediaBody["schema"]>) => JsonObject): JsonObject {
  const entries = bodies.map(({ mediaType, holds, schema, example }) => {
    const described = schema === undefined ? { description: holds } : { ...convert(schema) };
    return [mediaType, { schema: described, ...(example !== undefined && { example }) }];
  });
  return Object.fromEntries(entries);
}

function responsesOf(endpoint: Endpoint, schemas: SchemaCollector): JsonObject {
  const responses: JsonObject = {};
  for (const [status, schema] of Object.entries(endpoint.responses))
    setMember(responses, status, answerOf(schema, endpoint.examples?.response, schemas));
  for (const [status, bodies] of Object.entries(endpoint.media ?? {})) {
    setMember(responses, status, { description: bodies[0]?.holds, content: contentOf(bodies, (schema) => schemas.output(schema)) });
  }
  for (const [status, codes] of errorCodesOf(endpoint))
    if (!Object.hasOwn(responses, status)) setMember(responses, String(status), errorOf(status, codes, endpoint, schemas));
  return responses;
}

/** An endpoint with several successes has one example: it stands where it fits. */
function answerOf(schema: z.ZodType | null, example: unknown, schemas: SchemaCollector): JsonObject {
  if (schema === null) return { description: "Done; there is nothing to say." };
  const fits = example !== undefined && schema.safeParse(example).success;
  return { description: "Done.", content: { [JSON_TYPE]: { schema: schemas.output(schema), ...(fits && { example }) } } };
}

const HEADERS: Readonly<Record<number, JsonObject>> = {
  401: { "WWW-Authenticate": { description: "how to sign in", schema: { type: "string" } } },
  429: { "Retry-After": { description: "seconds to wait", schema: { type: "integer" } } },
  503: { "Retry-After": { description: "seconds to wait", schema: { type: "integer" } } },
};

function errorOf(status: number, codes: readonly ErrorCode[], endpoint: Endpoint, schemas: SchemaCollector): JsonObject {
  if (endpoint.envelope === "prometheus") return prometheusErrorOf(status, schemas);
  const isOtlp = otlpDialect(endpoint.path, undefined) !== undefined;
  const content = isOtlp
    ? { [JSON_TYPE]: { schema: schemas.output(RPC_STATUS) }, "application/x-protobuf": { schema: { description: "google.rpc.Status" } } }
    : { [JSON_TYPE]: { schema: schemas.output(ERROR) }, "application/problem+json": { schema: schemas.output(PROBLEM) } };
  const headers = HEADERS[status];
  return { description: codes.map((code) => `\`${code}\``).join(", "), ...(headers !== undefined && { headers }), content };
}

function prometheusErrorOf(status: number, schemas: SchemaCollector): JsonObject {
  const headers = HEADERS[status];
  const content = { [JSON_TYPE]: { schema: schemas.output(PROMETHEUS_FAILURE) } };
  return { description: `\`${errorTypeOf(status)}\``, ...(headers !== undefined && { headers }), content };
}
