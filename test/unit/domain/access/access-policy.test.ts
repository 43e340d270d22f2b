// Who may do what: the tables of domain/access, closed over all roles, scopes and ways of asking.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { KEY_SCOPES, type KeyScope, ROLES, type Role } from "../../../../src/core/protocol/access.ts";
import type { Principal } from "../../../../src/core/protocol/query.ts";
import {
  type Access,
  type AccessPolicyOptions,
  type AlertsPort,
  actAsAlertmanager,
  actForTenant,
  actWithoutCredential,
  type Caller,
  lostTrust,
  openIngestionWarning,
  refuseAccess,
} from "../../../../src/domain/access/access-policy.ts";
import { apiKeyText, KEY_ID_BYTES, keyIdIn, keyIdOf, keyPrefix } from "../../../../src/domain/access/api-key.ts";
import { beginsAsNginx, isForwardingHeader } from "../../../../src/domain/access/forwarding.ts";
import { rightsOf } from "../../../../src/domain/access/key-scopes.ts";
import { credentialInQuery, presentedCredential } from "../../../../src/domain/access/presented-credential.ts";
import { levelOf, lowerRole, parseRole, permissionsOf } from "../../../../src/domain/access/roles.ts";
import { readClaims } from "../../../../src/domain/access/token-claims.ts";
import { boundRole, refuseUserChange } from "../../../../src/domain/access/user-role.ts";

const ACCESSES: readonly Access[] = ["ingest", ...ROLES];
const byRole = (role: Role): Principal => ({ tenant: "acme", subject: "ann", role });
const byKey = (scope: KeyScope): Principal => ({ tenant: "acme", subject: "key:1", role: rightsOf(scope).role, keyId: "1", scope });

describe("roles", () => {
  it("have the levels and permissions of the contract", () => {
    expect(ROLES.map(levelOf)).toEqual([10, 20, 30, 40, 50]);
    expect(permissionsOf("viewer")).toEqual(["read"]);
    expect(permissionsOf("operator")).toEqual(["read", "write", "modify:thresholds", "execute:runbooks"]);
    expect(permissionsOf("admin")).toEqual([
      ...permissionsOf("operator"),
      "manage_keys",
      "manage_users",
      "manage_webhooks",
      "manage_routing",
      "train_models",
    ]);
    expect(permissionsOf("super_admin")).toEqual([...permissionsOf("admin"), "manage_tenants", "read:billing"]);
    expect(permissionsOf("system")).toEqual([...permissionsOf("super_admin"), "internal"]);
  });

  it("are read as providers write them, and from nothing else", () => {
    for (const text of ["super_admin", "Super-Admin", "SUPER_ADMIN"]) expect(parseRole(text)).toBe("super_admin");
    for (const value of ["", "root", "admin ", "__proto__", "constructor", 50, null, ["admin"], { role: "admin" }, undefined]) {
      expect(parseRole(value)).toBeUndefined();
    }
  });

  it("the lower of two is never above either", () => {
    for (const a of ROLES) {
      for (const b of ROLES) expect(levelOf(lowerRole(a, b))).toBe(Math.min(levelOf(a), levelOf(b)));
    }
  });
});

describe("what a principal may do", () => {
  const allowed = (principal: Principal) => ACCESSES.filter((access) => refuseAccess(access, principal) === null);

  it.each([
    ["viewer", ["viewer"]],
    ["operator", ["ingest", "viewer", "operator"]],
    ["admin", ["ingest", "viewer", "operator", "admin"]],
    ["super_admin", ["ingest", "viewer", "operator", "admin", "super_admin"]],
    ["system", ACCESSES],
  ] as const)("with the role %s", (role, expected) => {
    expect(allowed(byRole(role))).toEqual(expected);
  });

  it.each([
    ["ingestion", ["ingest"]],
    ["readonly", ["viewer"]],
    ["readwrite", ["ingest", "viewer", "operator"]],
    ["admin", ["ingest", "viewer", "operator", "admin"]],
  ] as const)("with a key of the scope %s", (scope, expected) => {
    expect(allowed(byKey(scope))).toEqual(expected);
  });

  it("a refusal names the role needed and the one there is", () => {
    expect(refuseAccess("admin", byRole("operator"))).toEqual({
      code: "forbidden",
      message: expect.stringMatching(/role admin; yours is operator/),
    });
    expect(refuseAccess("viewer", byKey("ingestion"))?.message).toMatch(/role viewer.*scope ingestion/);
    expect(refuseAccess("ingest", byKey("readonly"))?.message).toMatch(/scope ingestion.*scope readonly/);
  });

  it("scopes are those of the protocol", () => {
    expect(KEY_SCOPES.map((scope) => rightsOf(scope).role)).toEqual(["viewer", "viewer", "operator", "admin"]);
  });
});

