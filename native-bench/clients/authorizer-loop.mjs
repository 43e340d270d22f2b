// CPU time of the authorizer alone: the built authenticator and authorizer over the heads of requests as senders write them, with a credential that is known.
// usage: node authorizer-loop.mjs key|token|nobody turns ▶ microseconds of CPU a request
import { createHmac, randomBytes } from "node:crypto";
import { Authenticator } from "../../dist/actors/front/access/authenticator.js";
import { Authorizer } from "../../dist/actors/front/access/authorizer.js";
import { CredentialDirectory } from "../../dist/actors/front/access/credential-directory.js";
import { credentialDigest } from "../../dist/adapters/credentials/credential-hash.js";
import { RequestHeaders } from "../../dist/adapters/http/request-headers.js";

const DISTINCT = 1_000;
const encode = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");

/** A token of the usual length; nobody looks at its signature here. */
function makeToken(secret, subject) {
  const exp = Math.floor(Date.now() / 1000) + 3600;
  const content = `${encode({ alg: "HS256", typ: "JWT" })}.${encode({ sub: subject, tenant_id: "default", role: "operator", iat: exp - 3600, exp })}`;
  return `${content}.${createHmac("sha256", secret).update(content).digest("base64url")}`;
}

function makeAuthorizer() {
  const directory = new CredentialDirectory();
  const keys = Array.from({ length: DISTINCT }, (_, i) => `vdt_${String(i).padStart(8, "0")}_${randomBytes(32).toString("base64url")}`);
  for (const [i, text] of keys.entries()) {
    const key = { keyId: String(i).padStart(8, "0"), tenant: "default", scope: "ingestion", digest: credentialDigest(text) };
    directory.take({ type: "key", key: { ...key, rateLimitRps: null, expiresMs: null } });
  }
  const authenticator = new Authenticator(
    { claims: { tenant: "tenant_id", role: "role" }, clockSkewSeconds: 30, adminToken: "x", sessionCookie: () => "session" },
    {
      clock: { wallMs: () => Date.now(), monotonicMs: () => performance.now() },
      directory,
      isLoaded: () => true,
      tenantExists: () => true,
      verify: async (token) => ({ ok: true, claims: JSON.parse(Buffer.from(token.split(".")[1], "base64url").toString()) }),
    },
  );
  const policy = () => ({ ingestAuth: "optional", readAuth: "loopback", boundHost: "127.0.0.1", boundPort: 8080 });
  const dependencies = { policy, authenticator, tenantExists: () => true, sessionCookie: () => "session", onLostTrust: () => {} };
  return { keys, authenticator, authorizer: new Authorizer(dependencies) };
}

const ASKED = { access: "ingest" };

function exchangeWith(credential) {
  const headers = new RequestHeaders();
  for (const line of [
    ["host", "127.0.0.1:8080"],
    ["user-agent", "a sender"],
    ["accept", "*/*"],
    ["content-type", "application/json"],
    ["content-length", "180"],
    ...credential,
  ]) {
    headers.add(...line);
  }
  const read = { header: (name) => headers.get(name), findHeader: (test) => headers.find(test), remoteAddress: "127.0.0.1", isUnix: false };
  return { request: { method: "POST", path: "/api/v1/telemetry", query: "", version: "1.1", headers, ...read } };
}

async function main([kind, turns]) {
  const { keys, authenticator, authorizer } = makeAuthorizer();
  const credentials = {
    nobody: () => [],
    key: (i) => [["x-api-key", keys[i]]],
    token: (i) => [["authorization", `Bearer ${makeToken("secret", `sender-${i}`)}`]],
  };
  const exchanges = Array.from({ length: DISTINCT }, (_, i) => exchangeWith(credentials[kind](i)));
  for (const { request } of exchanges) {
    const identity = authenticator.identify(request);
    if (identity.kind === "pending") await authenticator.settle(identity);
  }
  let admitted = 0;
  const sink = {
    admit: () => void admitted++,
    refuse: (refusal) => {
      throw new Error(refusal.message);
    },
  };
  const pass = (count) => {
    for (let i = 0; i < count; i++) authorizer.authorize(ASKED, exchanges[i % DISTINCT], sink);
  };
  pass(turns / 4);
  const before = process.cpuUsage();
  pass(turns);
  const { user, system } = process.cpuUsage(before);
  if (admitted < turns) throw new Error("not every request was admitted");
  console.log((user + system) / turns);
}

if (process.argv[1] === import.meta.filename) await main([process.argv[2], Number(process.argv[3])]);
