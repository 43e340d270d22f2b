// The front's authenticator over a directory that a test changes, a verifier that a test answers for, and a clock that a test moves.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  Authenticator,
  type Identity,
  isAskedByForeignPage,
  type PendingCredential,
  type SettledIdentity,
} from "../../../../../src/actors/front/access/authenticator.ts";
import { CredentialDirectory } from "../../../../../src/actors/front/access/credential-directory.ts";
import { SignIn } from "../../../../../src/actors/front/access/sign-in.ts";
import { credentialDigest, credentialName, isNameOf } from "../../../../../src/adapters/credentials/credential-hash.ts";
import type { VerifyOutcome } from "../../../../../src/adapters/credentials/token-verifier.ts";
import type { HttpRequest } from "../../../../../src/adapters/http/http-server.ts";
import { CREDENTIALS_CACHED_MAX } from "../../../../../src/core/config/limits.ts";
import type { KeyRecord } from "../../../../../src/core/protocol/access.ts";

const NOW_MS = Date.UTC(2026, 0, 31, 12);
const KEY = `vdt_0000000a_${"A".repeat(43)}`;
const ADMIN_TOKEN = "ab".repeat(32);
const COOKIE = "vedette_session_8080";
const CLAIMS = { sub: "ann", tenant_id: "acme", role: "admin", exp: NOW_MS / 1000 + 3600 };

function request(headers: Record<string, string>, method = "GET"): HttpRequest {
  const findHeader = (test: (name: string) => boolean) => Object.keys(headers).find(test);
  return {
    method,
    path: "/",
    query: "",
    version: "1.1",
    remoteAddress: "192.0.2.7",
    isUnix: false,
    hasClientCertificate: false,
    header: (name) => headers[name],
    findHeader,
  };
}

class AccessRig {
  nowMs = NOW_MS;
  isLoaded = true;
  verified = 0;
  outcome: VerifyOutcome = { ok: true, claims: CLAIMS };
  /** Runs while a token is being verified. */
  meanwhile: () => void = () => {};
  readonly directory = new CredentialDirectory();
  readonly authenticator: Authenticator;

  constructor() {
    this.authenticator = new Authenticator(
      {
        claims: { tenant: "tenant_id", role: "role" },
        clockSkewSeconds: 30,
        adminToken: ADMIN_TOKEN,
        sessionCookie: () => COOKIE,
      },
      {
        clock: { wallMs: () => this.nowMs, monotonicMs: () => this.nowMs },
        directory: this.directory,
        isLoaded: () => this.isLoaded,
        tenantExists: (tenant) => tenant === "acme" || tenant === "default",
        verify: async () => {
          this.verified++;
          await Promise.resolve();
          this.meanwhile();
          return this.outcome;
        },
      },
    );
  }

  addKey(change: Partial<KeyRecord> = {}): void {
    const key = {
      keyId: "0000000a",
      tenant: "acme",
      scope: "readwrite",
      digest: credentialDigest(KEY),
      rateLimitRps: 7,
      expiresMs: null,
    } as const;
    this.directory.take({ type: "key", key: { ...key, ...change } });
  }

  at(headers: Record<string, string>, method?: string): Identity {
    return this.authenticator.identify(request(headers, method));
  }