describe("a request without a credential", () => {
  const options: AccessPolicyOptions = {
    ingestAuth: "optional",
    readAuth: "loopback",
    boundHost: "127.0.0.1",
    boundPort: 8080,
    isTls: false,
  };
  const local: Caller = {
    remoteAddress: "127.0.0.1",
    isUnix: false,
    version: "1.1",
    host: "127.0.0.1:8080",
    origin: undefined,
    referer: undefined,
    fetchSite: undefined,
    beginsAsNginx: false,
    forwardedBy: undefined,
  };
  const overSocket: Caller = { ...local, remoteAddress: "unix", isUnix: true, host: "localhost" };
  const role = (access: Access, caller: Caller, changed: Partial<AccessPolicyOptions> = {}) => {
    const outcome = actWithoutCredential(access, caller, { ...options, ...changed });
    return outcome.ok ? outcome.principal : outcome.refusal.code;
  };
  const operator = { tenant: "default", subject: "local", role: "operator" };

  it.each<[string, Partial<Caller>]>([
    ["by address", {}],
    ["by name", { host: "localhost:8080" }],
    ["over IPv6", { remoteAddress: "::1", host: "[::1]:8080" }],
    ["from its own page", { origin: "http://127.0.0.1:8080" }],
    ["from its own page, by its address", { referer: "http://127.0.0.1:8080/docs?q#a", fetchSite: "same-origin" }],
    ["typed into a browser", { fetchSite: "none" }],
    ["over the Unix socket", overSocket],
    ["over the Unix socket, whatever its Host is", { ...overSocket, host: "vedette" }],
    ["over the Unix socket, without a Host", { ...overSocket, host: undefined }],
  ])("from this machine acts as operator of default: %s", (_, change) => {
    expect(role("viewer", { ...local, ...change })).toEqual(operator);
  });

  it.each<[string, Partial<Caller>]>([
    ["another machine", { remoteAddress: "192.0.2.7" }],
    ["a rebound name", { host: "evil.example:8080" }],
    ["a name that begins like loopback", { host: "127.0.0.1.evil.example" }],
    ["no Host", { host: undefined }],
    ["another site's page", { origin: "https://evil.example" }],
    ["a page of another port", { origin: "http://127.0.0.1:9999" }],
    ["a page without origin", { origin: "null" }],
    ["a link of another site's page", { referer: "https://evil.example/" }],
    ["an image of another site's page", { fetchSite: "cross-site" }],
    ["a page of another port that hides", { fetchSite: "same-site" }],
    ["a proxy", { forwardedBy: "via" }],
    ["nginx by HTTP/1.1", { beginsAsNginx: true }],
    ["a proxy that speaks HTTP/1.0", { version: "1.0" }],
    ["a proxy at another port", { host: "127.0.0.1:8081" }],
    ["a proxy at the port of HTTP", { host: "localhost" }],
    ["a proxy to the Unix socket", { ...overSocket, forwardedBy: "x-forwarded-proto" }],
    ["a proxy to the Unix socket that speaks HTTP/1.0", { ...overSocket, version: "1.0" }],
  ])("from %s is 401", (_, change) => {
    expect(role("viewer", { ...local, ...change })).toBe("unauthorized");
  });

  it("is 401 where a credential is required, or the server is bound to the network", () => {
    expect(role("viewer", local, { readAuth: "required" })).toBe("unauthorized");
    expect(role("viewer", local, { boundHost: "0.0.0.0" })).toBe("unauthorized");
    expect(role("ingest", local, { ingestAuth: "required" })).toBe("unauthorized");
  });

  it("acts as operator over the Unix socket whatever the settings are", () => {
    const settings = { readAuth: "required", ingestAuth: "required", boundHost: "0.0.0.0" };
    for (const access of ["viewer", "operator", "ingest"] as const) expect(role(access, overSocket, settings)).toEqual(operator);
    expect(role("ingest", { ...overSocket, version: "1.0" }, settings)).toBe("unauthorized");
    expect(role("ingest", { ...overSocket, version: "1.0" })).toEqual(operator);
  });

  it.each<[string, Partial<Caller>]>([
    ["another machine", { remoteAddress: "192.0.2.7", host: "localhost" }],
    ["a proxy", { version: "1.0", forwardedBy: "x-forwarded-for" }],
    ["a tunnel at another port", { host: "localhost:9999" }],
    ["a client of HTTP/1.0 without Host", { version: "1.0", host: undefined }],
    ["its own page", { origin: "http://127.0.0.1:8080" }],
  ])("writes telemetry of default from %s while INGEST_AUTH is optional", (_, change) => {
    expect(role("ingest", { ...local, ...change }, { readAuth: "required" })).toEqual(operator);
  });

  it.each<[string, Partial<Caller>]>([
    ["another site's page", { origin: "https://evil.example" }],
    ["a page of another port", { origin: "http://127.0.0.1:3000" }],
    ["a page without origin", { origin: "null" }],
    ["a page of a rebound name", { host: "evil.example:8080", origin: "http://evil.example:8080" }],
    ["a rebound name", { host: "evil.example:8080" }],
    ["a rebound name with headers of a proxy", { host: "evil.example:8080", forwardedBy: "x-forwarded-for" }],
  ])("writes no telemetry from %s", (_, change) => {
    expect(role("ingest", { ...local, ...change })).toBe("unauthorized");
  });

  it("writes telemetry under any name where the server is bound to the network, but from no other site's page", () => {
    const bound = { boundHost: "0.0.0.0" };
    expect(role("ingest", { ...local, host: "vedette.example" }, bound)).toEqual(operator);
    expect(role("ingest", { ...local, host: "vedette.example", origin: "http://evil.example" }, bound)).toBe("unauthorized");
  });

  it("declares alerts at their port as an operator of its tenant, but not for another site's page or a name that was bound anew", () => {
    const port = { boundHost: "127.0.0.1", tenant: "acme" };
    const local9093 = { ...local, host: "127.0.0.1:9093" };
    const alert = (change: Partial<Caller>, changed: Partial<AlertsPort> = {}) => {
      const outcome = actAsAlertmanager({ ...local9093, ...change }, { ...port, ...changed });
      return outcome.ok ? outcome.principal : outcome.refusal.code;
    };
    const alertmanager = { tenant: "acme", subject: "alertmanager", role: "operator" };
    for (const change of [{}, { host: undefined }, { host: "localhost" }, { forwardedBy: "via", version: "1.0" }])
      expect(alert(change)).toEqual(alertmanager);
    const rebound = { host: "evil.example:9093" };
    for (const change of [
      { origin: "https://evil.example" },
      { origin: "null" },
      rebound,
      { ...rebound, origin: "http://evil.example:9093" },
    ])
      expect(alert(change)).toBe("unauthorized");
    const network = { boundHost: "0.0.0.0" };
    expect(alert({ host: "vedette.example:9093" }, network)).toEqual(alertmanager);
    expect(alert({ host: "vedette.example:9093", origin: "http://evil.example" }, network)).toBe("unauthorized");
  });

  it("is named at the start where everybody on the network may write", () => {
    const warning = (ingestAuth: string, boundHost: string) => openIngestionWarning({ ingestAuth, boundHost });
    for (const host of ["0.0.0.0", "::", "192.0.2.7", "shop.example"])
      expect(warning("optional", host), host).toMatch(
        /^everybody who reaches .* may write telemetry into the tenant default .*; set INGEST_AUTH=required .*HOST=127\.0\.0\.1/,
      );
    for (const host of ["127.0.0.1", "localhost", "::1"]) expect(warning("optional", host), host).toBeNull();
    expect(warning("required", "0.0.0.0")).toBeNull();
  });

  it("says why a request of this machine is not taken for a local one, and nothing of others", () => {
    expect(lostTrust({ ...local, forwardedBy: "cf-ray" }, options)).toContain("cf-ray");
    expect(lostTrust({ ...local, version: "1.0" }, options)).toContain("HTTP/1.0");
    expect(lostTrust({ ...local, host: "127.0.0.1:80" }, options)).toContain("port 8080");
    for (const caller of [local, overSocket, { ...local, remoteAddress: "192.0.2.7", version: "1.0" }])
      expect(lostTrust(caller, options)).toBeNull();
    expect(lostTrust({ ...local, version: "1.0" }, { ...options, readAuth: "required" })).toBeNull();
  });
});

