// Tokens as attackers and providers send them, against the verifier with real keys.
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { exportJWK, type JWK, SignJWT, UnsecuredJWT } from "jose";
import { beforeAll, describe, expect, it } from "vitest";
import { readJwks } from "../../../../src/adapters/credentials/jwks-content.ts";
import { JwksSource } from "../../../../src/adapters/credentials/jwks-source.ts";
import { mintToken } from "../../../../src/adapters/credentials/token-mint.ts";
import { importSecret, TokenVerifier, type TokenVerifierOptions } from "../../../../src/adapters/credentials/token-verifier.ts";

const NOW_MS = Date.UTC(2026, 0, 31, 12);
const NOW = NOW_MS / 1000;
const SECRET = "a secret of the tests, 32 bytes or more";
const OPTIONS: TokenVerifierOptions = { issuer: undefined, audience: undefined, clockSkewSeconds: 30 };
const CLAIMS = { tenant_id: "acme", role: "admin", sub: "ann", exp: NOW + 60 };

const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
const ec = generateKeyPairSync("ec", { namedCurve: "P-256" });
let rsaJwk: JWK;
let ecJwk: JWK;
beforeAll(async () => {
  rsaJwk = { ...(await exportJWK(rsa.publicKey)), kid: "rsa-1" };
  ecJwk = { ...(await exportJWK(ec.publicKey)), kid: "ec-1" };
});

/** A provider whose set a test changes, with a clock that a test moves. */
class Provider {
  keys: readonly unknown[] = [];
  failure: string | null = null;
  nowMs = 0;
  reads = 0;
  changes = 0;
  readonly lines: string[] = [];
  readonly source = new JwksSource(
    { name: "the provider", refreshMs: 300_000, cooldownMs: 30_000 },
    {
      read: async () => {
        this.reads++;
        if (this.failure !== null) throw new Error(this.failure);
        return JSON.stringify({ keys: this.keys });
      },
      monotonicMs: () => this.nowMs,
      wallMs: () => NOW_MS + this.nowMs,
      log: (_level, line) => void this.lines.push(line),
      onChange: () => void this.changes++,
    },
  );
}

const key = importSecret(SECRET);
const withSecret = (options: Partial<TokenVerifierOptions> = {}) =>
  new TokenVerifier({ ...OPTIONS, ...options }, { secret: () => key, jwks: null });
const withProvider = ({ source }: Provider) => new TokenVerifier(OPTIONS, { secret: () => null, jwks: source });

function sign(claims: Record<string, unknown>, header: { alg: string; kid?: string; [name: string]: unknown }, by: KeyObject | Uint8Array) {
  return new SignJWT(claims).setProtectedHeader(header).sign(by);
}
const hs256 = (claims: Record<string, unknown> = CLAIMS) => sign(claims, { alg: "HS256" }, Buffer.from(SECRET));
const rs256 = (kid?: string) => sign(CLAIMS, { alg: "RS256", ...(kid === undefined ? {} : { kid }) }, rsa.privateKey);
const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

