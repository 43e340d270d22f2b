// Bodies that are on their way while credentials change: the gate asks again before anything of them is taken.
import { expect, it } from "vitest";
import { Authenticator } from "../../../../../src/actors/front/access/authenticator.ts";
import { type AdmittedBody, Authorizer } from "../../../../../src/actors/front/access/authorizer.ts";
import { CredentialDirectory } from "../../../../../src/actors/front/access/credential-directory.ts";
import { credentialDigest } from "../../../../../src/adapters/credentials/credential-hash.ts";
import type { BodyReceiver, HttpExchange } from "../../../../../src/adapters/http/http-server.ts";
import { task } from "../../../../../src/core/faults/guard.ts";

const NOW_MS = Date.UTC(2026, 0, 31, 12);
const KEY = `vdt_0000000a_${"A".repeat(43)}`;
const TOKEN = "header.claims.signature";
const BODY = Buffer.from("[]");

/** A request that was admitted and whose body is not there yet. */
class BodyRig {
  readonly directory = new CredentialDirectory();
  readonly outcome: string[] = [];
  isTokenGood = true;
  deliver: BodyReceiver = () => undefined;
  readonly #gate: Authorizer;

  constructor() {
    this.directory.takeAll([
      {
        type: "key",
        key: { keyId: "0000000a", tenant: "acme", scope: "readwrite", digest: credentialDigest(KEY), rateLimitRps: 7, expiresMs: null },
      },
    ]);
    const tenantExists = (tenant: string) => tenant === "acme";
    const claims = { sub: "ann", tenant_id: "acme", role: "operator", exp: NOW_MS / 1000 + 3600 };
    const authenticator = new Authenticator(
      { claims: { tenant: "tenant_id", role: "role" }, clockSkewSeconds: 30, adminToken: "ab".repeat(32), sessionCookie: () => "session" },
      {
        clock: { wallMs: () => NOW_MS, monotonicMs: () => NOW_MS },
        directory: this.directory,
        isLoaded: () => true,
        tenantExists,
        verify: async () => (this.isTokenGood ? { ok: true, claims } : { ok: false, message: "bad signature", isTemporary: false }),
      },
    );
    this.#gate = new Authorizer({
      policy: () => ({ ingestAuth: "required", readAuth: "required", boundHost: "127.0.0.1", boundPort: 8080, isTls: false }),
      authenticator,
      tenantExists,
      sessionCookie: () => "session",
      onLostTrust: () => undefined,
      needsClientCertificate: false,
    });
  }

  /** Begins a request with the credential and has its body collected; resolves once the gate has decided. */
  async begin(headers: Record<string, string>): Promise<void> {
    const request = { method: "POST", path: "/", query: "", version: "1.1", remoteAddress: "192.0.2.7", hasClientCertificate: false };
    const exchange = {
      request: { ...request, header: (name: string) => headers[name], findHeader: () => undefined },
      home: task("a test"),
      hold: () => (rest: () => void) => rest(),
      collectBody: (_bytesMax: number, onBody: BodyReceiver) => {
        this.deliver = onBody;
      },
    } as unknown as HttpExchange;
    const collects = (collect: AdmittedBody) => collect(100, (body) => this.outcome.push(`taken ${body}`));
    await new Promise<void>((resolve) => {
      this.#gate.authorize({ access: "ingest", isOfSender: true }, exchange, {
        admit: (_principal, collect) => {
          collects(collect);
          resolve();
        },
        refuse: ({ code }) => {
          this.outcome.push(code);
          resolve();
        },
      });
    });
  }
}

it("takes a body while nothing changes", async () => {
  const rig = new BodyRig();
  await rig.begin({ "x-api-key": KEY });
  rig.deliver(BODY);
  expect(rig.outcome).toEqual(["taken []"]);
});

it("refuses a body whose key was revoked while it came", async () => {
  const rig = new BodyRig();
  await rig.begin({ "x-api-key": KEY });
  rig.directory.take({ type: "key-gone", keyId: "0000000a" });
  rig.deliver(BODY);
  expect(rig.outcome).toEqual(["unauthorized"]);
});

it("takes a body where another credential was changed", async () => {
  const rig = new BodyRig();
  await rig.begin({ "x-api-key": KEY });
  rig.directory.take({ type: "key-gone", keyId: "0000000b" });
  rig.deliver(BODY);
  expect(rig.outcome).toEqual(["taken []"]);
});

it("verifies a token again that has to be, and keeps the body meanwhile, which is lent for the call alone", async () => {
  for (const [isGood, outcome] of [
    [true, "taken []"],
    [false, "unauthorized"],
  ] as const) {
    const rig = new BodyRig();
    await rig.begin({ authorization: `Bearer ${TOKEN}` });
    rig.directory.take({ type: "user-gone", tenant: "acme", subject: "ann" });
    rig.isTokenGood = isGood;
    const lent = Buffer.from(BODY);
    rig.deliver(lent);
    lent.fill(0);
    await expect.poll(() => rig.outcome).toEqual([outcome]);
  }
});