describe("a header that proxies add", () => {
  // biome-ignore format: a list
  const added = [
    "forwarded", "forwarded-for", "via", "x-forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-forwarded-port",
    "x-forwarded-server", "x-forwarded-prefix", "x-forwarded-ssl", "x-real-ip", "x-client-ip", "true-client-ip", "x-cluster-client-ip",
    "cf-connecting-ip", "cf-ray", "cf-visitor", "cdn-loop", "x-original-forwarded-for", "x-original-host", "x-envoy-external-address",
    "x-envoy-original-path", "fastly-client-ip", "fastly-ff", "fly-client-ip", "x-azure-clientip", "x-amzn-trace-id", "x-amz-cf-id", "x-originating-ip",
    "x-remote-ip", "x-remote-addr", "do-connecting-ip", "ali-cdn-real-ip", "proxy-client-ip", "wl-proxy-client-ip", "proxy-connection",
    "surrogate-capability", "max-forwards", "tailscale-user-login", "x-nginx-proxy", "x-goog-authenticated-user-email", "x-ms-client-principal-name",
    "x-auth-request-email", "remote-user", "x-remote-user", "x-webauth-user", "x-ssl-client-verify", "ssl-client-cert", "x-pomerium-claim-email",
    "x_forwarded_for", "x_real_ip",
  ];
  // biome-ignore format: a list
  const clients = [
    "host", "user-agent", "accept", "accept-encoding", "accept-language", "content-type", "content-length", "content-encoding", "connection", "cookie",
    "authorization", "x-api-key", "x-tenant-id", "origin", "referer", "sec-fetch-site", "sec-fetch-mode", "upgrade-insecure-requests", "dnt", "te",
    "traceparent", "tracestate", "baggage", "idempotency-key", "x-request-id", "x-prometheus-remote-write-version", "x-prometheus-scrape-timeout-seconds",
    "if-none-match", "last-event-id", "cache-control", "pragma", "priority",
  ];
  it.each(added)("%s", (name) => expect(isForwardingHeader(name)).toBe(true));
  it.each(clients)("is not %s", (name) => expect(isForwardingHeader(name)).toBe(false));
});

