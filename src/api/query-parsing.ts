// From the text behind the question mark to the typed query of an endpoint.

import type { z } from "zod";
import { setMember } from "../core/collections/own-member.ts";
import { QUERY_PARAMETERS_MAX } from "../core/config/limits.ts";
import type { Endpoint } from "./endpoint.ts";
import { type EndpointName, endpointNamed, type QueryOf } from "./endpoints.ts";
import { done, type ErrorCode, type Outcome, refused, shown } from "./refusal.ts";

/** Splits a query string, not decoded, into its parameters; each may come once. */
export function splitQuery(query: string): Outcome<Readonly<Record<string, string>>> {
  const parameters: Record<string, string> = Object.create(null);
  if (query === "") return done(parameters);
  let count = 0;
  for (const [name, value] of new URLSearchParams(query)) {
    if (Object.hasOwn(parameters, name))
      return refused("repeated_parameter", `${shown(name)} is given more than once; give each parameter once`, name);
    if (++count > QUERY_PARAMETERS_MAX) return refused("bad_request", `a query may have ${QUERY_PARAMETERS_MAX} parameters, got more`);
    setMember(parameters, name, value);
  }
  return done(parameters);
}

/** Parses the parameters of an endpoint by its schema; the refusal names the first one at fault. */
export function parseQuery<N extends EndpointName>(name: N, parameters: Readonly<Record<string, string>>): Outcome<QueryOf<N>> {
  const endpoint = endpointNamed(name);
  const parsed = endpoint.query.safeParse({ ...parameters });
  if (parsed.success) return done(parsed.data as QueryOf<N>);
  return refusedIssue(endpoint, parameters, firstIssue(parsed.error));
}

/** The issue to name. A name that is not known goes first: it may be the one that is missing, written wrongly. */
export function firstIssue({ issues }: z.ZodError): z.core.$ZodIssue {
  return (issues.find(({ code }) => code === "unrecognized_keys") ?? issues[0]) as z.core.$ZodIssue;
}

function refusedIssue(endpoint: Endpoint, parameters: Readonly<Record<string, string>>, issue: z.core.$ZodIssue) {
  if (issue.code === "unrecognized_keys") {
    const [unknown = ""] = issue.keys;
    const known = Object.keys(endpoint.query.shape).join(", ") || "none";
    return refused("unknown_parameter", `${shown(unknown)} is not a parameter of ${endpoint.path}; it takes ${known}`, unknown);
  }
  const field = String(issue.path[0] ?? "");
  if (!Object.hasOwn(parameters, field)) return refused("missing_parameter", `${field} is absent; ${endpoint.path} needs it`, field);
  const code = issue.code === "custom" ? (issue.params?.code as ErrorCode | undefined) : undefined;
  return refused(code ?? "invalid_parameter", issue.message, field);
}
