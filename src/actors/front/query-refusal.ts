// The parameters of what the front and the engines answer; the coordinator parses those of its own.
import type { Endpoint } from "../../api/endpoint.ts";
import { ANY_QUERY } from "../../api/endpoints/query-shapes.ts";
import type { EndpointName } from "../../api/endpoints.ts";
import { parseQuery, splitQuery } from "../../api/query-parsing.ts";
import type { Refusal } from "../../api/refusal.ts";

/** Why a query of an endpoint that takes no parameters, or any, is refused; undefined where it is not. */
export function refuseQuery({ name, query: schema }: Endpoint, query: string): Refusal | undefined {
  if (query === "" || schema === ANY_QUERY) return undefined;
  const split = splitQuery(query);
  if (!split.ok) return split.refusal;
  const parsed = parseQuery(name as EndpointName, split.value);
  return parsed.ok ? undefined : parsed.refusal;
}