describe("a head as nginx writes it", () => {
  it("has Connection: close behind Host, before what the client sent", () => {
    expect(beginsAsNginx(["host", "connection"], "close")).toBe(true);
    expect(beginsAsNginx(["host", "connection"], "keep-alive")).toBe(false);
    expect(beginsAsNginx(["host", "user-agent"], "close")).toBe(false); // curl, Go
    expect(beginsAsNginx(["accept-encoding", "host"], "close")).toBe(false); // Python
    expect(beginsAsNginx(["host"], undefined)).toBe(false);
  });
});

describe("X-Tenant-ID", () => {
  const exists = (tenant: string) => tenant === "acme" || tenant === "other";

  it.each(ROLES)("names another tenant for super_admin and system only: %s", (role) => {
    const outcome = actForTenant(byRole(role), "other", exists);
    if (role === "super_admin" || role === "system") expect(outcome).toEqual({ ok: true, principal: { ...byRole(role), tenant: "other" } });
    else expect(outcome).toMatchObject({ ok: false, refusal: { code: "forbidden" } });
  });

  it("may name the own tenant, and none that does not exist", () => {
    expect(actForTenant(byRole("viewer"), "acme", exists)).toEqual({ ok: true, principal: byRole("viewer") });
    for (const tenant of ["", "ACME", "other ", "__proto__", "../acme"]) {
      expect(actForTenant(byRole("system"), tenant, exists)).toMatchObject({ ok: false, refusal: { code: "not_found" } });
    }
  });

  it("an admin key names no tenant but its own", () => {
    expect(actForTenant(byKey("admin"), "other", exists)).toMatchObject({ ok: false, refusal: { code: "forbidden" } });
  });
});

