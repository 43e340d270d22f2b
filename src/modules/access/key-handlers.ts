/**
 * POST and GET /api/v1/apikeys, DELETE /api/v1/apikeys/{key_id}, POST /api/v1/keys/{key_id}/rotate.
 *
 * A rotation deletes the old key and stores the new one in one transaction, and tells the front of both in one message, so at no moment do both count, or neither.
 */
import { credentialDigest } from "../../adapters/credentials/credential-hash.ts";
import { listed, type WholeList } from "../../api/page-token.ts";
import { created, noContent, type Outcome, refused, shown } from "../../api/refusal.ts";
import { KEYS_PER_TENANT_MAX } from "../../core/config/limits.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import { apiKeyText, KEY_ID_BYTES, KEY_SECRET_BYTES, keyIdOf, keyPrefix } from "../../domain/access/api-key.ts";
import { rightsOf } from "../../domain/access/key-scopes.ts";
import { reaches } from "../../domain/access/roles.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import type { AccessContext } from "./access-context.ts";
import { type ApiKey, keyChange } from "./key-book.ts";

/** Draws before an unused id is given up: with 40 bits and a million keys the second is taken once in a million times. */
const ID_DRAWS_MAX = 8;

/** Makes a key. */
export async function createKey(context: AccessContext, request: QueryRequest<"createKey">): Promise<Outcome<unknown>> {
  const { state, nowMs, change } = context;
  const { principal, body } = request;
  const { tenant, role, subject } = principal;
  return change(request, () => {
    const { keys } = state.configured;
    const createdMs = nowMs();
    const expiresMs = body.expires_at ?? null;
    if (expiresMs !== null && expiresMs <= createdMs) {
      return refused(
        "invalid_timestamp",
        "expires_at is in the past; give a time to come, or leave it out for a key without an end",
        "expires_at",
      );
    }
    if (!reaches(role, rightsOf(body.scope).role))
      return refused("forbidden", `the scope ${body.scope} is above your role (${role})`, "scope");
    if (keys.sizeOf(tenant) >= KEYS_PER_TENANT_MAX) {
      return refused("conflict", `the tenant has ${KEYS_PER_TENANT_MAX} keys, as many as it may have; revoke one that is not used`);
    }
    const { name, scope, rate_limit_rps: rate } = body;
    const content = {
      tenant,
      name,
      scope,
      rateLimitRps: rate ?? null,
      expiresMs,
      createdMs,
      createdBy: keys.personOf(tenant, subject),
      replacedKeyId: null,
    };
    const { key, text } = makeKey(context, content);
    return {
      ok: true,
      note: { action: "key.create", object: key.keyId, before: null, after: keyView(key) },
      operations: [keys.operation(key)],
      apply: () => keys.put(key),
      accessChanges: [keyChange(key)],
      outcome: created({ ...keyView(key), api_key: text }),
    };
  });
}

const KEY_LIST: WholeList<ApiKey> = { endpoint: "keys", newestFirst: true, positionOf: ({ createdMs, keyId }) => [createdMs, keyId] };

/** The tenant's keys. */
export function listKeys({ state }: AccessContext, request: QueryRequest<"keys">): Outcome<unknown> {
  const all = state.configured.keys.of(request.principal.tenant);
  return listed(state, request, KEY_LIST, all, (page) => ({ keys: page.map(keyView), total: all.length }));
}

export async function revokeKey({ state, change }: AccessContext, request: QueryRequest<"revokeKey">): Promise<Outcome<unknown>> {
  return change(request, () => {
    const { keys } = state.configured;
    const key = keys.find(request.principal.tenant, request.path.key_id ?? "");
    if (key === undefined) return unknownKey(request.path);
    return {
      ok: true,
      note: { action: "key.revoke", object: key.keyId, before: keyView(key), after: null },
      operations: [keys.removal(key)],
      apply: () => keys.remove(key.tenant, key.keyId),
      accessChanges: [{ type: "key-gone", keyId: key.keyId }],
      outcome: noContent(),
    };
  });
}

/** Replaces a key by another that opens the same. */
export async function rotateKey(
  context: AccessContext,
  request: QueryRequest<"rotateKey"> | QueryRequest<"rotateKeyOtherSpelling">,
): Promise<Outcome<unknown>> {
  const { state, nowMs, change } = context;
  return change(request, () => {
    const { keys } = state.configured;
    const old = keys.find(request.principal.tenant, request.path.key_id ?? "");
    if (old === undefined) return unknownKey(request.path);
    const createdMs = nowMs();
    if (old.expiresMs !== null && old.expiresMs <= createdMs) {
      return refused("conflict", "the key has expired, and a replacement would have too; make a new key with POST /api/v1/apikeys");
    }
    const createdBy = keys.personOf(old.tenant, request.principal.subject);
    const { key, text } = makeKey(context, { ...old, createdMs, createdBy, replacedKeyId: old.keyId });
    return {
      ok: true,
      note: { action: "key.rotate", object: old.keyId, before: keyView(old), after: keyView(key) },
      operations: [keys.removal(old), keys.operation(key)],
      apply: () => {
        keys.remove(old.tenant, old.keyId);
        keys.put(key);
      },
      accessChanges: [{ type: "key-gone", keyId: old.keyId }, keyChange(key)],
      outcome: created({ ...keyView(key), api_key: text }),
    };
  });
}

function makeKey({ state, randomBytes }: AccessContext, content: Omit<ApiKey, "keyId" | "digest">): { key: ApiKey; text: string } {
  let keyId = keyIdOf(randomBytes(KEY_ID_BYTES));
  for (let draw = 1; state.configured.keys.isTaken(keyId); draw++) {
    if (draw === ID_DRAWS_MAX) throw new Error("no unused key id was drawn: the random source repeats itself");
    keyId = keyIdOf(randomBytes(KEY_ID_BYTES));
  }
  const text = apiKeyText(keyId, Buffer.from(randomBytes(KEY_SECRET_BYTES)).toString("base64url"));
  return { key: { ...content, keyId, digest: Buffer.from(credentialDigest(text)).toString("base64url") }, text };
}

function keyView({ keyId, name, scope, rateLimitRps, expiresMs, createdMs, createdBy, replacedKeyId }: ApiKey) {
  return {
    key_id: keyId,
    prefix: keyPrefix(keyId),
    name,
    scope,
    rate_limit_rps: rateLimitRps,
    expires_at: expiresMs === null ? null : formatRfc3339(expiresMs),
    created_at: formatRfc3339(createdMs),
    created_by: createdBy,
    replaced_key_id: replacedKeyId,
  };
}

function unknownKey({ key_id = "" }: Readonly<Record<string, string>>) {
  return refused("not_found", `no key of this tenant has the id ${shown(key_id)}; GET /api/v1/apikeys lists them`);
}