describe("a token of the secret", () => {
  it("is genuine, whoever made it", async () => {
    expect(await withSecret().verify(await hs256(), NOW_MS)).toMatchObject({ ok: true, claims: CLAIMS });
    const minted = await mintToken(await key, {
      subject: "ann",
      issuer: "us",
      audience: "them",
      claims: { tenant_id: "acme", role: "admin" },
      issuedMs: NOW_MS,
      lifetimeMs: 60_000,
    });
    expect(await withSecret({ issuer: "us", audience: "them" }).verify(minted, NOW_MS)).toMatchObject({
      ok: true,
      claims: { exp: NOW + 60 },
    });
  });

  it.each([
    ["expired", { exp: NOW - 31 }, /expired/],
    ["without exp", { exp: undefined }, /no claim exp/],
    ["with exp as text", { exp: String(NOW + 60) }, /exp/],
    ["not valid yet", { nbf: NOW + 31 }, /not valid yet/],
    ["without sub", { sub: undefined }, /no claim sub/],
  ])("%s is refused", async (_, change, message) => {
    const outcome = await withSecret().verify(await hs256({ ...CLAIMS, ...change }), NOW_MS);
    expect(outcome).toMatchObject({ ok: false, isTemporary: false, message: expect.stringMatching(message) });
  });

  it("may miss its times by the clock skew, and no more", async () => {
    expect(await withSecret().verify(await hs256({ ...CLAIMS, exp: NOW - 29, nbf: NOW + 30 }), NOW_MS)).toMatchObject({ ok: true });
    expect(await withSecret({ clockSkewSeconds: 0 }).verify(await hs256({ ...CLAIMS, exp: NOW }), NOW_MS)).toMatchObject({ ok: false });
  });

  it.each([
    ["issuer", { issuer: "https://us.example" }, { iss: "https://them.example" }, { iss: "https://us.example" }],
    ["issuer, where it is absent", { issuer: "https://us.example" }, {}, { iss: "https://us.example" }],
    ["audience", { audience: "vedette" }, { aud: "other" }, { aud: ["other", "vedette"] }],
    ["audience, where it is absent", { audience: "vedette" }, {}, { aud: "vedette" }],
  ])("of another %s is refused", async (_, options, wrong, right) => {
    const verifier = withSecret(options);
    expect(await verifier.verify(await hs256({ ...CLAIMS, ...wrong }), NOW_MS)).toMatchObject({ ok: false });
    expect(await verifier.verify(await hs256({ ...CLAIMS, ...right }), NOW_MS)).toMatchObject({ ok: true });
  });

  it("cut anywhere, or with one character changed, is refused and never throws", async () => {
    const token = await hs256();
    const verifier = withSecret();
    for (let at = 0; at < token.length; at++) {
      expect(await verifier.verify(token.slice(0, at), NOW_MS)).toMatchObject({ ok: false });
      // The last character of base64url may hold bits that mean nothing; jose refuses none of the others.
      const last = token[at + 1] === "." || at === token.length - 1;
      const other = token[at] === "A" ? "B" : "A";
      if (!last) expect(await verifier.verify(`${token.slice(0, at)}${other}${token.slice(at + 1)}`, NOW_MS)).toMatchObject({ ok: false });
    }
  });

  it.each(["", ".", "..", "a.b.c", "e30.e30.", `${base64({ alg: "HS256" })}..x`, `${"A".repeat(8000)}.e30.x`, "💥.💥.💥"])(
    "%j is none",
    async (text) => {
      expect(await withSecret().verify(text, NOW_MS)).toMatchObject({ ok: false, isTemporary: false });
    },
  );

  it("what a refusal says repeats nothing of the token", async () => {
    const token = await hs256({ ...CLAIMS, sub: "ann.private@example.com", exp: 1 });
    const outcome = await withSecret({ issuer: "https://us.example" }).verify(token, NOW_MS);
    expect(JSON.stringify(outcome)).not.toContain("private");
    for (const part of token.split(".")) expect(JSON.stringify(outcome)).not.toContain(part);
  });
});

