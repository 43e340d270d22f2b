// Tokens that a server takes whose JWT_SECRET is this one.
import { SignJWT } from "jose";

export const JWT_SECRET = "a secret of the tests, 32 bytes or more";

/** The header of somebody with a role in a tenant, good for an hour. */
export async function authorization(tenant: string, role: string): Promise<Record<string, string>> {
  const content = { sub: `${role} of ${tenant}`, tenant_id: tenant, role, exp: Math.floor(Date.now() / 1000) + 3600 };
  const token = await new SignJWT(content).setProtectedHeader({ alg: "HS256" }).sign(Buffer.from(JWT_SECRET));
  return { Authorization: `Bearer ${token}` };
}
