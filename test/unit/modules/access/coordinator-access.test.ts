// API keys and users in the coordinator: answers against their schemas, what the front is told, what is stored and what is not.
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { KEYS_PER_TENANT_MAX } from "../../../../src/core/config/limits.ts";
import type { AccessChange } from "../../../../src/core/protocol/access.ts";
import type { Principal } from "../../../../src/core/protocol/query.ts";
import { answerSchema } from "../../../support/answer-schema.ts";
import { Rig, START_MS } from "../../../support/coordinator-rig.ts";

const ADMIN: Principal = { tenant: "default", subject: "ann", role: "admin" };
const SUPER: Principal = { tenant: "default", subject: "sue", role: "super_admin" };
const KEY = { name: "rack 7", scope: "ingestion", rate_limit_rps: 50, expires_at: "2031-01-31T12:00:00Z" };

/** Asks, and holds a success against the schema of its endpoint. */
async function ask(rig: Rig, who: Principal, endpoint: string, options: Parameters<Rig["askAs"]>[2] = {}) {
  const asked = rig.askAs(who, endpoint, options);
  await rig.drain();
  const answer = await asked;
  if (answer.status < 300) expect(answerSchema(endpoint, answer.status).safeParse(answer.body).error).toBeUndefined();
  return answer;
}

const reported = (rig: Rig): AccessChange[][] =>
  rig.messages.flatMap((message) => (message.type === "access" ? [[...message.changes]] : []));
const audit = (rig: Rig) =>
  JSON.stringify([...(rig.control.contents.get("audit")?.values() ?? [])].map((row) => Buffer.from(row).toString()));
const make = async (rig: Rig, change: object = {}, who = ADMIN) => ask(rig, who, "createKey", { content: { ...KEY, ...change } });