describe("algorithms", () => {
  it("none is refused, signed or not, in any spelling", async () => {
    const provider = new Provider();
    provider.keys = [rsaJwk];
    for (const verifier of [withSecret(), withProvider(provider)]) {
      expect(await verifier.verify(new UnsecuredJWT(CLAIMS).encode(), NOW_MS)).toMatchObject({ ok: false });
      for (const alg of ["none", "None", "NONE", "nOnE", ""]) {
        for (const signature of ["", "x", Buffer.from("x").toString("base64url")]) {
          const token = `${base64({ alg, typ: "JWT" })}.${base64(CLAIMS)}.${signature}`;
          expect(await verifier.verify(token, NOW_MS)).toMatchObject({ ok: false });
        }
      }
    }
  });

  it("a public key is no secret: HS256 signed with it is refused", async () => {
    const provider = new Provider();
    provider.keys = [rsaJwk, ecJwk];
    const pem = rsa.publicKey.export({ type: "spki", format: "pem" });
    for (const secret of [Buffer.from(pem), Buffer.from(JSON.stringify(rsaJwk)), Buffer.from(rsaJwk.n as string, "base64url")]) {
      const forged = await sign(CLAIMS, { alg: "HS256", kid: "rsa-1" }, secret);
      expect(await withProvider(provider).verify(forged, NOW_MS)).toMatchObject({ ok: false });
      const both = new TokenVerifier(OPTIONS, { secret: () => key, jwks: provider.source });
      expect(await both.verify(forged, NOW_MS)).toMatchObject({ ok: false });
    }
  });

  it("each key source has its own: RS256 is refused where only the secret counts, HS256 where only the provider does", async () => {
    const provider = new Provider();
    provider.keys = [rsaJwk];
    expect(await withSecret().verify(await rs256("rsa-1"), NOW_MS)).toMatchObject({ ok: false, message: expect.stringContaining("HS256") });
    expect(await withProvider(provider).verify(await hs256(), NOW_MS)).toMatchObject({
      ok: false,
      message: expect.stringContaining("RS256, ES256"),
    });
  });

  it.each(["HS384", "HS512", "RS384", "PS256", "EdDSA", "__proto__"])("%s is refused", async (alg) => {
    const token = `${base64({ alg })}.${base64(CLAIMS)}.${Buffer.alloc(32).toString("base64url")}`;
    expect(await withSecret().verify(token, NOW_MS)).toMatchObject({ ok: false, message: expect.stringContaining("algorithm") });
  });

  it("a key that the token brings along, or points to, is not looked at", async () => {
    const provider = new Provider();
    provider.keys = [ecJwk];
    const own = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const jwk = await exportJWK(own.publicKey);
    for (const header of [{ jwk }, { jku: "https://evil.example/jwks" }, { x5u: "https://evil.example/x" }, { kid: "../../etc/passwd" }]) {
      const forged = await sign(CLAIMS, { alg: "RS256", ...header }, own.privateKey);
      expect(await withProvider(provider).verify(forged, NOW_MS)).toMatchObject({ ok: false });
    }
  });

  it("critical headers that nobody here knows are refused", async () => {
    const token = await new SignJWT(CLAIMS).setProtectedHeader({ alg: "HS256", crit: ["b64"], b64: true }).sign(Buffer.from(SECRET));
    const [, payload = "", signature = ""] = token.split(".");
    const forged = `${base64({ alg: "HS256", crit: ["exp"], exp: 1 })}.${payload}.${signature}`;
    expect(await withSecret().verify(forged, NOW_MS)).toMatchObject({ ok: false });
  });
});

