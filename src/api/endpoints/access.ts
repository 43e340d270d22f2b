import { z } from "zod";
import { KEY_SCOPES, ROLES } from "../../core/protocol/access.ts";
import type { Endpoint } from "../endpoint.ts";
import { limitParameter, pageTokenParameter, textParameter, timeField } from "../parameters.ts";
import { ANY_QUERY, NO_QUERY } from "./query-shapes.ts";

const PAGE = z.strictObject({ limit: limitParameter(), page_token: pageTokenParameter() });
/** Characters that a person reads, none that moves a terminal or hides. */
const READABLE = /^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+$/u;
const name = (lengthMax: number) =>
  z
    .string("must be a text")
    .min(1, "must not be empty")
    .max(lengthMax, `may have ${lengthMax} characters`)
    .regex(READABLE, "must have printable characters only");
const scope = z.enum(KEY_SCOPES, `must be one of ${KEY_SCOPES.join(", ")}`);
const role = z.enum(ROLES, `must be one of ${ROLES.join(", ")}`);
const rate = z
  .int("must be a whole number of requests a second")
  .min(1, "must be at least 1")
  .max(1_000_000, "may be 1000000 at most; leave it out for what the tenant's plan allows");

const time = z.iso.datetime();
const listed = {
  key_id: z.string(),
  prefix: z.string(),
  name: z.string(),
  scope,
  rate_limit_rps: z.int().nullable(),
  expires_at: time.nullable(),
  created_at: time,
  created_by: z.string(),
  replaced_key_id: z.string().nullable(),
};
const keyMade = z.strictObject({ ...listed, api_key: z.string() });
const user = z.strictObject({
  user_id: z.string(),
  name: z.string(),
  role,
  disabled: z.boolean(),
  created_at: time,
  updated_at: time,
  bound_by: role,
});
const userContent = { role, name: name(200).optional(), disabled: z.boolean("must be true or false").optional() };

const KEY_EXAMPLE = {
  name: "collector of rack 7",
  scope: "ingestion",
  rate_limit_rps: 50,
  expires_at: "2031-01-31T12:00:00Z",
} as const;

/** Credentials, users and what one may do. */
export const ACCESS_ENDPOINTS = [
  {
    name: "signIn",
    method: "GET",
    path: "/sign-in",
    access: "public",
    handledBy: "front",
    query: ANY_QUERY,
    summary: "Uses up the sign-in link that the start prints: a session for a browser, or a token as JSON",
  },
  {
    name: "permissions",
    method: "GET",
    path: "/api/v1/rbac/permissions",
    access: "viewer",
    handledBy: "coordinator",
    query: NO_QUERY,
    responses: {
      200: z.strictObject({ tenant_id: z.string(), user_id: z.string(), role, level: z.int(), permissions: z.array(z.string()) }),
    },
    summary: "Who the caller is, and what that may do",
  },
  {
    name: "createKey",
    method: "POST",
    path: "/api/v1/apikeys",
    access: "admin",
    handledBy: "coordinator",
    query: NO_QUERY,
    body: z.strictObject({
      name: name(200),
      scope,
      rate_limit_rps: rate.nullish(),
      expires_at: timeField().nullish(),
    }),
    responses: { 201: keyMade },
    examples: { body: KEY_EXAMPLE },
    summary: "Makes an API key; it is shown in this answer and never again",
  },
  {
    name: "keys",
    method: "GET",
    path: "/api/v1/apikeys",
    access: "admin",
    handledBy: "coordinator",
    query: PAGE,
    responses: { 200: z.strictObject({ keys: z.array(z.strictObject(listed)), total: z.int(), page_token: z.string() }) },
    summary: "The tenant's API keys by their prefix, newest first",
  },
  {
    name: "revokeKey",
    method: "DELETE",
    path: "/api/v1/apikeys/{key_id}",
    access: "admin",
    handledBy: "coordinator",
    query: NO_QUERY,
    responses: { 204: null },
    summary: "Revokes an API key; the next request with it gets 401",
  },
  {
    name: "rotateKey",
    method: "POST",
    path: "/api/v1/keys/{key_id}/rotate",
    access: "admin",
    handledBy: "coordinator",
    query: NO_QUERY,
    responses: { 201: keyMade },
    summary: "Makes a key that replaces another, which ends in the same moment",
  },
  {
    name: "rotateKeyOtherSpelling",
    method: "POST",
    path: "/api/v1/apikeys/{key_id}/rotate",
    access: "admin",
    handledBy: "coordinator",
    query: NO_QUERY,
    responses: { 201: keyMade },
    summary: "The same under the other path",
  },
  {
    name: "users",
    method: "GET",
    path: "/api/v1/users",
    access: "admin",
    handledBy: "coordinator",
    query: PAGE.extend({ user_id: textParameter("user_id", 255).optional() }),
    responses: { 200: z.strictObject({ users: z.array(user), total: z.int(), page_token: z.string() }) },
    summary: "The tenant's users by their id",
  },
  {
    name: "createUser",
    method: "POST",
    path: "/api/v1/users",
    access: "admin",
    handledBy: "coordinator",
    query: NO_QUERY,
    body: z.strictObject({ user_id: name(255), ...userContent }),
    responses: { 201: user },
    examples: { body: { user_id: "ada@example.com", role: "operator", name: "Ada" } },
    summary: "Binds the subject of tokens to a role, which their own role may then not exceed",
  },
  {
    name: "putUser",
    method: "PUT",
    path: "/api/v1/users/{user_id}",
    access: "admin",
    handledBy: "coordinator",
    query: NO_QUERY,
    body: z.strictObject(userContent),
    responses: { 200: user, 201: user },
    examples: { body: { role: "viewer" } },
    summary: "Sets a user, new or not",
  },
  {
    name: "patchUser",
    method: "PATCH",
    path: "/api/v1/users/{user_id}",
    access: "admin",
    handledBy: "coordinator",
    query: NO_QUERY,
    body: z.strictObject({ ...userContent, role: role.optional() }),
    responses: { 200: user },
    examples: { body: { disabled: true } },
    summary: "Changes some members of a user; disabled ends its tokens at once",
  },
  {
    name: "deleteUser",
    method: "DELETE",
    path: "/api/v1/users/{user_id}",
    access: "admin",
    handledBy: "coordinator",
    query: NO_QUERY,
    responses: { 204: null },
    summary: "Forgets a user: tokens of the subject count with their own role again",
  },
] as const satisfies readonly Endpoint[];