describe("API keys", () => {
  it("are made, shown once, and told to the front before the answer", async () => {
    const rig = await Rig.open();
    const { status, body } = await make(rig);
    expect(status).toBe(201);
    expect(body).toMatchObject({ name: "rack 7", scope: "ingestion", rate_limit_rps: 50, created_at: "2026-01-31T12:00:00.000Z" });
    expect(body.api_key).toMatch(new RegExp(`^vdt_${body.key_id}_[A-Za-z0-9_-]{43}$`));
    const digest = createHash("sha256").update(body.api_key).digest();
    const key = {
      keyId: body.key_id,
      tenant: "default",
      scope: "ingestion",
      digest: new Uint8Array(digest),
      rateLimitRps: 50,
      expiresMs: Date.UTC(2031, 0, 31, 12),
    };
    expect(reported(rig)).toEqual([[{ type: "key", key }]]);
    const order = rig.messages.map(({ type }) => type);
    expect(order.indexOf("access")).toBeLessThan(order.indexOf("answer"));
  });

  it("stand nowhere in what is stored, listed or audited", async () => {
    const rig = await Rig.open();
    const { body } = await make(rig);
    const secret = body.api_key.split("_").slice(2).join("_");
    const { body: list } = await ask(rig, ADMIN, "keys");
    expect(list.keys).toHaveLength(1);
    expect(list.keys[0]).not.toHaveProperty("api_key");
    for (const text of [JSON.stringify(list), JSON.stringify(rig.durable()), audit(rig)]) expect(text).not.toContain(secret);
    expect(audit(rig)).toContain("key.create");
    expect(audit(rig)).not.toContain(createHash("sha256").update(body.api_key).digest("base64url"));
  });

  it.each([
    ["no name", { name: undefined }, "missing_field"],
    ["an empty name", { name: "" }, "invalid_field"],
    ["a name with a line break", { name: "a\r\nX-Evil: 1" }, "invalid_field"],
    ["another scope", { scope: "root" }, "invalid_field"],
    ["a scope of the prototype", { scope: "constructor" }, "invalid_field"],
    ["no rate at all", { rate_limit_rps: 0 }, "invalid_field"],
    ["a huge rate", { rate_limit_rps: 1e308 }, "invalid_field"],
    ["half a request", { rate_limit_rps: 0.5 }, "invalid_field"],
    ["an end in the past", { expires_at: "2020-01-01T00:00:00Z" }, "invalid_timestamp"],
    ["an end that is none", { expires_at: "tomorrow" }, "invalid_timestamp"],
    ["a tenant of its own choice", { tenant_id: "other" }, "unknown_field"],
    ["an id of its own choice", { key_id: "aaaaaaaa" }, "unknown_field"],
    ["a digest of its own choice", { digest: "x" }, "unknown_field"],
  ])("with %s are refused", async (_, change, code) => {
    const rig = await Rig.open();
    expect(await make(rig, change)).toMatchObject({ status: 400, body: { error: code } });
    expect(reported(rig)).toEqual([]);
  });

  it("a member __proto__ or constructor sets nothing", async () => {
    const rig = await Rig.open();
    for (const name of ["__proto__", "constructor", "prototype"]) {
      const content = `{"name":"a","scope":"ingestion","${name}":{"scope":"admin","isAdmin":true}}`;
      const answer = await ask(rig, ADMIN, "createKey", { content });
      if (answer.status === 201) expect(answer.body.scope).toBe("ingestion");
      else expect(answer).toMatchObject({ status: 400, body: { error: "unknown_field" } });
    }
    expect(({} as { isAdmin?: unknown }).isAdmin).toBeUndefined();
  });

  it("above the role of whoever asks are not made", async () => {
    const rig = await Rig.open();
    const operator: Principal = { ...ADMIN, role: "operator" };
    expect(await make(rig, { scope: "admin" }, operator)).toMatchObject({ status: 403, body: { error: "forbidden" } });
  });

  it("are revoked for good, and only by their tenant", async () => {
    const rig = await Rig.open();
    const { body } = await make(rig);
    const path = { key_id: body.key_id };
    expect(await ask(rig, { ...ADMIN, tenant: "other" }, "revokeKey", { path })).toMatchObject({ status: 404 });
    expect(await ask(rig, { ...ADMIN, tenant: "other" }, "rotateKey", { path })).toMatchObject({ status: 404 });
    expect((await ask(rig, { ...ADMIN, tenant: "other" }, "keys")).body).toMatchObject({ keys: [], total: 0 });
    expect(await ask(rig, ADMIN, "revokeKey", { path })).toEqual({ status: 204, body: null });
    expect(reported(rig).at(-1)).toEqual([{ type: "key-gone", keyId: body.key_id }]);
    expect(await ask(rig, ADMIN, "revokeKey", { path })).toMatchObject({ status: 404 });
    const again = await rig.restarted();
    expect((await ask(again, ADMIN, "keys")).body.total).toBe(0);
  });

  it("are rotated in one transaction and one message: the old ends as the new begins", async () => {
    const rig = await Rig.open();
    const { body: old } = await make(rig);
    rig.nowMs += 1_000;
    const { status, body: fresh } = await ask(rig, ADMIN, "rotateKey", { path: { key_id: old.key_id } });
    expect(status).toBe(201);
    expect(fresh).toMatchObject({ ...KEY, expires_at: old.expires_at, replaced_key_id: old.key_id });
    expect(fresh.key_id).not.toBe(old.key_id);
    expect(fresh.api_key).not.toBe(old.api_key);
    expect(reported(rig).at(-1)).toEqual([
      { type: "key-gone", keyId: old.key_id },
      { type: "key", key: expect.objectContaining({ keyId: fresh.key_id, rateLimitRps: 50 }) },
    ]);
    expect(await ask(rig, ADMIN, "rotateKeyOtherSpelling", { path: { key_id: old.key_id } })).toMatchObject({ status: 404 });
    const again = await rig.restarted();
    expect((await ask(again, ADMIN, "keys")).body.keys.map(({ key_id }: { key_id: string }) => key_id)).toEqual([fresh.key_id]);
    expect(again.coordinator.loadAccess().filter(({ type }) => type === "key")).toEqual([reported(rig).at(-1)?.[1]]);
  });

  it("two rotations of one key at once give one new key", async () => {
    const rig = await Rig.open();
    const { body: old } = await make(rig);
    const path = { key_id: old.key_id };
    const both = [rig.askAs(ADMIN, "rotateKey", { path }), rig.askAs(ADMIN, "rotateKey", { path })];
    await rig.drain();
    const statuses = (await Promise.all(both)).map(({ status }) => status);
    expect(statuses.sort()).toEqual([201, 404]);
    expect((await ask(rig, ADMIN, "keys")).body.total).toBe(1);
  });

  it("that have expired are not rotated", async () => {
    const rig = await Rig.open();
    const { body } = await make(rig, { expires_at: "2026-01-31T12:00:01Z" });
    rig.nowMs = START_MS + 1_000;
    expect(await ask(rig, ADMIN, "rotateKey", { path: { key_id: body.key_id } })).toMatchObject({ status: 409 });
  });

  it("are paged, newest first, while others come and go", async () => {
    const rig = await Rig.open();
    const ids: string[] = [];
    for (let i = 0; i < 7; i++) {
      rig.nowMs += i % 2;
      ids.push((await make(rig)).body.key_id);
    }
    const seen: string[] = [];
    let page_token = "";
    do {
      const { body } = await ask(rig, ADMIN, "keys", { query: { limit: "2", page_token } });
      seen.push(...body.keys.map(({ key_id }: { key_id: string }) => key_id));
      page_token = body.page_token;
      rig.nowMs += 10;
      await make(rig);
    } while (page_token !== "");
    expect([...seen].sort()).toEqual([...ids].sort());
    const { body } = await ask(rig, ADMIN, "keys", { query: { limit: "2" } });
    const foreign = await ask(rig, { ...ADMIN, tenant: "other" }, "keys", { query: { page_token: body.page_token } });
    expect(foreign).toMatchObject({ status: 400, body: { error: "invalid_page_token" } });
  });

  it(`are at most ${KEYS_PER_TENANT_MAX} a tenant`, async () => {
    const rig = await Rig.open();
    for (let i = 0; i < KEYS_PER_TENANT_MAX; i++) expect((await rig.askAs(ADMIN, "createKey", { content: KEY })).status).toBe(201);
    expect(await make(rig)).toMatchObject({ status: 409, body: { error: "conflict" } });
    expect((await make(rig, {}, { ...ADMIN, tenant: "other" })).status).toBe(201);
    const { body } = await ask(rig, ADMIN, "keys", { query: { limit: "1" } });
    expect(body.total).toBe(KEYS_PER_TENANT_MAX);
    await ask(rig, ADMIN, "revokeKey", { path: { key_id: body.keys[0].key_id } });
    expect((await make(rig)).status).toBe(201);
  });
});