describe("a provider's keys", () => {
  it("check RS256 and ES256, by kid or alone", async () => {
    const provider = new Provider();
    provider.keys = [rsaJwk, ecJwk];
    const verifier = withProvider(provider);
    expect(await verifier.verify(await rs256("rsa-1"), NOW_MS)).toMatchObject({ ok: true });
    expect(await verifier.verify(await rs256(), NOW_MS)).toMatchObject({ ok: true });
    expect(await verifier.verify(await sign(CLAIMS, { alg: "ES256", kid: "ec-1" }, ec.privateKey), NOW_MS)).toMatchObject({ ok: true });
    expect(await verifier.verify(await sign(CLAIMS, { alg: "ES256", kid: "rsa-1" }, ec.privateKey), NOW_MS)).toMatchObject({ ok: false });
    expect(provider.reads).toBe(1);
  });

  it("rotate: a key that is new is looked for once, and not again within the cool-down", async () => {
    const provider = new Provider();
    provider.keys = [ecJwk];
    const verifier = withProvider(provider);
    const token = await rs256("rsa-1");
    expect(await verifier.verify(token, NOW_MS)).toMatchObject({ ok: false, message: expect.stringContaining("kid") });
    provider.keys = [ecJwk, rsaJwk];
    expect(await verifier.verify(token, NOW_MS)).toMatchObject({ ok: false });
    expect(provider.reads).toBe(1);
    provider.nowMs += 30_000;
    expect(await verifier.verify(token, NOW_MS)).toMatchObject({ ok: true });
    expect(provider.reads).toBe(2);
    provider.nowMs += 30_000;
    const forged = await Promise.all(Array.from({ length: 50 }, (_, i) => rs256(`forged-${i}`)));
    await Promise.all(forged.map((one) => verifier.verify(one, NOW_MS)));
    expect(provider.reads).toBe(3);
  });

  it("that are taken back check nothing any more", async () => {
    const provider = new Provider();
    provider.keys = [ecJwk, rsaJwk];
    const verifier = withProvider(provider);
    const token = await rs256("rsa-1");
    expect(await verifier.verify(token, NOW_MS)).toMatchObject({ ok: true });
    provider.keys = [ecJwk];
    await provider.source.load();
    expect(provider.changes).toBe(2);
    expect(await verifier.verify(token, NOW_MS)).toMatchObject({ ok: false });
  });

  it.each([
    ["cannot be had", (provider: Provider) => (provider.failure = "it answers 500")],
    ["are of no use", (provider: Provider) => (provider.keys = [{ kty: "oct", k: "c2VjcmV0" }])],
    ["are too many", (provider: Provider) => (provider.keys = Array.from({ length: 101 }, () => rsaJwk))],
  ])("that %s leave the last good ones in force, and say so once", async (_, spoil) => {
    const provider = new Provider();
    provider.keys = [rsaJwk];
    await provider.source.load();
    spoil(provider);
    await provider.source.load();
    await provider.source.load();
    expect(await withProvider(provider).verify(await rs256("rsa-1"), NOW_MS)).toMatchObject({ ok: true });
    expect(provider.source.state).toMatchObject({ keys: 1, failure: expect.any(String) });
    expect(provider.lines.filter((line) => line.includes("stay in force"))).toHaveLength(1);
    provider.failure = null;
    provider.keys = [rsaJwk];
    await provider.source.load();
    expect(provider.source.state.failure).toBeNull();
    expect(provider.changes).toBe(1);
  });

  it("that never came make tokens wait, not fail: the refusal is temporary", async () => {
    const provider = new Provider();
    provider.failure = "it did not answer in 5 s";
    const verifier = withProvider(provider);
    expect(await verifier.verify(await rs256("rsa-1"), NOW_MS)).toMatchObject({ ok: false, isTemporary: true });
    expect(await verifier.verify(await rs256("rsa-1"), NOW_MS)).toMatchObject({ ok: false, isTemporary: true });
    expect(provider.reads).toBe(1);
  });

  it("are public ones of enough bits: secrets, private parts and short keys are left out", async () => {
    const short = generateKeyPairSync("rsa", { modulusLength: 1024 });
    const whole = await exportJWK(rsa.privateKey);
    const keys = [
      { kty: "oct", k: "c2VjcmV0" },
      await exportJWK(short.publicKey),
      { ...rsaJwk, use: "enc" },
      { ...rsaJwk, alg: "RS512" },
      7,
      null,
    ];
    expect(readJwks(JSON.stringify({ keys }))).toMatchObject({ ok: false });
    const read = readJwks(JSON.stringify({ keys: [...keys, whole] }));
    expect(read).toMatchObject({ ok: true, ignored: keys.length });
    if (read.ok) expect(Object.keys(read.set.keys[0] ?? {}).sort()).toEqual(["e", "kty", "n"]);
    for (const text of ["", "[]", "null", '{"keys":{}}', '{"__proto__":{"keys":[]}}']) expect(readJwks(text)).toMatchObject({ ok: false });
  });
});
