// Finds the endpoint of a request: exact paths by one look-up, paths with parameters by segments. A trailing slash is another path.

import { groupBy } from "../core/collections/grouping.ts";
import { ownMember, setMember } from "../core/collections/own-member.ts";
import { flawText, type NameFlaw, nameFlaw } from "../domain/series/name-rule.ts";
import type { Endpoint } from "./endpoint.ts";
import { ENDPOINTS } from "./endpoints.ts";
import { type Refusal, shown } from "./refusal.ts";

/** The endpoint and its path parameters, decoded; or why there is none. `allow` is the value of the Allow header of a 405. */
export type RouteMatch = Route | { readonly found: false; readonly refusal: Refusal; readonly allow?: string };

/** An endpoint with the parameters of its path. */
export interface Route {
  readonly found: true;
  readonly endpoint: Endpoint;
  readonly path: Readonly<Record<string, string>>;
}

interface Pattern {
  readonly segments: readonly string[];
  readonly endpoints: readonly Endpoint[];
}

const EXACT: ReadonlyMap<string, readonly Endpoint[]> = groupBy(
  ENDPOINTS.filter((endpoint) => !hasParameters(endpoint)),
  ({ path }) => path,
);
const PATTERNS: readonly Pattern[] = [...groupBy(ENDPOINTS.filter(hasParameters), ({ path }) => path)].map(([path, endpoints]) => ({
  segments: path.split("/"),
  endpoints,
}));
const NO_PARAMETERS = Object.freeze({});
const NO_ROUTES: readonly Route[] = [];
/** Routes of exact paths, made once. */
const EXACT_ROUTES: ReadonlyMap<string, readonly Route[]> = new Map(
  [...EXACT].map(([path, endpoints]) => [path, endpoints.map((endpoint): Route => ({ found: true, endpoint, path: NO_PARAMETERS }))]),
);

/** Matches a method and a path without its query, not decoded. HEAD is answered as GET. */
export function matchRoute(method: string, path: string): RouteMatch {
  const known = routeIn(EXACT_ROUTES.get(path) ?? NO_ROUTES, method);
  if (known !== undefined) return known;
  const exact = EXACT.get(path) ?? [];
  if (exact.length > 0 && !isOfName(method, exact)) return chooseMethod(method, path, exact, NO_PARAMETERS);
  const segments = path.split("/");
  for (const pattern of PATTERNS) {
    const parameters = matchSegments(pattern.segments, segments);
    if (parameters === undefined) continue;
    const flawed = Object.keys(parameters).find((name) => nameFlaw(ownMember(parameters, name) as string) !== undefined);
    return flawed === undefined
      ? chooseMethod(method, path, [...exact, ...pattern.endpoints], parameters)
      : refuseParameter(flawed, ownMember(parameters, flawed) as string);
  }
  return {
    found: false,
    refusal: {
      code: "not_found",
      message: `no endpoint has the path ${shown(path)}; paths are exact and case-sensitive, without a slash at the end`,
    },
  };
}

function routeIn(routes: readonly Route[], method: string): Route | undefined {
  const wanted = endpointMethod(method);
  for (const route of routes) if (route.endpoint.method === wanted) return route;
  return undefined;
}

/** What a path names is stored under its name, and looked for by it. */
function refuseParameter(field: string, value: string): RouteMatch {
  const message = `${field} in the path ${flawText(nameFlaw(value) as NameFlaw)}; got ${shown(value)}`;
  return { found: false, refusal: { code: "invalid_parameter", message, field } };
}

/** Whether the path is rather that of what is named so: /api/v1/rule-groups/trial is a group's too. */
function isOfName(method: string, exact: readonly Endpoint[]): boolean {
  return exact.every((endpoint) => endpoint.isBesideNames === true && endpoint.method !== endpointMethod(method));
}

function endpointMethod(method: string): string {
  return method === "HEAD" ? "GET" : method;
}

function hasParameters(endpoint: Endpoint): boolean {
  return endpoint.path.includes("{");
}

function chooseMethod(
  method: string,
  path: string,
  endpoints: readonly Endpoint[],
  parameters: Readonly<Record<string, string>>,
): RouteMatch {
  const wanted = endpointMethod(method);
  const endpoint = endpoints.find((candidate) => candidate.method === wanted);
  if (endpoint !== undefined) return { found: true, endpoint, path: parameters };
  const allow = endpoints.map((candidate) => (candidate.method === "GET" ? "GET, HEAD" : candidate.method)).join(", ");
  const message = `${shown(path)} takes ${allow}, got ${shown(method)}`;
  return { found: false, refusal: { code: "method_not_allowed", message }, allow };
}

function matchSegments(pattern: readonly string[], input: readonly string[]): Readonly<Record<string, string>> | undefined {
  if (pattern.length !== input.length) return undefined;
  const parameters: Record<string, string> = {};
  for (const [index, expected] of pattern.entries()) {
    const segment = input[index] as string;
    if (!expected.startsWith("{")) {
      if (expected !== segment) return undefined;
      continue;
    }
    const value = decodeSegment(segment);
    if (value === undefined || value === "") return undefined;
    setMember(parameters, expected.slice(1, -1), value);
  }
  return parameters;
}

/** A percent escape that is none names no resource: the path is then not found. */
function decodeSegment(segment: string): string | undefined {
  if (!segment.includes("%")) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