describe("users", () => {
  const ann = { ...ADMIN };
  const bob = (role: string, more: object = {}) => ({ content: { user_id: "bob", role, ...more } });
  const path = { user_id: "bob" };

  it("are made, listed, changed and deleted, and the front hears of each", async () => {
    const rig = await Rig.open();
    expect(await ask(rig, ann, "createUser", bob("operator", { name: "Bob" }))).toMatchObject({
      status: 201,
      body: { user_id: "bob", role: "operator", name: "Bob", disabled: false, bound_by: "admin" },
    });
    expect(await ask(rig, ann, "createUser", bob("viewer"))).toMatchObject({ status: 409, body: { error: "conflict" } });
    expect(await ask(rig, ann, "patchUser", { path, content: { disabled: true } })).toMatchObject({
      status: 200,
      body: { role: "operator", name: "Bob", disabled: true },
    });
    expect(await ask(rig, ann, "putUser", { path, content: { role: "viewer" } })).toMatchObject({
      status: 200,
      body: { role: "viewer", name: "bob", disabled: false },
    });
    expect((await ask(rig, ann, "users")).body).toMatchObject({ users: [{ user_id: "bob" }], total: 1 });
    expect((await ask(rig, { ...ann, tenant: "other" }, "users")).body.total).toBe(0);
    expect(await ask(rig, { ...ann, tenant: "other" }, "deleteUser", { path })).toMatchObject({ status: 404 });
    expect((await ask(await rig.restarted(), ann, "users")).body.total).toBe(1);
    expect(await ask(rig, ann, "deleteUser", { path })).toEqual({ status: 204, body: null });
    expect(await ask(rig, ann, "patchUser", { path, content: {} })).toMatchObject({ status: 404 });
    const user = (role: string, disabled: boolean) => [{ type: "user", user: { tenant: "default", subject: "bob", role, disabled } }];
    expect(reported(rig)).toEqual([
      user("operator", false),
      user("operator", true),
      user("viewer", false),
      [{ type: "user-gone", tenant: "default", subject: "bob" }],
    ]);
  });

  it("nobody grants a role above their own, by any of the ways", async () => {
    const rig = await Rig.open();
    for (const role of ["super_admin", "system"]) {
      expect(await ask(rig, ann, "createUser", bob(role))).toMatchObject({ status: 403, body: { error: "forbidden" } });
      expect(await ask(rig, ann, "putUser", { path, content: { role } })).toMatchObject({ status: 403 });
    }
    await ask(rig, ann, "createUser", bob("viewer"));
    expect(await ask(rig, ann, "patchUser", { path, content: { role: "super_admin" } })).toMatchObject({ status: 403 });
    expect((await ask(rig, ann, "users")).body.users[0].role).toBe("viewer");
  });

  it("what somebody above has set, an admin cannot undo: a role that was taken away stays so", async () => {
    const rig = await Rig.open();
    await ask(rig, SUPER, "createUser", bob("viewer"));
    for (const [endpoint, content] of [
      ["putUser", { role: "admin" }],
      ["patchUser", { role: "admin" }],
      ["patchUser", { disabled: false }],
      ["deleteUser", undefined],
    ] as const) {
      expect(await ask(rig, ann, endpoint, { path, content })).toMatchObject({ status: 403 });
    }
    expect(await ask(rig, SUPER, "deleteUser", { path })).toMatchObject({ status: 204 });
  });

  it("nobody changes themselves", async () => {
    const rig = await Rig.open();
    const bobby: Principal = { ...ann, subject: "bob" };
    expect(await ask(rig, bobby, "createUser", bob("viewer"))).toMatchObject({ status: 403 });
    await ask(rig, ann, "createUser", bob("viewer"));
    expect(await ask(rig, bobby, "deleteUser", { path })).toMatchObject({ status: 403 });
    expect(await ask(rig, bobby, "patchUser", { path, content: { role: "admin" } })).toMatchObject({ status: 403 });
  });

  it.each([
    ["a role that is none", bob("root"), "invalid_field"],
    ["members of a record that are not for clients", bob("viewer", { bound_by: "system" }), "unknown_field"],
    ["another tenant", bob("viewer", { tenant_id: "other" }), "unknown_field"],
    ["a name that hides", bob("viewer", { name: "\u202ebob" }), "invalid_field"],
    ["an id too long", { content: { user_id: "x".repeat(256), role: "viewer" } }, "invalid_field"],
    ["disabled as text", bob("viewer", { disabled: "no" }), "invalid_field"],
  ])("with %s are refused", async (_, options, code) => {
    const rig = await Rig.open();
    expect(await ask(rig, ann, "createUser", options)).toMatchObject({ status: 400, body: { error: code } });
  });

  it("named like members of a prototype are users like any other", async () => {
    const rig = await Rig.open();
    for (const user_id of ["__proto__", "constructor", "toString"]) {
      expect(await ask(rig, ann, "createUser", { content: { user_id, role: "viewer" } })).toMatchObject({ status: 201, body: { user_id } });
      expect((await ask(rig, ann, "users", { query: { user_id } })).body.users).toHaveLength(1);
    }
  });

  it("are paged by their id", async () => {
    const rig = await Rig.open();
    for (const user_id of ["d", "a", "c", "b", "e"]) await ask(rig, ann, "createUser", { content: { user_id, role: "viewer" } });
    const first = await ask(rig, ann, "users", { query: { limit: "3" } });
    const second = await ask(rig, ann, "users", { query: { limit: "3", page_token: first.body.page_token } });
    const ids = [...first.body.users, ...second.body.users].map(({ user_id }: { user_id: string }) => user_id);
    expect(ids).toEqual(["a", "b", "c", "d", "e"]);
    expect(second.body.page_token).toBe("");
  });
});

it("the permissions of whoever asks", async () => {
  const rig = await Rig.open();
  expect((await ask(rig, SUPER, "permissions")).body).toEqual({
    tenant_id: "default",
    user_id: "sue",
    role: "super_admin",
    level: 40,
    permissions: expect.arrayContaining(["read", "write", "manage_keys", "manage_users", "manage_tenants", "read:billing"]),
  });
});