describe("the credential of a request", () => {
  const none = { authorization: undefined, apiKey: undefined, session: undefined };

  it("is one header, or none", () => {
    expect(presentedCredential(none).kind).toBe("none");
    expect(presentedCredential({ ...none, authorization: "Bearer abc" })).toEqual({ kind: "token", text: "abc", isSession: false });
    expect(presentedCredential({ ...none, authorization: "bearer  abc" })).toMatchObject({ text: "abc" });
    expect(presentedCredential({ ...none, apiKey: "abc" })).toEqual({ kind: "token", text: "abc", isSession: false });
    expect(presentedCredential({ ...none, session: "abc" })).toEqual({ kind: "token", text: "abc", isSession: true });
  });

  it("a session does not count beside a header", () => {
    expect(presentedCredential({ authorization: "Bearer abc", apiKey: undefined, session: "s" })).toMatchObject({
      text: "abc",
      isSession: false,
    });
  });

  it.each([
    ["both headers", { ...none, authorization: "Bearer a", apiKey: "b" }],
    ["both headers with the same", { ...none, authorization: "Bearer a", apiKey: "a" }],
    ["another scheme", { ...none, authorization: "Basic YTpi" }],
    ["no token", { ...none, authorization: "Bearer " }],
    ["two tokens", { ...none, authorization: "Bearer a b" }],
    ["a header that came twice", { ...none, authorization: "Bearer a, Bearer b" }],
    ["an empty header", { ...none, authorization: "" }],
    ["an empty key", { ...none, apiKey: "" }],
    ["a control character", { ...none, authorization: "Bearer a\u0000" }],
    ["too much", { ...none, apiKey: "x".repeat(8 * 1024 + 1) }],
  ])("%s is no credential, and not nobody either", (_, headers) => {
    expect(presentedCredential(headers).kind).toBe("unusable");
  });

  it.each(["api_key=1", "a=1&access_token=x", "token", "Token=", "API%5FKEY=x", "x-api-key=1", "a&apikey=2", "jwt=a.b.c"])(
    "is found in the URL: %s",
    (query) => expect(credentialInQuery(query)).toBeDefined(),
  );

  it.each(["", "service_id=token", "page_token=abc", "limit=3&since=x", "tokens=1", "%E0%A4%A=1"])(
    "is not seen where there is none: %s",
    (query) => expect(credentialInQuery(query)).toBeUndefined(),
  );
});

