import { z } from "zod";
import { KEY_SCOPES, ROLES } from "../../core/protocol/access.ts";
import { isPlainName, PLAIN_NAME_PATTERN } from "../../domain/series/name-rule.ts";
import { declared } from "../declared.ts";
import type { Endpoint, MediaBody } from "../endpoint.ts";
import { limitParameter, pageTokenParameter, textParameter, timeField } from "../parameters.ts";
import { EXAMPLE_TIME, TIMESTAMP } from "../shapes/scalars.ts";
import { ANY_QUERY } from "./query-shapes.ts";

const PAGE = z.strictObject({ limit: limitParameter(), page_token: pageTokenParameter() });
const name = (lengthMax: number) =>
  z
    .string("must be a text")
    .min(1, "must not be empty")
    .max(lengthMax, `may have ${lengthMax} characters`)
    .refine(isPlainName, "must have printable characters only")
    .meta({ minLength: 1, maxLength: lengthMax, pattern: PLAIN_NAME_PATTERN });
const scope = z.enum(KEY_SCOPES, `must be one of ${KEY_SCOPES.join(", ")}`);
const role = z.enum(ROLES, `must be one of ${ROLES.join(", ")}`);
const rate = z
  .int("must be a whole number of requests a second")
  .min(1, "must be at least 1")
  .max(1_000_000, "may be 1000000 at most; leave it out for what the tenant's plan allows");

const listed = {
  key_id: z.string(),
  prefix: z.string(),
  name: z.string(),
  scope,
  rate_limit_rps: z.int().nullable(),
  expires_at: TIMESTAMP.nullable(),
  created_at: TIMESTAMP,
  created_by: z.string(),
  replaced_key_id: z.string().nullable(),
};
const keyMade = z.strictObject({ ...listed, api_key: z.string() });
const user = z.strictObject({
  user_id: z.string(),
  name: z.string(),
  role,
  disabled: z.boolean(),
  created_at: TIMESTAMP,
  updated_at: TIMESTAMP,
  bound_by: role,
});
const userContent = { role, name: name(200).optional(), disabled: z.boolean("must be true or false").optional() };

const KEY_EXAMPLE = {
  name: "collector of rack 7",
  scope: "ingestion",
  rate_limit_rps: 50,
  expires_at: "2031-01-31T12:00:00Z",
} as const;

const LISTED_EXAMPLE = {
  key_id: "7k2m9x0a",
  prefix: "vdt_7k2m9x0a_",
  ...KEY_EXAMPLE,
  created_at: EXAMPLE_TIME,
  created_by: "ada@example.com",
  replaced_key_id: null,
};
const MADE_EXAMPLE = { ...LISTED_EXAMPLE, api_key: "vdt_7k2m9x0a_<SECRET>" };
const USER_EXAMPLE = {
  user_id: "ada@example.com",
  name: "Ada",
  role: "operator",
  disabled: false,
  created_at: EXAMPLE_TIME,
  updated_at: EXAMPLE_TIME,
  bound_by: "admin",
};
const PERMISSIONS_EXAMPLE = {
  tenant_id: "acme",
  user_id: "ada@example.com",
  role: "operator",
  level: 20,
  permissions: ["read", "write", "modify:thresholds", "execute:runbooks"],
};
const SIGN_IN_BODIES: readonly MediaBody[] = [
  {
    mediaType: "application/json",
    holds: "A token of twelve hours",
    schema: z.strictObject({
      access_token: z.string(),
      token_type: z.literal("Bearer"),
      expires_in: z.int(),
      tenant_id: z.string(),
      role,
    }),
  },
  { mediaType: "text/html; charset=utf-8", holds: "A page, with the session in a cookie, where Accept names text/html" },
];

/** Rotation, under either of its paths. */
const ROTATE_KEY = {
  method: "POST",
  access: "admin",
  responses: { 201: keyMade },
  parameters: { key_id: "key_id of the key" },
  errors: ["conflict"],
  examples: { response: { ...MADE_EXAMPLE, replaced_key_id: "3fz8k1qw" } },
} as const satisfies Partial<Endpoint>;

