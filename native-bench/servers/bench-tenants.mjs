// Tenants of a server that is measured, and who speaks for them.
import { SignJWT } from "jose";

const secret = "a secret of the bench, 32 bytes or more";

/** Environment of a server that knows these tokens. */
export const TOKEN_ENV = { JWT_SECRET: secret };

/** Makes a tenant and resolves with the header that a sender of it needs. */
export async function tenantHeader(/** @type {{port: number}} */ { port }, /** @type {string} */ tenant_id, /** @type {string} */ plan) {
  const body = JSON.stringify({ tenant_id, name: tenant_id, plan });
  const headers = { "Content-Type": "application/json", Authorization: await authorization("default", "super_admin") };
  const answer = await fetch(`http://127.0.0.1:${port}/api/v1/tenants`, { method: "POST", headers, body });
  if (answer.status !== 201) throw new Error(`the tenant is answered ${answer.status}: ${await answer.text()}`);
  return `Authorization: ${await authorization(tenant_id, "operator")}`;
}

/** Value of the header of somebody with a role in a tenant. */
export async function authorization(tenant, role) {
  const content = { sub: "bench", tenant_id: tenant, role, exp: Math.floor(Date.now() / 1000) + 3600 };
  return `Bearer ${await new SignJWT(content).setProtectedHeader({ alg: "HS256" }).sign(Buffer.from(secret))}`;
}