describe("claims", () => {
  const names = { tenant: "tenant_id", role: "role" };
  const good = { sub: "ann", tenant_id: "acme", role: "admin", exp: 2_000_000_000 };

  it("become an identity, under names of the operator's choice", () => {
    expect(readClaims(good, names)).toEqual({
      ok: true,
      identity: { subject: "ann", tenant: "acme", role: "admin", expiresAt: 2_000_000_000 },
    });
    const other = { sub: "ann", "https://acme.example/tenant": "acme", "https://acme.example/role": "Super-Admin", exp: 1 };
    expect(readClaims(other, { tenant: "https://acme.example/tenant", role: "https://acme.example/role" })).toMatchObject({
      identity: { tenant: "acme", role: "super_admin" },
    });
  });

  it.each([
    ["sub", undefined],
    ["sub", ""],
    ["sub", 7],
    ["sub", "a\r\nSet-Cookie: b"],
    ["sub", "\u202eann"],
    ["sub", "x".repeat(256)],
    ["sub", "local"],
    ["sub", "admin-token"],
    ["sub", "alertmanager"],
    ["sub", "key:0000000a"],
    ["tenant_id", undefined],
    ["tenant_id", ["acme"]],
    ["tenant_id", "x".repeat(65)],
    ["role", undefined],
    ["role", "root"],
    ["role", ["admin"]],
    ["exp", "2000000000"],
    ["exp", Number.NaN],
    ["exp", undefined],
  ])("%s must not be %j", (name, value) => {
    expect(readClaims({ ...good, [name]: value }, names)).toMatchObject({ ok: false, message: expect.stringContaining(name) });
  });

  it("are own members only: what a prototype has is not claimed", () => {
    const claims = JSON.parse('{"sub":"ann","exp":2000000000,"__proto__":{"tenant_id":"acme","role":"system"}}') as Record<string, unknown>;
    expect(readClaims(claims, names).ok).toBe(false);
    expect(readClaims(good, { tenant: "tenant_id", role: "constructor" }).ok).toBe(false);
    expect(readClaims(good, { tenant: "__proto__", role: "role" }).ok).toBe(false);
    expect(({} as { role?: unknown }).role).toBeUndefined();
  });
});

describe("users", () => {
  it("cap the role of a token, and never raise it", () => {
    for (const own of ROLES) {
      expect(boundRole(own, undefined)).toBe(own);
      for (const role of ROLES) {
        expect(boundRole(own, { role, disabled: false })).toBe(lowerRole(own, role));
        expect(boundRole(own, { role, disabled: true })).toBeNull();
      }
    }
  });

  it("nobody grants what they have not, nor changes what somebody above them has set, nor themselves", () => {
    const binding = fc.record({ role: fc.constantFrom(...ROLES), disabled: fc.boolean(), boundBy: fc.constantFrom(...ROLES) });
    fc.assert(
      fc.property(
        fc.constantFrom(...ROLES),
        fc.option(binding, { nil: undefined }),
        fc.option(fc.constantFrom(...ROLES), { nil: undefined }),
        (role, before, granted) => {
          const actor = { subject: "ann", role };
          const refused = refuseUserChange({ actor, subject: "bob", before, role: granted }) !== null;
          const mine = levelOf(role);
          const tooHigh = [granted, before?.role, before?.boundBy].some((other) => other !== undefined && levelOf(other) > mine);
          expect(refused).toBe(tooHigh);
          expect(refuseUserChange({ actor, subject: "ann", before, role: granted })).not.toBeNull();
        },
      ),
    );
  });
});

describe("API keys", () => {
  const secret = "A".repeat(43);

  it("show their id and nothing else", () => {
    const id = keyIdOf(new Uint8Array([0xff, 0, 0xff, 0, 0xff]));
    const text = apiKeyText(id, secret);
    expect(text).toBe(`vdt_${id}_${secret}`);
    expect(keyIdIn(text)).toBe(id);
    expect(keyPrefix(id)).toBe(`vdt_${id}_`);
  });

  it("ids of different bytes differ", () => {
    const bytes = fc.uint8Array({ minLength: KEY_ID_BYTES, maxLength: KEY_ID_BYTES });
    fc.assert(
      fc.property(bytes, bytes, (a, b) => {
        expect(keyIdOf(a)).toMatch(/^[0-9a-hjkmnp-tv-z]{8}$/);
        expect(keyIdOf(a) === keyIdOf(b)).toBe(Buffer.compare(a, b) === 0);
      }),
    );
  });

  it.each([
    "",
    "vdt_",
    "vdt_00000000_",
    `vdt_0000000u_${secret}`,
    `vdt_00000000_${secret}A`,
    `VDT_00000000_${secret}`,
    ` vdt_00000000_${secret}`,
  ])("%j is none", (text) => expect(keyIdIn(text)).toBeUndefined());
});