/** Credentials, users and what one may do. */
export const ACCESS_ENDPOINTS = declared([
  {
    name: "signIn",
    method: "GET",
    path: "/sign-in",
    access: "public",
    handledBy: "front",
    query: ANY_QUERY,
    responses: {},
    media: { 200: SIGN_IN_BODIES },
    errors: ["unauthorized"],
    summary: "Uses up the sign-in link of the start: a session for a browser, or a token as JSON",
  },
  {
    name: "startSession",
    method: "POST",
    path: "/sign-in",
    access: "viewer",
    handledBy: "front",
    responses: { 204: null },
    errors: ["bad_request"],
    summary:
      "Turns the credential of the request's header, a token or an API key, into the session of a browser: a cookie that its scripts cannot read",
  },
  {
    name: "endSession",
    method: "POST",
    path: "/sign-out",
    access: "public",
    handledBy: "front",
    responses: { 204: null },
    errors: ["forbidden"],
    summary: "Ends the session of a browser: its cookie goes. The credential itself counts on",
  },
  {
    name: "permissions",
    method: "GET",
    path: "/api/v1/rbac/permissions",
    access: "viewer",
    responses: {
      200: z.strictObject({ tenant_id: z.string(), user_id: z.string(), role, level: z.int(), permissions: z.array(z.string()) }),
    },
    examples: { response: PERMISSIONS_EXAMPLE },
    summary: "Who the caller is, and what that may do",
  },
  {
    name: "createKey",
    method: "POST",
    path: "/api/v1/apikeys",
    access: "admin",
    body: z.strictObject({
      name: name(200),
      scope,
      rate_limit_rps: rate.nullish(),
      expires_at: timeField().nullish(),
    }),
    responses: { 201: keyMade },
    errors: ["conflict"],
    examples: { body: KEY_EXAMPLE, response: MADE_EXAMPLE },
    summary: "Makes an API key; it is shown in this answer and never again",
  },
  {
    name: "keys",
    method: "GET",
    path: "/api/v1/apikeys",
    access: "admin",
    query: PAGE,
    responses: { 200: z.strictObject({ keys: z.array(z.strictObject(listed)), total: z.int(), page_token: z.string() }) },
    examples: { response: { keys: [LISTED_EXAMPLE], total: 1, page_token: "" } },
    summary: "The tenant's API keys by their prefix, newest first",
  },
  {
    name: "revokeKey",
    method: "DELETE",
    path: "/api/v1/apikeys/{key_id}",
    access: "admin",
    responses: { 204: null },
    parameters: { key_id: "key_id of the key" },
    summary: "Revokes an API key; the next request with it gets 401",
  },
  {
    name: "rotateKey",
    ...ROTATE_KEY,
    path: "/api/v1/keys/{key_id}/rotate",
    summary: "Makes a key that replaces another, which ends in the same moment",
  },
  {
    name: "rotateKeyOtherSpelling",
    ...ROTATE_KEY,
    path: "/api/v1/apikeys/{key_id}/rotate",
    summary: "The same under the other path",
  },
  {
    name: "users",
    method: "GET",
    path: "/api/v1/users",
    access: "admin",
    query: PAGE.extend({ user_id: textParameter("user_id", 255).optional() }),
    responses: { 200: z.strictObject({ users: z.array(user), total: z.int(), page_token: z.string() }) },
    examples: { response: { users: [USER_EXAMPLE], total: 1, page_token: "" } },
    summary: "The tenant's users by their id",
  },
  {
    name: "createUser",
    method: "POST",
    path: "/api/v1/users",
    access: "admin",
    body: z.strictObject({ user_id: name(255), ...userContent }),
    responses: { 201: user },
    errors: ["conflict", "field_too_long"],
    examples: { body: { user_id: "ada@example.com", role: "operator", name: "Ada" }, response: USER_EXAMPLE },
    summary: "Binds the subject of tokens to a role, which their own role may then not exceed",
  },
  {
    name: "putUser",
    method: "PUT",
    path: "/api/v1/users/{user_id}",
    access: "admin",
    body: z.strictObject(userContent),
    responses: { 200: user, 201: user },
    parameters: { user_id: "subject of the user's tokens" },
    errors: ["conflict", "field_too_long"],
    examples: { body: { role: "operator", name: "Ada" }, response: USER_EXAMPLE },
    summary: "Sets a user, new or not",
  },
  {
    name: "patchUser",
    method: "PATCH",
    path: "/api/v1/users/{user_id}",
    access: "admin",
    body: z.strictObject({ ...userContent, role: role.optional() }),
    responses: { 200: user },
    parameters: { user_id: "subject of the user's tokens" },
    errors: ["field_too_long"],
    examples: { body: { disabled: true }, response: { ...USER_EXAMPLE, disabled: true } },
    summary: "Changes some members of a user; disabled ends its tokens at once",
  },
  {
    name: "deleteUser",
    method: "DELETE",
    path: "/api/v1/users/{user_id}",
    access: "admin",
    responses: { 204: null },
    parameters: { user_id: "subject of the user's tokens" },
    summary: "Forgets a user: tokens of the subject count with their own role again",
  },
]);