  async settled(headers: Record<string, string>, method?: string): Promise<SettledIdentity> {
    const identity = this.at(headers, method);
    return identity.kind === "pending" ? this.authenticator.settle(identity) : identity;
  }
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const refused = { kind: "refused", code: "unauthorized" };

describe("API keys", () => {
  it("are taken from either header, and carry their limits", () => {
    const access = new AccessRig();
    access.addKey();
    const principal = { tenant: "acme", subject: "key:0000000a", role: "operator", keyId: "0000000a", scope: "readwrite", rateLimitRps: 7 };
    expect(access.at({ "x-api-key": KEY })).toMatchObject({ kind: "known", principal });
    expect(access.at(bearer(KEY))).toMatchObject({ kind: "known", principal });
  });

  it("give the same object for every request, so that nothing is made for a known one", () => {
    const access = new AccessRig();
    access.addKey();
    expect(access.at({ "x-api-key": KEY })).toBe(access.at({ "x-api-key": KEY }));
  });

  it("wrong in one character, of another id, or none at all are 401", () => {
    const access = new AccessRig();
    access.addKey();
    for (const wrong of [`${KEY.slice(0, -1)}B`, KEY.replace("0000000a", "0000000b"), KEY.slice(0, -1), `${KEY}A`, "vdt_", "hello"]) {
      expect(access.at({ "x-api-key": wrong })).toMatchObject(refused);
    }
    expect(access.authenticator.refusedTotal).toBe(6);
  });

  it("that expire are 401 in the same millisecond, remembered or not", () => {
    const access = new AccessRig();
    access.addKey({ expiresMs: NOW_MS + 1 });
    expect(access.at({ "x-api-key": KEY }).kind).toBe("known");
    access.nowMs++;
    expect(access.at({ "x-api-key": KEY })).toMatchObject(refused);
    expect(access.at({ "x-api-key": KEY })).toMatchObject(refused);
  });

  it("that are revoked, changed or of a tenant that is gone count with the next request", () => {
    const access = new AccessRig();
    access.addKey();
    access.at({ "x-api-key": KEY });
    access.addKey({ scope: "readonly" });
    expect(access.at({ "x-api-key": KEY })).toMatchObject({ principal: { scope: "readonly", role: "viewer" } });
    access.directory.take({ type: "key-gone", keyId: "0000000a" });
    expect(access.at({ "x-api-key": KEY })).toMatchObject(refused);
    access.addKey();
    expect(access.at({ "x-api-key": KEY }).kind).toBe("known");
    access.directory.take({ type: "tenant-gone", tenant: "acme" });
    expect(access.at({ "x-api-key": KEY })).toMatchObject(refused);
  });
});

describe("tokens", () => {
  it("are verified once, however many ask at once, and looked up afterwards", async () => {
    const access = new AccessRig();
    const pending = [access.at(bearer("a.b.c")), access.at({ "x-api-key": "a.b.c" })] as PendingCredential[];
    expect(pending.map(({ kind }) => kind)).toEqual(["pending", "pending"]);
    const settled = await Promise.all(pending.map((one) => access.authenticator.settle(one)));
    expect(settled[0]).toBe(settled[1]);
    expect(settled[0]).toMatchObject({ kind: "known", principal: { tenant: "acme", subject: "ann", role: "admin" } });
    expect(access.at(bearer("a.b.c"))).toBe(settled[0]);
    expect(access.verified).toBe(1);
    expect(access.authenticator.waiting).toBe(0);
  });

  it("that are refused are not remembered", async () => {
    const access = new AccessRig();
    access.outcome = { ok: false, isTemporary: false, message: "no" };
    expect(await access.settled(bearer("a.b.c"))).toMatchObject({ ...refused, message: "no" });
    access.outcome = { ok: true, claims: CLAIMS };
    expect((await access.settled(bearer("a.b.c"))).kind).toBe("known");
  });

  it("that cannot be judged now are 503 and not 401", async () => {
    const access = new AccessRig();
    access.outcome = { ok: false, isTemporary: true, message: "no keys" };
    expect(await access.settled(bearer("a.b.c"))).toMatchObject({ kind: "refused", code: "overloaded" });
    access.isLoaded = false;
    for (const credential of ["a.b.c", KEY, ADMIN_TOKEN, "hello"]) {
      expect(access.at(bearer(credential))).toMatchObject({ kind: "refused", code: "overloaded" });
    }
  });

  it("expire with their clock skew", async () => {
    const access = new AccessRig();
    await access.settled(bearer("a.b.c"));
    access.nowMs = NOW_MS + 3_630_000 - 1;
    expect(access.at(bearer("a.b.c")).kind).toBe("known");
    access.nowMs++;
    expect(access.at(bearer("a.b.c"))).toMatchObject(refused);
  });

  it("of a tenant that does not exist, or with claims of other kinds, are 401", async () => {
    const access = new AccessRig();
    for (const change of [{ tenant_id: "nobody" }, { role: "root" }, { sub: 7 }, { exp: "soon" }]) {
      access.outcome = { ok: true, claims: { ...CLAIMS, ...change } };
      expect(await access.settled(bearer("a.b.c"))).toMatchObject(refused);
    }
  });

  it("count with the role of their user at once, and not at all where that is disabled", async () => {
    const access = new AccessRig();
    const user = { tenant: "acme", subject: "ann", role: "viewer", disabled: false } as const;
    const role = async () => {
      const settled = await access.settled(bearer("a.b.c"));
      return settled.kind === "known" ? settled.principal.role : settled.kind;
    };
    expect(await role()).toBe("admin");
    access.directory.take({ type: "user", user });
    expect(await role()).toBe("viewer");
    access.directory.take({ type: "user", user: { ...user, role: "system" } });
    expect(await role()).toBe("admin");
    access.directory.take({ type: "user", user: { ...user, disabled: true } });
    expect(await role()).toBe("refused");
    access.directory.take({ type: "user-gone", tenant: "acme", subject: "ann" });
    expect(await role()).toBe("admin");
    access.directory.take({ type: "user", user: { ...user, tenant: "default" } });
    expect(await role()).toBe("admin");
  });

  it("being verified while their user is disabled or the keys change do not slip through", async () => {
    const access = new AccessRig();
    access.meanwhile = () =>
      access.directory.take({ type: "user", user: { tenant: "acme", subject: "ann", role: "viewer", disabled: true } });
    expect(await access.settled(bearer("a.b.c"))).toMatchObject(refused);
    const other = new AccessRig();
    other.meanwhile = () => {
      if (other.verified > 1) return;
      other.authenticator.tokenKeysChanged();
      other.outcome = { ok: false, isTemporary: false, message: "signed with the old key" };
    };
    const first = other.outcome;
    expect(await other.settled(bearer("a.b.c"))).toMatchObject(refused);
    expect(first.ok).toBe(true);
    expect(other.verified).toBe(2);
  });

  it("are forgotten when their keys change; API keys are not", async () => {
    const access = new AccessRig();
    access.addKey();
    access.at({ "x-api-key": KEY });
    await access.settled(bearer("a.b.c"));
    expect(access.authenticator.cached).toBe(2);
    access.authenticator.tokenKeysChanged();
    expect(access.authenticator.cached).toBe(1);
    expect(access.at(bearer("a.b.c")).kind).toBe("pending");
  });

  it("waiting are bounded", async () => {
    const access = new AccessRig();
    const settled = await Promise.all(
      Array.from({ length: 300 }, (_, i) => access.authenticator.settle(access.at(bearer(`a.b.${i}`)) as PendingCredential)),
    );
    expect(settled.filter(({ kind }) => kind === "known")).toHaveLength(256);
    expect(settled.filter((one) => one.kind === "refused" && one.code === "overloaded")).toHaveLength(44);
  });
});

describe("sessions", () => {
  const cookie = `other=1; ${COOKIE}=a.b.c; x=y`;
  const own = { cookie, host: "localhost:8080" };

  it("are tokens in a cookie", async () => {
    const access = new AccessRig();
    expect(await access.settled(own)).toMatchObject({ kind: "known", principal: { subject: "ann" } });
    expect(access.at({ cookie: `x${COOKIE}=a.b.c` }).kind).toBe("anonymous");
    expect(access.at({ cookie: "other=1" }).kind).toBe("anonymous");
  });

  it.each<[string, Record<string, string>, string]>([
    ["a form of another site", { origin: "https://evil.example" }, "POST"],
    ["a page of another port of this machine", { origin: "http://localhost:9999" }, "GET"],
    ["a page without origin", { origin: "null" }, "POST"],
    ["an image of another site", { "sec-fetch-site": "cross-site" }, "GET"],
    ["another host of this site", { "sec-fetch-site": "same-site" }, "GET"],
    ["a change that names no origin", {}, "POST"],
    ["a deletion that names no origin", {}, "DELETE"],
  ])("do not count for %s", (_, headers, method) => {
    expect(new AccessRig().at({ ...own, ...headers }, method)).toMatchObject({ kind: "refused", code: "forbidden" });
  });

  it.each<[string, Record<string, string>, string]>([
    ["a change", { origin: "http://localhost:8080" }, "POST"],
    ["a change, where the browser says so", { "sec-fetch-site": "same-origin" }, "DELETE"],
    ["a typed address", { "sec-fetch-site": "none" }, "GET"],
  ])("count for pages of this server: %s", async (_, headers, method) => {
    expect((await new AccessRig().settled({ ...own, ...headers }, method)).kind).toBe("known");
  });

  it("that are wrong are 401 and say that they were a session", async () => {
    const access = new AccessRig();
    access.outcome = { ok: false, isTemporary: false, message: "no" };
    expect(await access.settled(own)).toMatchObject({ ...refused, isSession: true });
  });
});

describe("the sign-in link", () => {
  const make = () =>
    new SignIn(
      { token: "t".repeat(64), madeMs: NOW_MS, sessionCookie: () => COOKIE, isSecure: false },
      { mint: async ({ role, tenant }) => `${tenant}.${role}.x` },
    );

  it("works once, for fifteen minutes, and only with its own token", () => {
    expect(make().take("t".repeat(64), NOW_MS + 15 * 60_000)).toBe(false);
    const link = make();
    for (const wrong of ["", "t".repeat(63), `${"t".repeat(63)}u`]) expect(link.take(wrong, NOW_MS)).toBe(false);
    expect(link.take("t".repeat(64), NOW_MS)).toBe(true);
    expect(link.take("t".repeat(64), NOW_MS)).toBe(false);
  });

  it("gives a browser a cookie that no page can read, and a program the token", async () => {
    const page = await make().session(true, NOW_MS);
    const cookie = page.headers.find(([name]) => name === "Set-Cookie")?.[1];
    expect(cookie).toBe(`${COOKIE}=default.super_admin.x; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict`);
    expect(page.body).not.toContain("default.super_admin.x");
    const json = await make().session(false, NOW_MS);
    expect(JSON.parse(json.body)).toMatchObject({ access_token: "default.super_admin.x", token_type: "Bearer", expires_in: 43_200 });
    expect(json.headers.some(([name]) => name === "Set-Cookie")).toBe(false);
    for (const { headers } of [page, json]) expect(headers).toContainEqual(["Referrer-Policy", "no-referrer"]);
  });
});

it("remembers as many credentials as a large site has senders", () => expect(CREDENTIALS_CACHED_MAX).toBeGreaterThanOrEqual(10_000));

describe("comparison of secrets", () => {
  it("goes by hash and in constant time", () => {
    expect(isNameOf(credentialName("a"), credentialDigest("a"))).toBe(true);
    for (const other of ["b", "", "aa"]) expect(isNameOf(credentialName(other), credentialDigest("a"))).toBe(false);
    expect(isNameOf("", credentialDigest("a"))).toBe(false);
    expect(isNameOf.toString()).toContain("timingSafeEqual");
  });

  it("happens nowhere else: what holds credentials compares none with an operator", () => {
    for (const file of ["authenticator", "sign-in", "authorizer"]) {
      const source = readFileSync(`src/actors/front/access/${file}.ts`, "utf8");
      expect(source).not.toMatch(/(?:digest|secret|adminToken|\btoken\b)\)?\s*(?:===|!==|==|!=)\s*(?!null|undefined|"")/i);
    }
  });
});

describe("a request to sign out", () => {
  it("is a foreign page's where a browser says so, and anybody else's where nothing says", () => {
    const host = "127.0.0.1:8080";
    const asked = (headers: Record<string, string>) => isAskedByForeignPage(request({ host, ...headers }, "POST"));
    expect(asked({})).toBe(false);
    expect(asked({ origin: `http://${host}` })).toBe(false);
    expect(asked({ origin: "http://127.0.0.1:9090" })).toBe(true);
    expect(asked({ origin: "null" })).toBe(true);
    expect(asked({ "sec-fetch-site": "same-origin" })).toBe(false);
    expect(asked({ "sec-fetch-site": "same-site" })).toBe(true);
  });
});
