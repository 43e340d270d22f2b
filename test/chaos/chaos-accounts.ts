// Who takes part: an administrator of the default tenant, one of a tenant that sends odd things, and the key of the quiet tenant; webhooks to receivers that are slow.
import { SignJWT } from "jose";
import { PATIENCE_MS } from "../support/patience.ts";
import { JWT_SECRET } from "../support/tokens.ts";
import { RECEIVER_MANNERS } from "./slow-peers.ts";

type Headers = Readonly<Record<string, string>>;

/** Longer than any run, and than the hour by which the clock is shifted. */
const TOKEN_SECONDS = 3 * 24 * 3600;

/** The header of somebody with a role in a tenant. */
export async function credentialOf(tenant: string, role: string): Promise<Headers> {
  const content = { sub: `${role} of ${tenant}`, tenant_id: tenant, role, exp: Math.floor(Date.now() / 1000) + TOKEN_SECONDS };
  const token = await new SignJWT(content).setProtectedHeader({ alg: "HS256" }).sign(Buffer.from(JWT_SECRET));
  return { Authorization: `Bearer ${token}` };
}

/** Posts JSON, again where the server is overloaded; throws on other answers than 2xx. */
async function postJson<T>(origin: string, path: string, content: unknown, headers: Headers): Promise<T> {
  const sent = { method: "POST", headers: { "Content-Type": "application/json", ...headers }, body: JSON.stringify(content) };
  const ask = () => fetch(`${origin}${path}`, sent);
  let answer = await ask();
  for (const untilMs = performance.now() + PATIENCE_MS; answer.status === 503 && performance.now() < untilMs; answer = await ask())
    await answer.arrayBuffer();
  const text = await answer.text();
  if (!answer.ok) throw new Error(`POST ${path} says ${answer.status}: ${text}`);
  return JSON.parse(text) as T;
}

/** Makes the tenants and the webhooks; returns the quiet tenant's key. */
export async function makeAccounts(origin: string, receiverPort: number): Promise<string> {
  const owner = await credentialOf("default", "super_admin");
  for (const tenant of ["quiet", "odd"])
    await postJson(origin, "/api/v1/tenants", { tenant_id: tenant, name: tenant, plan: "enterprise" }, owner);
  for (const manner of RECEIVER_MANNERS) {
    const transform = { type: "javascript", code: "function transform(event) { return { text: event.service_id }; }" };
    await postJson(origin, "/api/v1/webhooks", { name: manner, url: `http://127.0.0.1:${receiverPort}/${manner}`, transform }, owner);
  }
  const key = { name: "quiet", scope: "readwrite" };
  const { api_key } = await postJson<{ api_key: string }>(origin, "/api/v1/apikeys", key, { ...owner, "X-Tenant-ID": "quiet" });
  return api_key;
}
