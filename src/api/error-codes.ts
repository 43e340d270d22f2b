// Which errors an endpoint may answer: what follows from its access, query and body, and what its declaration adds.

import { groupBy } from "../core/collections/grouping.ts";
import { ownMember } from "../core/collections/own-member.ts";
import { VALIDATION_REASONS } from "../core/layout/counters.ts";
import type { Endpoint } from "./endpoint.ts";
import { ERROR_STATUS, type ErrorCode } from "./refusal.ts";

const OF_ANY_QUERY: readonly ErrorCode[] = ["bad_request", "unknown_parameter", "repeated_parameter"];
const OF_PARAMETERS: readonly ErrorCode[] = ["invalid_parameter", "missing_parameter"];
/** Error codes of parameters by their names. */
const OF_PARAMETER: Readonly<Record<string, ErrorCode>> = {
  limit: "invalid_limit",
  page_token: "invalid_page_token",
  since: "invalid_timestamp",
  until: "invalid_timestamp",
  attributes: "invalid_attributes",
  type: "invalid_type",
};
const OF_SCHEMA: readonly ErrorCode[] = [
  "invalid_json",
  "bad_request",
  "missing_field",
  "unknown_field",
  "invalid_field",
  "invalid_timestamp",
];
const OF_TELEMETRY: readonly ErrorCode[] = ["bad_request", "invalid_json", "invalid_protobuf", "batch_too_large", ...VALIDATION_REASONS];
const OF_ANY_BODY: readonly ErrorCode[] = ["request_timeout", "payload_too_large", "unsupported_media_type", "expectation_failed"];
/** A credential in the URL is a bad request; X-Tenant-ID may name a tenant that is not there. */
const OF_CREDENTIALS: readonly ErrorCode[] = ["bad_request", "unauthorized", "forbidden", "not_found", "rate_limit_exceeded"];

/** The codes by status, statuses ascending. Requests that are no HTTP, and methods that a path does not take, concern no endpoint. */
export function errorCodesOf(endpoint: Endpoint): ReadonlyMap<number, readonly ErrorCode[]> {
  const codes = new Set<ErrorCode>([...ofQuery(endpoint), ...ofBody(endpoint), ...(endpoint.errors ?? [])]);
  if (endpoint.access !== "public") for (const code of OF_CREDENTIALS) codes.add(code);
  if (endpoint.path.includes("{")) codes.add("not_found");
  if (endpoint.handledBy !== "front") for (const code of ["overloaded", "store_unavailable"] as const) codes.add(code);
  if (endpoint.handledBy === "coordinator") codes.add("internal_error");
  return byStatus(codes);
}

function ofQuery({ query, envelope }: Endpoint): ErrorCode[] {
  if (envelope === "prometheus") return Object.keys(query.shape).length > 0 ? ["bad_request", "unprocessable", "internal_error"] : [];
  const isStrict = !query.safeParse({ "": "" }).success;
  const names = Object.keys(query.shape);
  const own = names.flatMap((name) => ownMember(OF_PARAMETER, name) ?? []);
  return [...(isStrict ? OF_ANY_QUERY : []), ...(names.length > 0 ? OF_PARAMETERS : []), ...own];
}

function ofBody({ body, takes, envelope }: Endpoint): readonly ErrorCode[] {
  if (envelope === "prometheus") return takes === undefined ? [] : OF_ANY_BODY;
  if (body !== undefined) return [...OF_SCHEMA, ...OF_ANY_BODY];
  return takes === undefined ? [] : [...OF_TELEMETRY, ...OF_ANY_BODY];
}

function byStatus(codes: ReadonlySet<ErrorCode>): ReadonlyMap<number, readonly ErrorCode[]> {
  const ordered = [...codes].sort((a, b) => ERROR_STATUS[a] - ERROR_STATUS[b]);
  return groupBy(ordered, (code) => ERROR_STATUS[code]);
}
